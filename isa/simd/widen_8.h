// Eight elements of a storage type as f32, and blocks of eight by eight turned, of 16 bits too:
// what packing for the f32 kernels is made of, on AVX-512 as well. Internal to each object, like
// vec.h.
#pragma once
#include "isa/simd/vec.h"

namespace tenon {
namespace {

#if defined(__AVX2__)

using F32x8 = __m256;

// Eight rows of eight f32 turned into eight columns.
TENON_INLINE void turn_8x8(F32x8 (&r)[8]) {
  __m256 t[8], u[8];
  for (int i = 0; i < 8; i += 2) {
    t[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
    t[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
  }
  for (int i = 0; i < 8; i += 4) {
    u[i] = _mm256_shuffle_ps(t[i], t[i + 2], 0x44);
    u[i + 1] = _mm256_shuffle_ps(t[i], t[i + 2], 0xee);
    u[i + 2] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0x44);
    u[i + 3] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0xee);
  }
  for (int i = 0; i < 4; ++i) {
    r[i] = _mm256_permute2f128_ps(u[i], u[i + 4], 0x20);
    r[i + 4] = _mm256_permute2f128_ps(u[i], u[i + 4], 0x31);
  }
}

TENON_INLINE __m256i widen_16(const void* p) {
  return _mm256_cvtepu16_epi32(_mm_loadu_si128(static_cast<const __m128i*>(p)));
}
TENON_INLINE F32x8 load_8(const float* p) { return _mm256_loadu_ps(p); }
TENON_INLINE F32x8 load_8(const bf16* p) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(widen_16(p), 16));
}
TENON_INLINE F32x8 load_8(const f16* p) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
TENON_INLINE F32x8 zero_8() { return _mm256_setzero_ps(); }

// The first Count: 8, 6 or 4.
template <int Count = 8>
TENON_INLINE void store_8(float* to, F32x8 x) {
  static_assert(Count == 8 || Count == 6 || Count == 4);
  if constexpr (Count == 8) return _mm256_storeu_ps(to, x);
  _mm_storeu_ps(to, _mm256_castps256_ps128(x));
  if constexpr (Count == 6)
    _mm_storel_pi(reinterpret_cast<__m64*>(to + 4), _mm256_extractf128_ps(x, 1));
}

using U16x8 = __m128i;
TENON_INLINE U16x8 load_8_halves(const void* p) {
  return _mm_loadu_si128(static_cast<const __m128i*>(p));
}
TENON_INLINE void store_8_halves(void* p, U16x8 x) {
  _mm_storeu_si128(static_cast<__m128i*>(p), x);
}
TENON_INLINE U16x8 zip_low(U16x8 a, U16x8 b) { return _mm_unpacklo_epi16(a, b); }
TENON_INLINE U16x8 zip_high(U16x8 a, U16x8 b) { return _mm_unpackhi_epi16(a, b); }

#else

struct F32x8 {
  float32x4_t low, high;
};

TENON_INLINE float32x4_t even_pairs(float32x4_t a, float32x4_t b) {
  return vreinterpretq_f32_f64(vtrn1q_f64(vreinterpretq_f64_f32(a), vreinterpretq_f64_f32(b)));
}
TENON_INLINE float32x4_t odd_pairs(float32x4_t a, float32x4_t b) {
  return vreinterpretq_f32_f64(vtrn2q_f64(vreinterpretq_f64_f32(a), vreinterpretq_f64_f32(b)));
}
TENON_INLINE void turn_4x4(float32x4_t& a, float32x4_t& b, float32x4_t& c, float32x4_t& d) {
  const float32x4_t ab = vtrn1q_f32(a, b), ab2 = vtrn2q_f32(a, b);
  const float32x4_t cd = vtrn1q_f32(c, d), cd2 = vtrn2q_f32(c, d);
  a = even_pairs(ab, cd), b = even_pairs(ab2, cd2), c = odd_pairs(ab, cd), d = odd_pairs(ab2, cd2);
}

// Eight rows of eight f32 turned into eight columns.
TENON_INLINE void turn_8x8(F32x8 (&r)[8]) {
  for (int i = 0; i < 8; i += 4) {
    turn_4x4(r[i].low, r[i + 1].low, r[i + 2].low, r[i + 3].low);
    turn_4x4(r[i].high, r[i + 1].high, r[i + 2].high, r[i + 3].high);
  }
  for (int i = 0; i < 4; ++i) {
    const float32x4_t corner = r[i].high;
    r[i].high = r[i + 4].low;
    r[i + 4].low = corner;
  }
}

template <class T>
TENON_INLINE F32x8 load_8(const T* p) {
  return {load(p), load(p + 4)};
}
TENON_INLINE F32x8 zero_8() { return {vdupq_n_f32(0.0f), vdupq_n_f32(0.0f)}; }

// The first Count: 8, 6 or 4.
template <int Count = 8>
TENON_INLINE void store_8(float* to, F32x8 x) {
  static_assert(Count == 8 || Count == 6 || Count == 4);
  vst1q_f32(to, x.low);
  if constexpr (Count == 8) vst1q_f32(to + 4, x.high);
  if constexpr (Count == 6) vst1_f32(to + 4, vget_low_f32(x.high));
}

using U16x8 = uint16x8_t;
TENON_INLINE U16x8 load_8_halves(const void* p) {
  return vld1q_u16(static_cast<const uint16_t*>(p));
}
TENON_INLINE void store_8_halves(void* p, U16x8 x) { vst1q_u16(static_cast<uint16_t*>(p), x); }
TENON_INLINE U16x8 zip_low(U16x8 a, U16x8 b) { return vzip1q_u16(a, b); }
TENON_INLINE U16x8 zip_high(U16x8 a, U16x8 b) { return vzip2q_u16(a, b); }

#endif

// Eight rows of eight halves turned: three riffles.
TENON_INLINE void turn_8x8(U16x8 (&r)[8]) {
  for (int pass = 0; pass < 3; ++pass) {
    U16x8 t[8];
    for (int i = 0; i < 4; ++i) {
      t[2 * i] = zip_low(r[i], r[i + 4]);
      t[2 * i + 1] = zip_high(r[i], r[i + 4]);
    }
    for (int i = 0; i < 8; ++i) r[i] = t[i];
  }
}

}  // namespace
}  // namespace tenon
