// The largest element of each window of a plane, and where it lies.
//
// Operation: for each i < rows, j < n, over r < height and c < width in that order: value =
// -infinity, then an element e = x[i * row_step + r][j * step + c] that is larger than value, or
// NaN, becomes value. At the end y[i][j] = value in y's type, and index[i][j] = first[i][j] where
// nothing did, else the place of the last to become it: origin + (i * row_step + r) * plane_row + j
// * step + c. So a NaN wins, the last of several, as in ATen. x[r][s] lies at x + r * x_row + s
// elements; y, first and index are dense. Places fit 31 bits. Any sizes, any alignment; nothing
// overlaps. Exact.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tenon {

// y: the storage type in the kernel's name; x: f32.
struct MaxPoolArgs {
  size_t rows, n, height, width, row_step, step;
  const float* x;
  size_t x_row;
  int64_t origin, plane_row;
  const int64_t* first;
  void* y;
  int64_t* index;
};
using MaxPool = void(const MaxPoolArgs& args) noexcept;

}  // namespace tenon
