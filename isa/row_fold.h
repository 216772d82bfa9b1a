// The rows of an f32 matrix added into one row.
//
// Operation: y[c] = x[0][c] + x[1][c] + ... in f32, in that order, rounded once to y's type.
// y and x do not overlap; rows of x are `columns` elements apart. `width` columns are folded, which
// lets callers share them out. Exact to the order; no error bound of its own.
#pragma once
#include <cstddef>

namespace tenon {

using RowFold = void(size_t rows, size_t columns, size_t width, const float* x, void* y) noexcept;

}  // namespace tenon
