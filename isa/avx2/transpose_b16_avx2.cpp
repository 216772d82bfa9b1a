// Transposing copy of 16-bit elements, 32 x 8 at a time: a whole line of eight rows of y.
// Rows i and i + 8 share a register, so that an 8 x 8 transpose inside the halves yields sixteen
// rows.
#include <immintrin.h>

#include "isa/transpose.h"
#include "isa/transpose_blocks.h"

namespace tenon {
namespace {

TENON_INLINE __m256i rows_8_apart(const uint16_t* x, ptrdiff_t xs, size_t row) {
  const auto* low = reinterpret_cast<const __m128i*>(row_of<uint16_t>(x, row, xs));
  const auto* high = reinterpret_cast<const __m128i*>(row_of<uint16_t>(x, row + 8, xs));
  return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(low)),
                                 _mm_loadu_si128(high), 1);
}

// Eight columns of sixteen rows of x. Each step interleaves what is twice as wide as before: rows
// i and i + 4, then pairs with pairs two apart, then fours with fours.
TENON_INLINE void transpose_16x8(const uint16_t* x, ptrdiff_t xs, uint16_t* y, ptrdiff_t ys) {
  __m256i a[8], b[8];
  for (size_t r = 0; r < 8; ++r) a[r] = rows_8_apart(x, xs, r);
  for (size_t r = 0; r < 4; ++r) {
    b[2 * r] = _mm256_unpacklo_epi16(a[r], a[r + 4]);
    b[2 * r + 1] = _mm256_unpackhi_epi16(a[r], a[r + 4]);
  }
  for (size_t r = 0; r < 4; ++r) {
    a[2 * r] = _mm256_unpacklo_epi16(b[r], b[r + 4]);
    a[2 * r + 1] = _mm256_unpackhi_epi16(b[r], b[r + 4]);
  }
  for (size_t r = 0; r < 4; ++r) {
    b[2 * r] = _mm256_unpacklo_epi16(a[r], a[r + 4]);
    b[2 * r + 1] = _mm256_unpackhi_epi16(a[r], a[r + 4]);
  }
  for (size_t c = 0; c < 8; ++c)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(row_of<uint16_t>(y, c, ys)), b[c]);
}

}  // namespace

void transpose_b16_avx2(size_t rows, size_t cols, const void* from, ptrdiff_t from_stride, void* to,
                        ptrdiff_t to_stride) noexcept {
  const Transposed<uint16_t> m{from, from_stride, to, to_stride};
  transpose_blocks<uint16_t, 32, 8>(rows, cols, m,
                                    [](const uint16_t* x, ptrdiff_t xs, uint16_t* y, ptrdiff_t ys) {
                                      transpose_16x8(x, xs, y, ys);
                                      transpose_16x8(row_of<uint16_t>(x, 16, xs), xs, y + 16, ys);
                                    });
}

}  // namespace tenon
