// Packing into panels over xsimd: isa/gemm_panel_pack.h says what each does.
#include "isa/gemm_panel_pack.h"

#include "isa/simd/widen_8.h"

#define UNROLL _Pragma("GCC unroll 8")

namespace tenon {
namespace {

template <class X>
struct Source {
  const char* x;
  ptrdiff_t row, column;

  const X* at(size_t j, size_t p) const {
    return reinterpret_cast<const X*>(x + static_cast<ptrdiff_t>(j) * row +
                                      static_cast<ptrdiff_t>(p) * column);
  }
};

// One panel: where the elements of step p stand.
struct Target {
  float* panel;
  size_t lane;  // elements from lane to lane
  size_t width;
  unsigned log_lanes;

  float* at(size_t p) const {
    const size_t l = p & ((size_t{1} << log_lanes) - 1), q = p >> log_lanes;
    return panel + l * lane + q * width;
  }
};

TENON_INLINE void store_rest(float* to, F32x8 x, size_t count) {
  if (count == 6) store_8<6>(to, x);
  if (count == 4) store_8<4>(to, x);
}

// Elements of rows [j, j + n) in places from `place` on, for steps [p0, p1).
template <class X>
TENON_INLINE void one_by_one(const Source<X>& x, const Target& y, size_t j, size_t n, size_t place,
                             size_t p0, size_t p1) {
  for (size_t p = p0; p < p1; ++p)
    for (size_t i = 0; i < n; ++i) y.at(p)[place + i] = to_f32(*x.at(j + i, p));
}

TENON_INLINE void zeros(const Target& y, size_t place, size_t count, size_t p0, size_t p1) {
  for (size_t p = p0; p < p1; ++p)
    for (size_t i = 0; i < count; ++i) y.at(p)[place + i] = 0;
}

// Places [place, place + Count) of a panel, x contiguous along k: blocks of eight steps are turned.
// n of the Count rows from j on exist.
template <int Count, class X>
TENON_INLINE void turn(const Source<X>& x, const Target& y, size_t j, size_t n, size_t place,
                       size_t k) {
  const size_t k8 = n == Count ? k / 8 * 8 : 0;
  const X* from[Count];
  for (int i = 0; i < Count; ++i) from[i] = x.at(n == Count ? j + static_cast<size_t>(i) : j, 0);
  // Four steps lie in four lanes, or behind one another in the only one.
  const size_t step = y.log_lanes > 0 ? y.lane : y.width;
  for (size_t p = 0; p < k8; p += 8) {
    F32x8 r[8];
    UNROLL for (int i = 0; i < 8; ++i) r[i] =
        i < Count ? load_8(from[i < Count ? i : 0] + p) : zero_8();
    turn_8x8(r);
    float* const to[] = {y.at(p) + place, y.at(p + 4) + place};
    UNROLL for (size_t i = 0; i < 8; ++i) store_8<Count>(to[i / 4] + i % 4 * step, r[i]);
  }
  one_by_one(x, y, j, n, place, k8, k);
  if (n < Count) zeros(y, place + n, Count - n, k8, k);
}

template <class X>
TENON_INLINE void by_rows(const Source<X>& x, const Target& y, size_t j, size_t n, size_t k) {
  const auto left = [&](size_t place, size_t most) {
    const size_t rows = n > place ? n - place : 0;
    return rows < most ? rows : most;
  };
  size_t place = 0;
  for (; place + 8 <= y.width; place += 8) turn<8>(x, y, j + place, left(place, 8), place, k);
  const size_t rest = y.width - place;
  if (rest == 6) return turn<6>(x, y, j + place, left(place, 6), place, k);
  if (rest == 4) return turn<4>(x, y, j + place, left(place, 4), place, k);
  const size_t n_rest = left(place, rest);
  one_by_one(x, y, j + place, n_rest, place, 0, k);
  zeros(y, place + n_rest, rest - n_rest, 0, k);
}

// x contiguous along its rows' other dimension: runs of a panel's width are copied. All panels of a
// step one behind the other, so that a line of x is read once.
constexpr size_t kAhead = 16;  // steps that are asked for early

template <class X>
TENON_INLINE void by_columns(const Source<X>& x, Target y, size_t n, size_t k, size_t panel) {
  const size_t whole = n / y.width * y.width, rest = y.width % 8;
  const bool by_eights = rest == 6 || rest == 4;
  float* const first = y.panel;
  for (size_t p = 0; p < k; ++p) {
    for (size_t j = 0; j < n; j += 64 / sizeof(X)) __builtin_prefetch(x.at(j, p + kAhead));
    float* to = y.at(p);
    for (size_t j = 0; j < whole; j += y.width, to += panel) {
      size_t i = 0;
      for (; i + 8 <= y.width; i += 8) store_8(to + i, load_8(x.at(j + i, p)));
      if (by_eights && j + i + 8 <= n)
        store_rest(to + i, load_8(x.at(j + i, p)), rest);
      else
        for (; i < y.width; ++i) to[i] = to_f32(*x.at(j + i, p));
    }
  }
  if (whole == n) return;
  y.panel = first + whole / y.width * panel;
  one_by_one(x, y, whole, n - whole, 0, 0, k);
  zeros(y, n - whole, y.width - (n - whole), 0, k);
}

template <class X>
TENON_INLINE void pack(const GemmPanelPackArgs& g) {
  const Source<X> x{static_cast<const char*>(g.x), g.x_row, g.x_column};
  const size_t width = g.layout.width, size = g.layout.size(g.k);
  Target y{g.panels, g.layout.lane(g.k), width,
           static_cast<unsigned>(__builtin_ctzll(g.layout.lanes))};
  const bool columns = g.x_column != sizeof(X) && g.x_row == sizeof(X);
  if (columns) by_columns(x, y, g.n, g.k, size);
  for (size_t j = 0; j < g.n; j += width, y.panel += size) {
    const size_t n = g.n - j < width ? g.n - j : width;
    if (g.x_column == sizeof(X)) {
      by_rows(x, y, j, n, g.k);
    } else if (!columns) {
      one_by_one(x, y, j, n, 0, 0, g.k);
      zeros(y, n, width - n, 0, g.k);
    }
    zeros(y, 0, width, g.k, g.layout.steps(g.k) * g.layout.lanes);
  }
}

}  // namespace

void TENON_KERNEL(gemm_panel_pack_f32_f32)(const GemmPanelPackArgs& g) noexcept { pack<float>(g); }
void TENON_KERNEL(gemm_panel_pack_f32_bf16)(const GemmPanelPackArgs& g) noexcept { pack<bf16>(g); }
void TENON_KERNEL(gemm_panel_pack_f32_f16)(const GemmPanelPackArgs& g) noexcept { pack<f16>(g); }

}  // namespace tenon
