// Products by vdpbf16ps, straight from the rows as they lie: pairs along k need no rearrangement in
// dot form. The instruction flushes subnormals and rounds pairs in its own way, so the bits are
// this machine's (kOwnBits), but one output's still depend on its row of a and of b alone.
// Registers: 6 x 4 accumulators, 4 of b, 1 of a: 29 of 32.
#include <immintrin.h>

#include "isa/gemm.h"
#include "isa/types.h"

namespace tenon {
namespace {

#define TENON_UNROLL _Pragma("GCC unroll 24")

constexpr int kMr = 6, kNr = 4;
constexpr size_t kStep = 32;

TENON_INLINE const uint16_t* row(const void* base, ptrdiff_t stride, size_t i) {
  return reinterpret_cast<const uint16_t*>(static_cast<const char*>(base) +
                                           static_cast<ptrdiff_t>(i) * stride);
}

// In halves: l + 8, l + 4, l + 2, l + 1.
TENON_INLINE float add_lanes(__m512 x) {
  const __m256 h = _mm256_add_ps(_mm512_castps512_ps256(x), _mm512_extractf32x8_ps(x, 1));
  __m128 s = _mm_add_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));
  s = _mm_add_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}

template <int MR, int NR>
__attribute__((noinline)) void tile(const GemmArgs& g, size_t i0, size_t j0) {
  __m512 acc[MR * NR];
  const uint16_t *a[MR], *b[NR];
  TENON_UNROLL for (int x = 0; x < MR * NR; ++x) acc[x] = _mm512_setzero_ps();
  TENON_UNROLL for (int i = 0; i < MR; ++i) a[i] = row(g.a, g.a_row, i0 + i);
  TENON_UNROLL for (int j = 0; j < NR; ++j) b[j] = row(g.b, g.b_row, j0 + j);
  for (size_t p = 0; p < g.k; p += kStep) {
    const size_t rest = g.k - p;
    const __mmask32 in = rest < kStep ? (1u << rest) - 1 : ~0u;
    __m512bh vb[NR];
    TENON_UNROLL for (int j = 0; j < NR; ++j) vb[j] =
        (__m512bh)_mm512_maskz_loadu_epi16(in, b[j] + p);
    TENON_UNROLL for (int i = 0; i < MR; ++i) {
      const __m512bh va = (__m512bh)_mm512_maskz_loadu_epi16(in, a[i] + p);
      TENON_UNROLL for (int j = 0; j < NR; ++j) acc[i * NR + j] =
          _mm512_dpbf16_ps(acc[i * NR + j], va, vb[j]);
    }
  }
  char* y = static_cast<char*>(g.y) + static_cast<ptrdiff_t>(i0) * g.y_row +
            static_cast<ptrdiff_t>(j0) * g.y_column;
  TENON_UNROLL for (int i = 0; i < MR; ++i) TENON_UNROLL for (int j = 0; j < NR; ++j) *
      reinterpret_cast<float*>(y + i * g.y_row + j * g.y_column) = add_lanes(acc[i * NR + j]);
}

// NR rows of b at a time, each read once for all rows of a.
template <int NR>
TENON_INLINE void stripe(const GemmArgs& g, size_t j) {
  size_t i = 0;
  for (; i + kMr <= g.m; i += kMr) tile<kMr, NR>(g, i, j);
  for (; i + 2 <= g.m; i += 2) tile<2, NR>(g, i, j);
  if (i < g.m) tile<1, NR>(g, i, j);
}

}  // namespace

void gemm_f32_bf16_bf16_avx512_bf16(const GemmArgs& g) noexcept {
  size_t j = 0;
  for (; j + kNr <= g.n; j += kNr) stripe<kNr>(g, j);
  for (; j < g.n; ++j) stripe<1>(g, j);
}

}  // namespace tenon
