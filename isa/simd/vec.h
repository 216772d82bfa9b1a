// Vectors of f32 for kernels written once over xsimd: loads and stores of every storage type with
// tails, and the reduction order that is the same on every ISA. Compiled into one object per ISA
// folder; everything here is internal to that object.
#pragma once
#include <immintrin.h>

#include <xsimd/xsimd.hpp>

#include "isa/types.h"

// TENON_KERNEL(relu_f32) is the symbol of this folder's relu_f32: relu_f32_avx2.
#define TENON_KERNEL(op) TENON_JOIN(op, TENON_ISA_FOLDER)
#define TENON_JOIN(op, folder) TENON_JOIN_(op, folder)
#define TENON_JOIN_(op, folder) op##_##folder

namespace tenon {
namespace {

#if defined(__AVX512F__)
using Arch = xsimd::avx512bw;
#else
using Arch = xsimd::fma3<xsimd::avx2>;
#endif
using F32 = xsimd::batch<float, Arch>;
using I32 = xsimd::batch<int32_t, Arch>;
using Mask = xsimd::batch_bool<float, Arch>;
constexpr size_t kLanes = F32::size;

// The vocabulary of isa/math.h.
template <class V>
TENON_INLINE V splat(float x) {
  return V(x);
}
TENON_INLINE F32 fma(F32 a, F32 b, F32 c) { return xsimd::fma(a, b, c); }
TENON_INLINE F32 select(Mask m, F32 a, F32 b) { return xsimd::select(m, a, b); }
TENON_INLINE F32 rounded(F32 x) { return xsimd::nearbyint(x); }
TENON_INLINE F32 number(F32 n) { return n; }
TENON_INLINE F32 abs(F32 x) { return xsimd::abs(x); }
TENON_INLINE F32 minus_abs(F32 x) { return x | F32(-0.0f); }
TENON_INLINE F32 copysign(F32 magnitude, F32 sign) { return xsimd::copysign(magnitude, sign); }
TENON_INLINE F32 sqrt(F32 x) { return xsimd::sqrt(x); }
TENON_INLINE F32 pow2(F32 x) {
  const I32 n = xsimd::to_int(x);
  return xsimd::bitwise_cast<float>((n + I32(127)) << 23);
}
// In two factors, so that neither overflows and only the second product rounds.
TENON_INLINE F32 scale(F32 x, F32 n) {
  const F32 half = rounded(n * F32(0.5f));
  return x * pow2(half) * pow2(n - half);
}
TENON_INLINE F32 pow2_shifted(F32 t) {
  const I32 bits = xsimd::bitwise_cast<int32_t>(t);
  return xsimd::bitwise_cast<float>((bits << 23) + I32(0x3f800000));
}
// x, positive and normal, as the returned mantissa in [2/3, 4/3) times 2^exponent.
TENON_INLINE F32 split_exponent(F32 x, F32& exponent) {
  const I32 bits = xsimd::bitwise_cast<int32_t>(x);
  const I32 n = (bits - I32(kTwoThirds)) >> 23;
  exponent = xsimd::to_float(n);
  return xsimd::bitwise_cast<float>(bits - (n << 23));
}

TENON_INLINE F32 load(const float* p) { return F32::load_unaligned(p); }
TENON_INLINE void store(float* p, F32 x) { x.store_unaligned(p); }

#if defined(__AVX512F__)

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

#else  // AVX2

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

#endif

// Lane i gets lane i + half, for the halves that fold a vector: kLanes / 2, ..., 2, 1.
template <size_t half>
TENON_INLINE F32 lanes_from(F32 x) {
#if defined(__AVX512F__)
  if constexpr (half == 8) return _mm512_shuffle_f32x4(x, x, 0x4e);
  if constexpr (half == 4) return _mm512_shuffle_f32x4(x, x, 0xb1);
  if constexpr (half == 2) return _mm512_permute_ps(x, 0x4e);
  if constexpr (half == 1) return _mm512_permute_ps(x, 0xb1);
#else
  if constexpr (half == 4) return _mm256_permute2f128_ps(x, x, 0x01);
  if constexpr (half == 2) return _mm256_permute_ps(x, 0x4e);
  if constexpr (half == 1) return _mm256_permute_ps(x, 0xb1);
#endif
}

// y[i] = f(x[i]) over any storage types.
template <class X, class Y, class F>
TENON_INLINE void map(size_t n, const X* x, Y* y, F f) {
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(y + i, f(load(x + i)));
  if (i < n) store_n(y + i, f(load_n(x + i, n - i)), n - i);
}
// y[i] = f(a[i], b[i]) over any storage types.
template <class A, class B, class Y, class F>
TENON_INLINE void map(size_t n, const A* a, const B* b, Y* y, F f) {
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(y + i, f(load(a + i), load(b + i)));
  if (i < n) store_n(y + i, f(load_n(a + i, n - i), load_n(b + i, n - i)), n - i);
}

// Sums in the one order that every ISA uses: element i belongs to virtual lane i mod 64, each lane
// adds its elements in turn, and lanes fold in halves (64 to 32 to 16 ... to 1).
constexpr size_t kVirtualLanes = 64;
constexpr size_t kGroups = kVirtualLanes / kLanes;

template <class Op>
TENON_INLINE float fold_lanes(F32 x, Op op) {
  alignas(64) float lane[kLanes];
  x.store_aligned(lane);
  for (size_t half = kLanes / 2; half > 0; half /= 2)
    for (size_t i = 0; i < half; ++i) lane[i] = op(lane[i], lane[i + half]);
  return lane[0];
}

// The same fold with an operation on vectors, without a way through memory.
template <size_t half = kLanes / 2, class Op>
TENON_INLINE float fold_vector(F32 x, Op op) {
  x = op(x, lanes_from<half>(x));
  if constexpr (half > 1)
    return fold_vector<half / 2>(x, op);
  else
    return x.get(0);
}

template <class Op>
TENON_INLINE F32 fold_groups(F32 (&acc)[kGroups], Op op) {
  _Pragma("GCC unroll 8") for (size_t half = kGroups / 2; half > 0; half /= 2)
      _Pragma("GCC unroll 8") for (size_t g = 0; g < half; ++g) acc[g] = op(acc[g], acc[g + half]);
  return acc[0];
}

}  // namespace
}  // namespace tenon

// Last: it is written in the vocabulary above.
#include "isa/math.h"
