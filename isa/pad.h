// A matrix put into a larger one, widened: the planes that convolutions and pooling read windows
// of.
//
// Operation: y[i][j] = x[i - top][j - left] where top <= i < top + height and left <= j < left +
// width, else fill; i < rows, j < columns, top + height <= rows, left + width <= columns. x[i][j]
// lies at x + i * x_row + j * x_column, y is dense. Any sizes, strides and alignment; y overlaps
// nothing. Exact.
#pragma once
#include <cstddef>

namespace tenon {

// Strides in bytes. The kernel's name says the types: y, x.
struct PadArgs {
  size_t rows, columns;
  size_t top, height, left, width;
  const void* x;
  ptrdiff_t x_row, x_column;
  float fill;
  float* y;
};
using Pad = void(const PadArgs& args) noexcept;

}  // namespace tenon
