// Vectors of f32 on AVX-512: what isa/simd/vec.h, which includes this file, needs of an ISA.
#pragma once
#include <immintrin.h>

#include <xsimd/xsimd.hpp>

#include "isa/cpu.h"

namespace tenon {
namespace {

using Arch = xsimd::avx512bw;
constexpr size_t kLanes = 16;
constexpr uint64_t kIsa = kAvx512;
constexpr int kRegisters = 32;

}  // namespace
}  // namespace tenon

#include "isa/simd/vec_x86.h"

namespace tenon {
namespace {

TENON_INLINE __mmask16 first(size_t n) { return static_cast<__mmask16>((1u << n) - 1); }
TENON_INLINE __m512 widen_bf16(__m256i h) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(h), 16));
}
TENON_INLINE __m256i narrow_bf16(__m512 x) {
  const __m512i u = _mm512_castps_si512(x), one = _mm512_set1_epi32(1);
  const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(u, 16), one);
  const __m512i round = _mm512_add_epi32(u, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
  const __mmask16 nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
  const __m512i bits =
      _mm512_mask_mov_epi32(_mm512_srli_epi32(round, 16), nan, _mm512_set1_epi32(0x7fc0));
  return _mm512_cvtepi32_epi16(bits);
}

TENON_INLINE F32 load(const bf16* p) {
  return widen_bf16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
TENON_INLINE F32 load(const f16* p) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
TENON_INLINE void store(bf16* p, F32 x) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), narrow_bf16(x));
}
TENON_INLINE void store(f16* p, F32 x) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p),
                      _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

// The first n < kLanes elements; the other lanes read as zero and are not touched in memory.
TENON_INLINE F32 load_n(const float* p, size_t n) { return _mm512_maskz_loadu_ps(first(n), p); }
TENON_INLINE F32 load_n(const bf16* p, size_t n) {
  return widen_bf16(_mm256_maskz_loadu_epi16(first(n), p));
}
TENON_INLINE F32 load_n(const f16* p, size_t n) {
  return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(first(n), p));
}
TENON_INLINE void store_n(float* p, F32 x, size_t n) { _mm512_mask_storeu_ps(p, first(n), x); }
TENON_INLINE void store_n(bf16* p, F32 x, size_t n) {
  _mm256_mask_storeu_epi16(p, first(n), narrow_bf16(x));
}
TENON_INLINE void store_n(f16* p, F32 x, size_t n) {
  _mm256_mask_storeu_epi16(p, first(n),
                           _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

// x in the first n lanes, all of them where n is larger, and `other` in the rest.
TENON_INLINE F32 keep_first(F32 x, F32 other, size_t n) {
  const __mmask16 covered = n >= kLanes ? __mmask16{0xffff} : first(n);
  return _mm512_mask_mov_ps(other, covered, x);
}
// The lanes Half apart swapped.
template <size_t Half>
TENON_INLINE F32 across(F32 x) {
  if constexpr (Half == 8) return _mm512_shuffle_f32x4(x, x, 0x4e);
  if constexpr (Half == 4) return _mm512_shuffle_f32x4(x, x, 0xb1);
  if constexpr (Half <= 2) return _mm512_permute_ps(x, Half == 2 ? 0x4e : 0xb1);
}

// Lane i + lane i + 8.
TENON_INLINE __m256 halved(__m512 x) {
  return _mm256_add_ps(_mm512_castps512_ps256(x), _mm512_extractf32x8_ps(x, 1));
}

using F32x4 = __m128;
TENON_INLINE void store_4(float* p, F32x4 x) { _mm_storeu_ps(p, x); }

// Sums whose lanes fold in halves: 16 lanes to 4, 4 to one, and 4 to one for four sums at once.
TENON_INLINE F32x4 fold_to_4(const F32 (&acc)[1]) {
  const __m256 x = halved(acc[0]);
  return _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
}
TENON_INLINE float add_4(F32x4 x) {
  const __m128 two = _mm_add_ps(x, _mm_movehl_ps(x, x));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}
TENON_INLINE F32x4 add_each_4(F32x4 a, F32x4 b, F32x4 c, F32x4 d) {
  const __m128 ab = _mm_add_ps(_mm_movelh_ps(a, b), _mm_movehl_ps(b, a));
  const __m128 cd = _mm_add_ps(_mm_movelh_ps(c, d), _mm_movehl_ps(d, c));
  return _mm_add_ps(_mm_shuffle_ps(ab, cd, 0x88), _mm_shuffle_ps(ab, cd, 0xdd));
}

// Four vectors' lanes folded in halves: out[i] is the sum of x[i].
TENON_INLINE __m256 fold_pair(__m256 x, __m256 y) {
  return _mm256_add_ps(_mm256_permute2f128_ps(x, y, 0x20), _mm256_permute2f128_ps(x, y, 0x31));
}
TENON_INLINE void fold_four(F32 x0, F32 x1, F32 x2, F32 x3, float (&out)[4]) {
  const __m256 u = fold_pair(halved(x0), halved(x1)), v = fold_pair(halved(x2), halved(x3));
  const __m256 w = _mm256_add_ps(_mm256_shuffle_ps(u, v, 0x44), _mm256_shuffle_ps(u, v, 0xee));
  // w: low half 0 0 2 2, high half 1 1 3 3.
  const __m256 s = _mm256_add_ps(w, _mm256_permute_ps(w, 0xb1));
  const __m128 low = _mm256_castps256_ps128(s), high = _mm256_extractf128_ps(s, 1);
  const __m128 even = _mm_shuffle_ps(low, low, 0x88), odd = _mm_shuffle_ps(high, high, 0x88);
  _mm_storeu_ps(out, _mm_unpacklo_ps(even, odd));
}

}  // namespace
}  // namespace tenon
