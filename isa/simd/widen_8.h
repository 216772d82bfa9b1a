// Eight elements of a storage type as f32, and blocks of eight by eight turned: what packing for
// the f32 gemm kernels is made of, on AVX-512 as well. Internal to each object, like vec.h.
#pragma once
#include "isa/simd/vec.h"

namespace tenon {
namespace {

// Eight rows of eight f32 turned into eight columns.
TENON_INLINE void turn_8x8(__m256 (&r)[8]) {
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
TENON_INLINE __m256 load_8(const float* p) { return _mm256_loadu_ps(p); }
TENON_INLINE __m256 load_8(const bf16* p) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(widen_16(p), 16));
}
TENON_INLINE __m256 load_8(const f16* p) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}

}  // namespace
}  // namespace tenon
