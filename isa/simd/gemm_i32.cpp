// Integer products of widened bytes: isa/gemm.h. a and b hold values of -128..127 as i16, so that
// products of pairs add up exactly. Sums wrap and have no order, so this is all there is to it: a
// register tile of MR x NR accumulators, one vector each (AVX2: 9 + 3 of b + 1 of a + 1 product).
#include "isa/gemm.h"
#include "isa/simd/vec.h"

namespace tenon {
namespace {

#define TENON_UNROLL _Pragma("GCC unroll 16")

#if defined(__AVX512F__)
constexpr int kMr = 5, kNr = 4;
using Int = __m512i;
TENON_INLINE Int zero() { return _mm512_setzero_si512(); }
TENON_INLINE Int load_i16(const int16_t* p) { return _mm512_loadu_si512(p); }
TENON_INLINE Int add_products(Int sum, Int a, Int b) {
  return _mm512_add_epi32(sum, _mm512_madd_epi16(a, b));
}
TENON_INLINE int32_t add_lanes(Int x) { return _mm512_reduce_add_epi32(x); }
#elif defined(__AVX2__)
constexpr int kMr = 3, kNr = 3;
using Int = __m256i;
TENON_INLINE Int zero() { return _mm256_setzero_si256(); }
TENON_INLINE Int load_i16(const int16_t* p) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}
TENON_INLINE Int add_products(Int sum, Int a, Int b) {
  return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
}
TENON_INLINE int32_t add_lanes(Int x) {
  __m128i s = _mm_add_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
  s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0x4e));
  return _mm_cvtsi128_si32(_mm_add_epi32(s, _mm_shuffle_epi32(s, 0xb1)));
}
#else
constexpr int kMr = 4, kNr = 4;
using Int = int32x4_t;
TENON_INLINE Int zero() { return vdupq_n_s32(0); }
TENON_INLINE Int load_i16(const int16_t* p) { return vreinterpretq_s32_s16(vld1q_s16(p)); }
TENON_INLINE Int add_products(Int sum, Int a, Int b) {
  const int16x8_t x = vreinterpretq_s16_s32(a), y = vreinterpretq_s16_s32(b);
  return vmlal_high_s16(vmlal_s16(sum, vget_low_s16(x), vget_low_s16(y)), x, y);
}
TENON_INLINE int32_t add_lanes(Int x) { return vaddvq_s32(x); }
#endif
constexpr size_t kStep = sizeof(Int) / sizeof(int16_t);

// The first n < kStep elements; the rest reads as zero.
TENON_INLINE Int load_i16_n(const int16_t* p, size_t n) {
  int16_t buffer[kStep] = {};
  std::memcpy(buffer, p, n * sizeof *p);
  return load_i16(buffer);
}

template <class T>
TENON_INLINE const T* row(const void* base, ptrdiff_t stride, size_t i) {
  return reinterpret_cast<const T*>(static_cast<const char*>(base) +
                                    static_cast<ptrdiff_t>(i) * stride);
}

template <int MR, int NR>
__attribute__((noinline)) void tile(const GemmArgs& g, size_t i0, size_t j0) {
  Int acc[MR * NR];
  const int16_t *a[MR], *b[NR];
  TENON_UNROLL for (int x = 0; x < MR * NR; ++x) acc[x] = zero();
  TENON_UNROLL for (int i = 0; i < MR; ++i) a[i] = row<int16_t>(g.a, g.a_row, i0 + i);
  TENON_UNROLL for (int j = 0; j < NR; ++j) b[j] = row<int16_t>(g.b, g.b_row, j0 + j);
  const auto step = [&](auto load_at) {
    Int vb[NR];
    TENON_UNROLL for (int j = 0; j < NR; ++j) vb[j] = load_at(b[j]);
    TENON_UNROLL for (int i = 0; i < MR; ++i) {
      const Int va = load_at(a[i]);
      TENON_UNROLL for (int j = 0; j < NR; ++j) acc[i * NR + j] =
          add_products(acc[i * NR + j], va, vb[j]);
    }
  };
  size_t p = 0;
  for (; p + kStep <= g.k; p += kStep) step([=](const int16_t* x) { return load_i16(x + p); });
  if (const size_t rest = g.k - p; rest > 0)
    step([=](const int16_t* x) { return load_i16_n(x + p, rest); });
  char* y = static_cast<char*>(g.y) + static_cast<ptrdiff_t>(i0) * g.y_row +
            static_cast<ptrdiff_t>(j0) * g.y_column;
  TENON_UNROLL for (int i = 0; i < MR; ++i) TENON_UNROLL for (int j = 0; j < NR; ++j) *
      reinterpret_cast<int32_t*>(y + i * g.y_row + j * g.y_column) = add_lanes(acc[i * NR + j]);
}

template <int MR>
TENON_INLINE void tiles(const GemmArgs& g, size_t i) {
  size_t j = 0;
  for (; j + kNr <= g.n; j += kNr) tile<MR, kNr>(g, i, j);
  for (; j < g.n; ++j) tile<MR, 1>(g, i, j);
}

}  // namespace

void TENON_KERNEL(gemm_i32_i16_i16)(const GemmArgs& g) noexcept {
  size_t i = 0;
  for (; i + kMr <= g.m; i += kMr) tiles<kMr>(g, i);
  for (; i < g.m; ++i) tiles<1>(g, i);
}

}  // namespace tenon
