// The mean of each window of a plane.
//
// Operation: y[i][j] = (sum over r < height, c < width of x[i * row_step + r][j * step + c]) /
// divisor[i][j], rounded once to y's type; i < rows, j < n. x[r][s] lies at x + r * x_row + s
// elements; y and divisor are dense. The sum is taken in that order, in f32, starting from +0; the
// quotient is one division. Any sizes, any alignment; nothing overlaps. Error bound: height * width
// half units of f32 of the sum of magnitudes over the divisor, and half a unit of y's type where
// that is narrower; the same bits on every machine.
#pragma once
#include <cstddef>

namespace tenon {

// y: the storage type in the kernel's name; x: f32.
struct AvgPoolArgs {
  size_t rows, n, height, width, row_step, step;
  const float* x;
  size_t x_row;
  const float* divisor;
  void* y;
};
using AvgPool = void(const AvgPoolArgs& args) noexcept;

}  // namespace tenon
