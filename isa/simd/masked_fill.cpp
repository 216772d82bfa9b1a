// Masked fill: isa/masked_fill.h says what it computes. A vector's worth of mask bytes is compared
// with zero and widened to the elements, then blends value and x.
#include "isa/masked_fill.h"

#include "isa/simd/vec.h"

namespace tenon {
namespace {

#if defined(__AVX512F__)

constexpr size_t kBytes = 64;

// One vector of elements, the first `n` of them where n is less than a vector.
TENON_INLINE void fill_b8(size_t n, uint64_t bits, const uint8_t* mask, const void* x, void* y) {
  const __mmask64 in = n >= 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1;
  const __m512i m = _mm512_maskz_loadu_epi8(in, mask);
  const __m512i v = _mm512_set1_epi8(static_cast<char>(bits));
  const __mmask64 set = _mm512_test_epi8_mask(m, m);
  _mm512_mask_storeu_epi8(y, in, _mm512_mask_mov_epi8(_mm512_maskz_loadu_epi8(in, x), set, v));
}
TENON_INLINE void fill_b16(size_t n, uint64_t bits, const uint8_t* mask, const void* x, void* y) {
  const __mmask32 in = n >= 32 ? ~uint32_t{0} : (uint32_t{1} << n) - 1;
  const __m256i m = _mm256_maskz_loadu_epi8(in, mask);
  const __m512i v = _mm512_set1_epi16(static_cast<short>(bits));
  const __mmask32 set = _mm256_test_epi8_mask(m, m);
  _mm512_mask_storeu_epi16(y, in, _mm512_mask_mov_epi16(_mm512_maskz_loadu_epi16(in, x), set, v));
}
TENON_INLINE void fill_b32(size_t n, uint64_t bits, const uint8_t* mask, const void* x, void* y) {
  const __mmask16 in = n >= 16 ? 0xffff : first(n);
  const __m128i m = _mm_maskz_loadu_epi8(in, mask);
  const __m512i v = _mm512_set1_epi32(static_cast<int>(bits));
  const __mmask16 set = _mm_test_epi8_mask(m, m);
  _mm512_mask_storeu_epi32(y, in, _mm512_mask_mov_epi32(_mm512_maskz_loadu_epi32(in, x), set, v));
}
TENON_INLINE void fill_b64(size_t n, uint64_t bits, const uint8_t* mask, const void* x, void* y) {
  const __mmask8 in = n >= 8 ? 0xff : static_cast<__mmask8>(first(n));
  const __m128i m = _mm_maskz_loadu_epi8(in, mask);
  const __m512i v = _mm512_set1_epi64(static_cast<int64_t>(bits));
  const __mmask8 set = static_cast<__mmask8>(_mm_test_epi8_mask(m, m));
  _mm512_mask_storeu_epi64(y, in, _mm512_mask_mov_epi64(_mm512_maskz_loadu_epi64(in, x), set, v));
}

#elif defined(__AVX2__)

constexpr size_t kBytes = 32;

TENON_INLINE __m256i load_32(const void* p) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(p));
}
// All ones where a mask byte is zero: where x stays.
TENON_INLINE __m128i unset(__m128i mask) { return _mm_cmpeq_epi8(mask, _mm_setzero_si128()); }

TENON_INLINE void blend(__m256i value, __m256i stays, const void* x, void* y) {
  _mm256_storeu_si256(static_cast<__m256i*>(y), _mm256_blendv_epi8(value, load_32(x), stays));
}

// One whole vector of elements.
TENON_INLINE void fill_b8(size_t, uint64_t bits, const uint8_t* mask, const void* x, void* y) {
  const __m256i stays = _mm256_cmpeq_epi8(load_32(mask), _mm256_setzero_si256());
  blend(_mm256_set1_epi8(static_cast<char>(bits)), stays, x, y);
}
TENON_INLINE void fill_b16(size_t, uint64_t bits, const uint8_t* mask, const void* x, void* y) {
  const __m128i m = _mm_loadu_si128(reinterpret_cast<const __m128i*>(mask));
  blend(_mm256_set1_epi16(static_cast<short>(bits)), _mm256_cvtepi8_epi16(unset(m)), x, y);
}
TENON_INLINE void fill_b32(size_t, uint64_t bits, const uint8_t* mask, const void* x, void* y) {
  const __m128i m = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(mask));
  blend(_mm256_set1_epi32(static_cast<int>(bits)), _mm256_cvtepi8_epi32(unset(m)), x, y);
}
TENON_INLINE void fill_b64(size_t, uint64_t bits, const uint8_t* mask, const void* x, void* y) {
  int32_t m;
  std::memcpy(&m, mask, sizeof m);
  const __m256i stays = _mm256_cvtepi8_epi64(unset(_mm_cvtsi32_si128(m)));
  blend(_mm256_set1_epi64x(static_cast<int64_t>(bits)), stays, x, y);
}

#else

constexpr size_t kBytes = 16;

// All ones where one of a vector's `size` mask bytes is zero: where x stays.
template <size_t size>
TENON_INLINE int8x8_t unset(const uint8_t* mask) {
  uint64_t m = 0;
  std::memcpy(&m, mask, size);
  return vreinterpret_s8_u8(vceqz_u8(vcreate_u8(m)));
}
TENON_INLINE int16x4_t low_half(int16x8_t x) { return vget_low_s16(x); }
TENON_INLINE int32x2_t low_half(int32x4_t x) { return vget_low_s32(x); }

TENON_INLINE void blend(uint8x16_t value, uint8x16_t stays, const void* x, void* y) {
  vst1q_u8(static_cast<uint8_t*>(y),
           vbslq_u8(stays, vld1q_u8(static_cast<const uint8_t*>(x)), value));
}

// One whole vector of elements.
TENON_INLINE void fill_b8(size_t, uint64_t bits, const uint8_t* mask, const void* x, void* y) {
  blend(vdupq_n_u8(static_cast<uint8_t>(bits)), vceqzq_u8(vld1q_u8(mask)), x, y);
}
TENON_INLINE void fill_b16(size_t, uint64_t bits, const uint8_t* mask, const void* x, void* y) {
  const uint8x16_t stays = vreinterpretq_u8_s16(vmovl_s8(unset<8>(mask)));
  blend(vreinterpretq_u8_u16(vdupq_n_u16(static_cast<uint16_t>(bits))), stays, x, y);
}
TENON_INLINE void fill_b32(size_t, uint64_t bits, const uint8_t* mask, const void* x, void* y) {
  const uint8x16_t stays = vreinterpretq_u8_s32(vmovl_s16(low_half(vmovl_s8(unset<4>(mask)))));
  blend(vreinterpretq_u8_u32(vdupq_n_u32(static_cast<uint32_t>(bits))), stays, x, y);
}
TENON_INLINE void fill_b64(size_t, uint64_t bits, const uint8_t* mask, const void* x, void* y) {
  const int32x4_t stays = vmovl_s16(low_half(vmovl_s8(unset<2>(mask))));
  blend(vreinterpretq_u8_u64(vdupq_n_u64(bits)), vreinterpretq_u8_s64(vmovl_s32(low_half(stays))),
        x, y);
}

#endif

// fill(count, mask, x, y) for every vector of elements of `size` bytes; without masked loads the
// last few elements go one by one.
template <size_t size, class Fill>
TENON_INLINE void each(size_t n, uint64_t bits, const uint8_t* mask, const void* from, void* to,
                       Fill fill) {
  constexpr size_t kElements = kBytes / size;
  const char* x = static_cast<const char*>(from);
  char* y = static_cast<char*>(to);
  size_t i = 0;
  for (; i + kElements <= n; i += kElements)
    fill(kElements, bits, mask + i, x + i * size, y + i * size);
#if defined(__AVX512F__)
  if (i < n) fill(n - i, bits, mask + i, x + i * size, y + i * size);
#else
  for (; i < n; ++i) {
    if (mask[i] != 0)
      std::memcpy(y + i * size, &bits, size);
    else
      std::memmove(y + i * size, x + i * size, size);
  }
#endif
}

}  // namespace

#define MASKED_FILL(size)                                                              \
  void TENON_KERNEL(masked_fill_b##size)(size_t n, uint64_t bits, const uint8_t* mask, \
                                         const void* x, void* y) noexcept {            \
    each<size / 8>(n, bits, mask, x, y, [](auto... args) { fill_b##size(args...); });  \
  }

MASKED_FILL(8)
MASKED_FILL(16)
MASKED_FILL(32)
MASKED_FILL(64)

}  // namespace tenon
