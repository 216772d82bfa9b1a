// Transposing copy of a matrix of 16-, 32- or 64-bit elements, whatever they mean.
//
// Operation: y[c][r] = x[r][c], 0 <= r < rows, 0 <= c < cols. Rows of x are x_stride bytes apart
// and contiguous, rows of y likewise. Any sizes, any alignment; x and y don't overlap. Exact.
#pragma once
#include <cstddef>

namespace tenon {

using Transpose = void(size_t rows, size_t cols, const void* x, ptrdiff_t x_stride, void* y,
                       ptrdiff_t y_stride) noexcept;

}  // namespace tenon
