// Rows of a table picked by index.
//
// Operation: y[r][b] = x[index[r]][b], 0 <= r < rows, 0 <= b < bytes; rows of x are x_stride bytes
// apart, rows of y touch. The last part of a kernel's name is the type of the indices. Any sizes,
// any alignment; every index is in range (the caller has looked) and nothing overlaps y.
#pragma once
#include <cstddef>

namespace tenon {

using Gather = void(size_t rows, size_t bytes, const void* index, const void* x, ptrdiff_t x_stride,
                    void* y) noexcept;

}  // namespace tenon
