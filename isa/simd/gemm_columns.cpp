// gemm_columns kernels over xsimd: isa/gemm_columns.h says what they compute.
//
// A strip of columns at a time, with one accumulator per output and lane: lane[i][l][x] gathers
// the products with p mod L = l, as lane l of the gemm kernels' vectors does. Rows of b are read R
// at a time, L apart, so that R products join an accumulator per visit; each row's part of the
// strip is a run of kilobytes, which the hardware's prefetcher follows.
#include "isa/gemm_columns.h"

#include "isa/simd/vec.h"

namespace tenon {
namespace {

#define TENON_UNROLL _Pragma("GCC unroll 16")

// 128 KiB: they live in L2, but a wide strip lets memory deliver long runs. Zen 3 (g++ 12, November
// 2026), bf16 1x4096x4096 in memory: 8192 accumulators 14.2 GB/s, 16384 17.2, 32768 23.7.
constexpr size_t kAccumulators = 32768;

template <class B>
struct Strip {
  const GemmArgs& g;
  size_t j0, width;  // columns
  size_t padded;     // width in whole vectors
  float* lanes;      // [m][kLanes][padded]

  const B* b(size_t p) const {
    return reinterpret_cast<const B*>(static_cast<const char*>(g.b) +
                                      static_cast<ptrdiff_t>(p) * g.b_row) +
           j0;
  }
  float a(size_t i, size_t p) const {
    return reinterpret_cast<const float*>(static_cast<const char*>(g.a) +
                                          static_cast<ptrdiff_t>(i) * g.a_row)[p];
  }
  float* lane(size_t i, size_t l) const { return lanes + (i * kLanes + l) * padded; }
};

// Adds the products of rows p, p + L, ..., R of them, to lane p mod L.
template <int MR, int R, class B>
TENON_INLINE void add_rows(const Strip<B>& s, size_t p) {
  const B* b[R];
  F32 a[MR][R];
  float* to[MR];
  TENON_UNROLL for (int r = 0; r < R; ++r) b[r] = s.b(p + r * kLanes);
  TENON_UNROLL for (int i = 0; i < MR; ++i) {
    to[i] = s.lane(i, p % kLanes);
    TENON_UNROLL for (int r = 0; r < R; ++r) a[i][r] = F32(s.a(i, p + r * kLanes));
  }
  const auto at = [&](size_t x, auto load_b) {
    F32 vb[R];
    TENON_UNROLL for (int r = 0; r < R; ++r) vb[r] = load_b(b[r] + x);
    TENON_UNROLL for (int i = 0; i < MR; ++i) {
      F32 acc = load(to[i] + x);
      TENON_UNROLL for (int r = 0; r < R; ++r) acc = fma(a[i][r], vb[r], acc);
      store(to[i] + x, acc);
    }
  };
  size_t x = 0;
  for (; x + kLanes <= s.width; x += kLanes) at(x, [](const B* from) { return load(from); });
  if (const size_t rest = s.width - x; rest > 0)
    at(x, [=](const B* from) { return load_n(from, rest); });
}

// Folds the lanes in halves and writes the outputs.
template <class B>
TENON_INLINE void finish(const Strip<B>& s, size_t i) {
  for (size_t half = kLanes / 2; half > 0; half /= 2)
    for (size_t l = 0; l < half; ++l)
      for (size_t x = 0; x < s.padded; x += kLanes)
        store(s.lane(i, l) + x, load(s.lane(i, l) + x) + load(s.lane(i, l + half) + x));
  char* y = static_cast<char*>(s.g.y) + static_cast<ptrdiff_t>(i) * s.g.y_row +
            static_cast<ptrdiff_t>(s.j0) * s.g.y_column;
  for (size_t x = 0; x < s.width; ++x, y += s.g.y_column)
    *reinterpret_cast<float*>(y) = s.lane(i, 0)[x];
}

template <int MR, class B>
TENON_INLINE void columns(const GemmArgs& g) {
  constexpr int kR = MR == 1 ? 8 : 4;
  constexpr size_t kWidth = kAccumulators / (kLanes * MR) / kLanes * kLanes;
  alignas(64) float lanes[kAccumulators];
  for (size_t j0 = 0; j0 < g.n; j0 += kWidth) {
    const size_t width = g.n - j0 < kWidth ? g.n - j0 : kWidth;
    const Strip<B> s{g, j0, width, (width + kLanes - 1) / kLanes * kLanes, lanes};
    std::memset(lanes, 0, MR * kLanes * s.padded * sizeof *lanes);
    size_t p = 0;
    for (; p + kR * kLanes <= g.k; p += kR * kLanes)
      for (size_t l = 0; l < kLanes; ++l) add_rows<MR, kR>(s, p + l);
    for (; p < g.k; ++p) add_rows<MR, 1>(s, p);
    for (size_t i = 0; i < MR; ++i) finish(s, i);
  }
}

template <class B>
TENON_INLINE void gemm_columns(const GemmArgs& g) {
  if (g.m == 1) columns<1, B>(g);
  if (g.m == 2) columns<2, B>(g);
  if (g.m == 3) columns<3, B>(g);
  if (g.m == 4) columns<4, B>(g);
  if (g.m == 5) columns<5, B>(g);
  if (g.m == 6) columns<6, B>(g);
  if (g.m == 7) columns<7, B>(g);
  if (g.m == 8) columns<8, B>(g);
}

}  // namespace

void TENON_KERNEL(gemm_columns_f32_f32_f32)(const GemmArgs& g) noexcept { gemm_columns<float>(g); }
void TENON_KERNEL(gemm_columns_f32_f32_bf16)(const GemmArgs& g) noexcept { gemm_columns<bf16>(g); }
void TENON_KERNEL(gemm_columns_f32_f32_f16)(const GemmArgs& g) noexcept { gemm_columns<f16>(g); }

}  // namespace tenon
