// A 16 x 16 block of dwords transposed, and the upper halves of dwords gathered: what packing for
// tile units and dot instructions is made of. Internal to each object, like vec.h.
#pragma once
#include "isa/simd/vec.h"

namespace tenon {
namespace {

#if defined(__AVX512F__)

// y[j][i] = x[i][j] for 16 x 16 dwords; strides in bytes.
TENON_INLINE void transpose_16x16(const void* x, ptrdiff_t x_row, void* y, ptrdiff_t y_row) {
  __m512i a[16], b[16];
  const char* in = static_cast<const char*>(x);
  for (int i = 0; i < 16; ++i) b[i] = _mm512_loadu_si512(in + i * x_row);
  for (int i = 0; i < 16; i += 2) {
    a[i] = _mm512_unpacklo_epi32(b[i], b[i + 1]);
    a[i + 1] = _mm512_unpackhi_epi32(b[i], b[i + 1]);
  }
  for (int i = 0; i < 16; i += 4) {  // 128-bit lane l of b[i + c]: rows i to i + 3 of column 4l + c
    b[i] = _mm512_unpacklo_epi64(a[i], a[i + 2]);
    b[i + 1] = _mm512_unpackhi_epi64(a[i], a[i + 2]);
    b[i + 2] = _mm512_unpacklo_epi64(a[i + 1], a[i + 3]);
    b[i + 3] = _mm512_unpackhi_epi64(a[i + 1], a[i + 3]);
  }
  char* out = static_cast<char*>(y);
  for (int c = 0; c < 4; ++c) {
    const __m512i low01 = _mm512_shuffle_i32x4(b[c], b[4 + c], 0x44);
    const __m512i low23 = _mm512_shuffle_i32x4(b[8 + c], b[12 + c], 0x44);
    const __m512i high01 = _mm512_shuffle_i32x4(b[c], b[4 + c], 0xee);
    const __m512i high23 = _mm512_shuffle_i32x4(b[8 + c], b[12 + c], 0xee);
    _mm512_storeu_si512(out + c * y_row, _mm512_shuffle_i32x4(low01, low23, 0x88));
    _mm512_storeu_si512(out + (4 + c) * y_row, _mm512_shuffle_i32x4(low01, low23, 0xdd));
    _mm512_storeu_si512(out + (8 + c) * y_row, _mm512_shuffle_i32x4(high01, high23, 0x88));
    _mm512_storeu_si512(out + (12 + c) * y_row, _mm512_shuffle_i32x4(high01, high23, 0xdd));
  }
}

// The upper 16 bits of the dwords of x, then of y: 32 halves.
TENON_INLINE void store_upper_halves(void* p, F32 x, F32 y) {
  alignas(64) static constexpr uint16_t kOdd[32] = {1,  3,  5,  7,  9,  11, 13, 15, 17, 19, 21,
                                                    23, 25, 27, 29, 31, 33, 35, 37, 39, 41, 43,
                                                    45, 47, 49, 51, 53, 55, 57, 59, 61, 63};
  _mm512_storeu_si512(p, _mm512_permutex2var_epi16(_mm512_castps_si512(x), _mm512_load_si512(kOdd),
                                                   _mm512_castps_si512(y)));
}

#else  // AVX2

TENON_INLINE __m256i load_words(const char* p) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}
TENON_INLINE void store_words(char* p, __m256i x) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), x);
}

TENON_INLINE void transpose_8x8(const char* in, ptrdiff_t x_row, char* out, ptrdiff_t y_row) {
  __m256i a[8], b[8];
  for (int i = 0; i < 8; ++i) b[i] = load_words(in + i * x_row);
  for (int i = 0; i < 8; i += 2) {
    a[i] = _mm256_unpacklo_epi32(b[i], b[i + 1]);
    a[i + 1] = _mm256_unpackhi_epi32(b[i], b[i + 1]);
  }
  for (int i = 0; i < 8; i += 4) {  // 128-bit lane l of b[i + c]: rows i to i + 3 of column 4l + c
    b[i] = _mm256_unpacklo_epi64(a[i], a[i + 2]);
    b[i + 1] = _mm256_unpackhi_epi64(a[i], a[i + 2]);
    b[i + 2] = _mm256_unpacklo_epi64(a[i + 1], a[i + 3]);
    b[i + 3] = _mm256_unpackhi_epi64(a[i + 1], a[i + 3]);
  }
  for (int c = 0; c < 4; ++c) {
    store_words(out + c * y_row, _mm256_permute2x128_si256(b[c], b[4 + c], 0x20));
    store_words(out + (4 + c) * y_row, _mm256_permute2x128_si256(b[c], b[4 + c], 0x31));
  }
}

TENON_INLINE void transpose_16x16(const void* x, ptrdiff_t x_row, void* y, ptrdiff_t y_row) {
  for (int i = 0; i < 16; i += 8)
    for (int j = 0; j < 16; j += 8)
      transpose_8x8(static_cast<const char*>(x) + i * x_row + j * 4, x_row,
                    static_cast<char*>(y) + j * y_row + i * 4, y_row);
}

// The upper 16 bits of the dwords of x, then of y: 16 halves.
TENON_INLINE void store_upper_halves(void* p, F32 x, F32 y) {
  const __m256i low = _mm256_srli_epi32(_mm256_castps_si256(x), 16);
  const __m256i high = _mm256_srli_epi32(_mm256_castps_si256(y), 16);
  const __m256i by_lane = _mm256_packus_epi32(low, high);
  store_words(static_cast<char*>(p), _mm256_permute4x64_epi64(by_lane, 0xd8));
}

#endif

}  // namespace
}  // namespace tenon
