// Transposing copy, reference kernels: isa/transpose.h says what they compute.
#include "isa/transpose.h"

#include "isa/transpose_blocks.h"

namespace tenon {
namespace {

template <class T>
TENON_INLINE void transpose_plainly(size_t rows, size_t cols, Transposed<T> m) {
  transpose_blocks<T, 8, 8>(rows, cols, m, [](const T* x, ptrdiff_t xs, T* y, ptrdiff_t ys) {
    for (size_t c = 0; c < 8; ++c)
      for (size_t r = 0; r < 8; ++r) row_of<T>(y, c, ys)[r] = row_of<T>(x, r, xs)[c];
  });
}

}  // namespace

#define TRANSPOSE(op, T)                                                              \
  void op##_ref(size_t rows, size_t cols, const void* x, ptrdiff_t x_stride, void* y, \
                ptrdiff_t y_stride) noexcept {                                        \
    transpose_plainly(rows, cols, Transposed<T>{x, x_stride, y, y_stride});           \
  }

TRANSPOSE(transpose_b16, uint16_t)
TRANSPOSE(transpose_b32, uint32_t)
TRANSPOSE(transpose_b64, uint64_t)

}  // namespace tenon
