// Vectors of f32 on AVX2: what isa/simd/vec.h, which includes this file, needs of an ISA.
#pragma once
#include <immintrin.h>

#include <xsimd/xsimd.hpp>

#include "isa/cpu.h"

namespace tenon {
namespace {

using Arch = xsimd::fma3<xsimd::avx2>;
constexpr size_t kLanes = 8;
constexpr uint64_t kIsa = kAvx2;
constexpr int kRegisters = 16;

}  // namespace
}  // namespace tenon

#include "isa/simd/vec_x86.h"

namespace tenon {
namespace {

TENON_INLINE __m256 widen_bf16(__m128i h) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16));
}
TENON_INLINE __m128i narrow_bf16(__m256 x) {
  const __m256i u = _mm256_castps_si256(x), one = _mm256_set1_epi32(1);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(u, 16), one);
  const __m256i round = _mm256_add_epi32(u, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
  const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));
  const __m256i bits =
      _mm256_blendv_epi8(_mm256_srli_epi32(round, 16), _mm256_set1_epi32(0x7fc0), nan);
  const __m256i packed = _mm256_packus_epi32(bits, bits);
  return _mm256_castsi256_si128(_mm256_permute4x64_epi64(packed, 0x08));
}
// All ones in the first n lanes.
TENON_INLINE __m256i first(size_t n) {
  const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), lane);
}
// n < 8 elements, put together from the binary digits of n. Not vmaskmovps: its stores are
// microcoded on Zen, and QEMU 7.2 reads the lanes it should leave alone.
TENON_INLINE __m128i load_n_16(const void* from, size_t n) {
  const char* p = static_cast<const char*>(from);
  uint64_t head = 0, rest = 0;
  uint32_t pair = 0;
  uint16_t one = 0;
  if (n & 4) std::memcpy(&head, p, 8);
  if (n & 2) std::memcpy(&pair, p + 2 * (n & 4), 4);
  if (n & 1) std::memcpy(&one, p + 2 * (n & 6), 2);
  rest = n & 2 ? uint64_t{one} << 32 | pair : one;
  return n & 4 ? _mm_set_epi64x(static_cast<int64_t>(rest), static_cast<int64_t>(head))
               : _mm_cvtsi64_si128(static_cast<int64_t>(rest));
}
TENON_INLINE void store_n_16(void* to, __m128i x, size_t n) {
  char* p = static_cast<char*>(to);
  uint64_t bits = static_cast<uint64_t>(_mm_cvtsi128_si64(x));
  if (n & 4) {
    std::memcpy(p, &bits, 8);
    bits = static_cast<uint64_t>(_mm_extract_epi64(x, 1));
  }
  if (n & 2) {
    std::memcpy(p + 2 * (n & 4), &bits, 4);
    bits >>= 32;
  }
  if (n & 1) std::memcpy(p + 2 * (n & 6), &bits, 2);
}
TENON_INLINE __m256 load_n_32(const float* p, size_t n) {
  __m128 rest = _mm_setzero_ps();
  if (n & 1) rest = _mm_load_ss(p + (n & 6));
  if (n & 2)
    rest = _mm_movelh_ps(_mm_castpd_ps(_mm_load_sd(reinterpret_cast<const double*>(p + (n & 4)))),
                         rest);
  return n & 4 ? _mm256_set_m128(rest, _mm_loadu_ps(p)) : _mm256_zextps128_ps256(rest);
}
TENON_INLINE void store_n_32(float* p, __m256 x, size_t n) {
  __m128 rest = _mm256_castps256_ps128(x);
  if (n & 4) {
    _mm_storeu_ps(p, rest);
    rest = _mm256_extractf128_ps(x, 1);
  }
  if (n & 2) {
    _mm_storel_pi(reinterpret_cast<__m64*>(p + (n & 4)), rest);
    rest = _mm_movehl_ps(rest, rest);
  }
  if (n & 1) _mm_store_ss(p + (n & 6), rest);
}

TENON_INLINE F32 load(const bf16* p) {
  return widen_bf16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
TENON_INLINE F32 load(const f16* p) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
TENON_INLINE void store(bf16* p, F32 x) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), narrow_bf16(x));
}
TENON_INLINE void store(f16* p, F32 x) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
}

// The first n < kLanes elements; the other lanes read as zero and are not touched in memory.
TENON_INLINE F32 load_n(const float* p, size_t n) { return load_n_32(p, n); }
TENON_INLINE F32 load_n(const bf16* p, size_t n) { return widen_bf16(load_n_16(p, n)); }
TENON_INLINE F32 load_n(const f16* p, size_t n) { return _mm256_cvtph_ps(load_n_16(p, n)); }
TENON_INLINE void store_n(float* p, F32 x, size_t n) { store_n_32(p, x, n); }
TENON_INLINE void store_n(bf16* p, F32 x, size_t n) { store_n_16(p, narrow_bf16(x), n); }
TENON_INLINE void store_n(f16* p, F32 x, size_t n) {
  store_n_16(p, _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT), n);
}

// x in the first n lanes, all of them where n is larger, and `other` in the rest.
TENON_INLINE F32 keep_first(F32 x, F32 other, size_t n) {
  const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  const int count = n >= kLanes ? static_cast<int>(kLanes) : static_cast<int>(n);
  const __m256i covered = _mm256_cmpgt_epi32(_mm256_set1_epi32(count), lane);
  return _mm256_blendv_ps(other, x, _mm256_castsi256_ps(covered));
}
// The lanes Half apart swapped.
template <size_t Half>
TENON_INLINE F32 across(F32 x) {
  if constexpr (Half == 4) return _mm256_permute2f128_ps(x, x, 1);
  if constexpr (Half <= 2) return _mm256_permute_ps(x, Half == 2 ? 0x4e : 0xb1);
}

using F32x4 = __m128;
TENON_INLINE void store_4(float* p, F32x4 x) { _mm_storeu_ps(p, x); }

// Sums whose lanes fold in halves: 16 lanes to 4, 4 to one, and 4 to one for four sums at once.
TENON_INLINE F32x4 fold_to_4(const F32 (&acc)[2]) {
  const __m256 x = acc[0] + acc[1];
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
  const __m256 u = fold_pair(x0, x1), v = fold_pair(x2, x3);
  const __m256 w = _mm256_add_ps(_mm256_shuffle_ps(u, v, 0x44), _mm256_shuffle_ps(u, v, 0xee));
  // w: low half 0 0 2 2, high half 1 1 3 3.
  const __m256 s = _mm256_add_ps(w, _mm256_permute_ps(w, 0xb1));
  const __m128 low = _mm256_castps256_ps128(s), high = _mm256_extractf128_ps(s, 1);
  const __m128 even = _mm_shuffle_ps(low, low, 0x88), odd = _mm_shuffle_ps(high, high, 0x88);
  _mm_storeu_ps(out, _mm_unpacklo_ps(even, odd));
}

}  // namespace
}  // namespace tenon
