// Transposing copy of 32-bit elements, 16 x 4 at a time: a whole line of four rows of y.
// Rows i and i + 4 share a register, so that a 4 x 4 transpose inside the halves yields eight rows.
#include <immintrin.h>

#include "isa/transpose.h"
#include "isa/transpose_blocks.h"

namespace tenon {
namespace {

TENON_INLINE __m256 rows_4_apart(const float* x, ptrdiff_t xs, size_t row) {
  const __m128 low = _mm_loadu_ps(row_of<float>(x, row, xs));
  return _mm256_insertf128_ps(_mm256_castps128_ps256(low),
                              _mm_loadu_ps(row_of<float>(x, row + 4, xs)), 1);
}

TENON_INLINE __m256 low_pairs(__m256 a, __m256 b) {
  return _mm256_castpd_ps(_mm256_unpacklo_pd(_mm256_castps_pd(a), _mm256_castps_pd(b)));
}
TENON_INLINE __m256 high_pairs(__m256 a, __m256 b) {
  return _mm256_castpd_ps(_mm256_unpackhi_pd(_mm256_castps_pd(a), _mm256_castps_pd(b)));
}

// Four columns of eight rows of x as y[0] ... y[3].
TENON_INLINE void transpose_8x4(const float* x, ptrdiff_t xs, __m256 (&y)[4]) {
  const __m256 a = rows_4_apart(x, xs, 0), b = rows_4_apart(x, xs, 1);
  const __m256 c = rows_4_apart(x, xs, 2), d = rows_4_apart(x, xs, 3);
  const __m256 ab = _mm256_unpacklo_ps(a, b), ab2 = _mm256_unpackhi_ps(a, b);
  const __m256 cd = _mm256_unpacklo_ps(c, d), cd2 = _mm256_unpackhi_ps(c, d);
  y[0] = low_pairs(ab, cd);
  y[1] = high_pairs(ab, cd);
  y[2] = low_pairs(ab2, cd2);
  y[3] = high_pairs(ab2, cd2);
}

}  // namespace

void transpose_b32_avx2(size_t rows, size_t cols, const void* from, ptrdiff_t from_stride, void* to,
                        ptrdiff_t to_stride) noexcept {
  const Transposed<float> m{from, from_stride, to, to_stride};
  transpose_blocks<float, 16, 4>(rows, cols, m,
                                 [](const float* x, ptrdiff_t xs, float* y, ptrdiff_t ys) {
                                   __m256 upper[4], lower[4];
                                   transpose_8x4(x, xs, upper);
                                   transpose_8x4(row_of<float>(x, 8, xs), xs, lower);
                                   for (size_t c = 0; c < 4; ++c) {
                                     _mm256_storeu_ps(row_of<float>(y, c, ys), upper[c]);
                                     _mm256_storeu_ps(row_of<float>(y, c, ys) + 8, lower[c]);
                                   }
                                 });
}

}  // namespace tenon
