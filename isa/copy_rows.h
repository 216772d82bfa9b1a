// Rows of bytes from one strided place to another.
//
// Operation: y[r][b] = x[r][b], 0 <= r < rows, 0 <= b < bytes; rows of x are x_stride bytes apart,
// rows of y y_stride bytes. Any sizes, any alignment; x and y don't overlap.
#pragma once
#include <cstddef>

namespace tenon {

using CopyRows = void(size_t rows, size_t bytes, const void* x, ptrdiff_t x_stride, void* y,
                      ptrdiff_t y_stride) noexcept;

}  // namespace tenon
