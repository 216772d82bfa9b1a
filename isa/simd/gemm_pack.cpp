// Packing for the gemm kernels over xsimd: isa/gemm_pack.h says what each does.
#include "isa/gemm_pack.h"

#include "isa/simd/widen_8.h"

namespace tenon {
namespace {

// One view of the operands: x by element and y by row.
template <class X>
struct Pack {
  const char* x;
  ptrdiff_t x_row, x_column;
  char* y;
  ptrdiff_t y_row;

  explicit Pack(const GemmPackArgs& g)
      : x(static_cast<const char*>(g.x)),
        x_row(g.x_row),
        x_column(g.x_column),
        y(static_cast<char*>(g.y)),
        y_row(g.y_row) {}

  const X* from(size_t j, size_t p) const {
    return reinterpret_cast<const X*>(x + static_cast<ptrdiff_t>(j) * x_row +
                                      static_cast<ptrdiff_t>(p) * x_column);
  }
  float* to(size_t j, size_t p) const {
    return reinterpret_cast<float*>(y + static_cast<ptrdiff_t>(j) * y_row) + p;
  }
};

template <class X>
TENON_INLINE void one_by_one(const Pack<X>& g, size_t j, size_t n, size_t p0, size_t p1) {
  for (; j < n; ++j)
    for (size_t p = p0; p < p1; ++p) *g.to(j, p) = to_f32(*g.from(j, p));
}

// x contiguous along j: 8x8 blocks, eight rows of y at a time so that x is read a line at a time.
template <class X>
TENON_INLINE void transposing(const Pack<X>& g, size_t n, size_t k) {
  constexpr size_t kStrip = 96;                          // j per pass
  constexpr size_t kLine = 64 / sizeof(X), kAhead = 16;  // rows of x that are asked for early
  const size_t k8 = k / 8 * 8, n8 = n / 8 * 8;
  for (size_t j0 = 0; j0 < n8; j0 += kStrip) {
    const size_t j1 = n8 - j0 < kStrip ? n8 : j0 + kStrip;
    for (size_t p = 0; p < k8; p += 8) {
      for (size_t i = 0; i < 8; ++i)
        for (size_t j = j0; j < j1; j += kLine) __builtin_prefetch(g.from(j, p + kAhead + i));
      for (size_t j = j0; j < j1; j += 8) {
        F32x8 r[8];
        for (size_t i = 0; i < 8; ++i) r[i] = load_8(g.from(j, p + i));
        turn_8x8(r);
        for (size_t i = 0; i < 8; ++i) store_8(g.to(j + i, p), r[i]);
      }
    }
  }
  one_by_one(g, 0, n8, k8, k);
  one_by_one(g, n8, n, 0, k);
}

template <class X>
TENON_INLINE void pack(const GemmPackArgs& args) {
  const Pack<X> g(args);
  if (args.x_column == sizeof(X)) {
    for (size_t j = 0; j < args.n; ++j)
      map(args.k, g.from(j, 0), g.to(j, 0), [](F32 v) { return v; });
  } else if (args.x_row == sizeof(X)) {
    transposing(g, args.n, args.k);
  } else {
    one_by_one(g, 0, args.n, 0, args.k);
  }
}

// Sixteen-bit elements kept as they are: whole rows, or eight rows of eight turned.
TENON_INLINE void pack_16(const GemmPackArgs& args) {
  const Pack<bf16> g(args);
  const auto to = [&](size_t j, size_t p) {
    return reinterpret_cast<bf16*>(g.y + static_cast<ptrdiff_t>(j) * g.y_row) + p;
  };
  const auto one_by_one = [&](size_t j, size_t n, size_t p0) {
    for (; j < n; ++j)
      for (size_t p = p0; p < args.k; ++p) *to(j, p) = *g.from(j, p);
  };
  if (args.x_column == sizeof(bf16)) {
    for (size_t j = 0; j < args.n; ++j) std::memcpy(to(j, 0), g.from(j, 0), args.k * sizeof(bf16));
    return;
  }
  if (args.x_row != sizeof(bf16)) return one_by_one(0, args.n, 0);
  const size_t k8 = args.k / 8 * 8, n8 = args.n / 8 * 8;
  for (size_t p = 0; p < k8; p += 8)
    for (size_t j = 0; j < n8; j += 8) {
      U16x8 r[8];
      for (size_t i = 0; i < 8; ++i) r[i] = load_8_halves(g.from(j, p + i));
      turn_8x8(r);
      for (size_t i = 0; i < 8; ++i) store_8_halves(to(j + i, p), r[i]);
    }
  one_by_one(0, n8, k8);
  one_by_one(n8, args.n, 0);
}

}  // namespace

void TENON_KERNEL(gemm_pack_bf16_bf16)(const GemmPackArgs& args) noexcept { pack_16(args); }
void TENON_KERNEL(gemm_pack_f32_f32)(const GemmPackArgs& args) noexcept { pack<float>(args); }
void TENON_KERNEL(gemm_pack_f32_bf16)(const GemmPackArgs& args) noexcept { pack<bf16>(args); }
void TENON_KERNEL(gemm_pack_f32_f16)(const GemmPackArgs& args) noexcept { pack<f16>(args); }

}  // namespace tenon
