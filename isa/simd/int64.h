// Loads and stores of 64-bit integers as vectors of f32, for isa/simd/cast.cpp.
#pragma once
#include "isa/simd/vec.h"

namespace tenon {
namespace {

#if defined(__AVX512F__)

TENON_INLINE F32 load(const i64* p) {
  const __m256 low = _mm512_cvtepi64_ps(_mm512_loadu_si512(p));
  return _mm512_insertf32x8(_mm512_castps256_ps512(low),
                            _mm512_cvtepi64_ps(_mm512_loadu_si512(p + 8)), 1);
}
TENON_INLINE void store(i64* p, F32 x) {
  const __m512 v = x;
  _mm512_storeu_si512(p, _mm512_cvttps_epi64(_mm512_castps512_ps256(v)));
  _mm512_storeu_si512(p + 8, _mm512_cvttps_epi64(_mm512_extractf32x8_ps(v, 1)));
}

#elif defined(__AVX2__)

// Four i64 that all fit in 32 bits convert as i32, which rounds once too; others one by one.
TENON_INLINE F32 load(const i64* p) {
  const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 4));
  const __m256i even = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
  const __m256i low = _mm256_blend_epi32(_mm256_permutevar8x32_epi32(a, even),
                                         _mm256_permutevar8x32_epi32(b, even), 0xf0);
  const __m256i a2 = _mm256_cvtepi32_epi64(_mm256_castsi256_si128(low));
  const __m256i b2 = _mm256_cvtepi32_epi64(_mm256_extracti128_si256(low, 1));
  const __m256i lost = _mm256_or_si256(_mm256_xor_si256(a, a2), _mm256_xor_si256(b, b2));
  if (_mm256_testz_si256(lost, lost)) return _mm256_cvtepi32_ps(low);
  alignas(32) float f[8];
  for (size_t i = 0; i < 8; ++i) f[i] = static_cast<float>(p[i].value);
  return _mm256_load_ps(f);
}

// vcvttps2dq gives INT32_MIN for what 32 bits cannot hold; then the elements convert one by one,
// and vcvttss2si gives INT64_MIN for what 64 bits cannot hold.
TENON_INLINE void store(i64* p, F32 x) {
  const __m256i n = _mm256_cvttps_epi32(x);
  const __m256i lost = _mm256_cmpeq_epi32(n, _mm256_set1_epi32(INT32_MIN));
  if (_mm256_testz_si256(lost, lost)) {
    const __m256i low = _mm256_cvtepi32_epi64(_mm256_castsi256_si128(n));
    const __m256i high = _mm256_cvtepi32_epi64(_mm256_extracti128_si256(n, 1));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), low);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p + 4), high);
    return;
  }
  alignas(32) float f[8];
  _mm256_store_ps(f, x);
  for (size_t i = 0; i < 8; ++i) p[i].value = _mm_cvttss_si64(_mm_load_ss(f + i));
}

#else

// One by one: by way of f64 they would round twice.
TENON_INLINE F32 load(const i64* p) {
  return F32(static_cast<float>(p[0].value), static_cast<float>(p[1].value),
             static_cast<float>(p[2].value), static_cast<float>(p[3].value));
}

TENON_INLINE int64x2_t truncated(float64x2_t x) {
  const uint64x2_t fits = vcaltq_f64(x, vdupq_n_f64(0x1p63));
  return vbslq_s64(fits, vcvtq_s64_f64(x), vdupq_n_s64(INT64_MIN));
}
TENON_INLINE void store(i64* p, F32 x) {
  int64_t* y = reinterpret_cast<int64_t*>(p);
  vst1q_s64(y, truncated(vcvt_f64_f32(vget_low_f32(x))));
  vst1q_s64(y + 2, truncated(vcvt_high_f64_f32(x)));
}

#endif

// The first n < kLanes elements.
TENON_INLINE F32 load_n(const i64* p, size_t n) {
  i64 whole[kLanes] = {};
  for (size_t i = 0; i < n; ++i) whole[i] = p[i];
  return load(whole);
}
TENON_INLINE void store_n(i64* p, F32 x, size_t n) {
  i64 whole[kLanes];
  store(whole, x);
  for (size_t i = 0; i < n; ++i) p[i] = whole[i];
}

}  // namespace
}  // namespace tenon
