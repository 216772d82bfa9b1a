// Integer products by vpdpbusd, whose left operand is unsigned: a holds x + 128, and 128 times the
// sum of b's row is taken off at the end. That sum comes from the same instruction, with a vector
// of 128s on the left. It never saturates, so results are exact modulo 2^32. Registers: 6 x 3
// accumulators, 3 corrections, 3 of b, 1 of a, the 128s: 26 of 32.
#include <immintrin.h>

#include "isa/gemm.h"
#include "isa/types.h"

namespace tenon {
namespace {

#define TENON_UNROLL _Pragma("GCC unroll 16")

constexpr int kMr = 6, kNr = 3;

TENON_INLINE const char* row(const void* base, ptrdiff_t stride, size_t i) {
  return static_cast<const char*>(base) + static_cast<ptrdiff_t>(i) * stride;
}

template <int MR, int NR>
__attribute__((noinline)) void tile(const GemmArgs& g, size_t i0, size_t j0) {
  __m512i acc[MR * NR], shift[NR];
  const char *a[MR], *b[NR];
  const __m512i offset = _mm512_set1_epi8(static_cast<char>(0x80));
  TENON_UNROLL for (int x = 0; x < MR * NR; ++x) acc[x] = _mm512_setzero_si512();
  TENON_UNROLL for (int j = 0; j < NR; ++j) shift[j] = _mm512_setzero_si512();
  TENON_UNROLL for (int i = 0; i < MR; ++i) a[i] = row(g.a, g.a_row, i0 + i);
  TENON_UNROLL for (int j = 0; j < NR; ++j) b[j] = row(g.b, g.b_row, j0 + j);
  for (size_t p = 0; p < g.k; p += 64) {
    const size_t rest = g.k - p;
    const __mmask64 in = rest < 64 ? (__mmask64{1} << rest) - 1 : ~__mmask64{0};
    __m512i vb[NR];  // zero beyond the end, so that a's bytes there do not count
    TENON_UNROLL for (int j = 0; j < NR; ++j) {
      vb[j] = _mm512_maskz_loadu_epi8(in, b[j] + p);
      shift[j] = _mm512_dpbusd_epi32(shift[j], offset, vb[j]);
    }
    TENON_UNROLL for (int i = 0; i < MR; ++i) {
      const __m512i va = _mm512_maskz_loadu_epi8(in, a[i] + p);
      TENON_UNROLL for (int j = 0; j < NR; ++j) acc[i * NR + j] =
          _mm512_dpbusd_epi32(acc[i * NR + j], va, vb[j]);
    }
  }
  char* y = static_cast<char*>(g.y) + static_cast<ptrdiff_t>(i0) * g.y_row +
            static_cast<ptrdiff_t>(j0) * g.y_column;
  TENON_UNROLL for (int i = 0; i < MR; ++i) TENON_UNROLL for (int j = 0; j < NR; ++j) *
      reinterpret_cast<int32_t*>(y + i * g.y_row + j * g.y_column) =
      _mm512_reduce_add_epi32(_mm512_sub_epi32(acc[i * NR + j], shift[j]));
}

template <int MR>
TENON_INLINE void tiles(const GemmArgs& g, size_t i) {
  size_t j = 0;
  for (; j + kNr <= g.n; j += kNr) tile<MR, kNr>(g, i, j);
  for (; j < g.n; ++j) tile<MR, 1>(g, i, j);
}

}  // namespace

void gemm_i32_u8_i8_avx512_vnni(const GemmArgs& g) noexcept {
  size_t i = 0;
  for (; i + kMr <= g.m; i += kMr) tiles<kMr>(g, i);
  for (; i < g.m; ++i) tiles<1>(g, i);
}

}  // namespace tenon
