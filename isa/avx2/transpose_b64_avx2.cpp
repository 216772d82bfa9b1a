// Transposing copy of 64-bit elements, 8 x 2 at a time: a whole line of two rows of y.
// Rows i and i + 2 share a register, so that a 2 x 2 transpose inside the halves yields four rows.
#include <immintrin.h>

#include "isa/transpose.h"
#include "isa/transpose_blocks.h"

namespace tenon {
namespace {

TENON_INLINE __m256d rows_2_apart(const double* x, ptrdiff_t xs, size_t row) {
  const __m128d low = _mm_loadu_pd(row_of<double>(x, row, xs));
  return _mm256_insertf128_pd(_mm256_castpd128_pd256(low),
                              _mm_loadu_pd(row_of<double>(x, row + 2, xs)), 1);
}

}  // namespace

void transpose_b64_avx2(size_t rows, size_t cols, const void* from, ptrdiff_t from_stride, void* to,
                        ptrdiff_t to_stride) noexcept {
  const Transposed<double> m{from, from_stride, to, to_stride};
  transpose_blocks<double, 8, 2>(
      rows, cols, m, [](const double* x, ptrdiff_t xs, double* y, ptrdiff_t ys) {
        for (size_t r = 0; r < 8; r += 4) {
          const __m256d a = rows_2_apart(x, xs, r), b = rows_2_apart(x, xs, r + 1);
          _mm256_storeu_pd(y + r, _mm256_unpacklo_pd(a, b));
          _mm256_storeu_pd(row_of<double>(y, 1, ys) + r, _mm256_unpackhi_pd(a, b));
        }
      });
}

}  // namespace tenon
