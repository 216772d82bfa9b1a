// Rows of a matrix brought into the form the gemm kernels read: contiguous along k, and widened.
//
// Operation: y[j][p] = x[j][p], j < n, p < k, exactly (integers may be shifted: see the row's
// comment). x[j][p] lies at x + j * x_row + p * x_column, y[j][p] at y + j * y_row + p elements.
// Any sizes, strides (negative ones too) and alignment; y overlaps nothing.
#pragma once
#include <cstddef>

namespace tenon {

// Strides in bytes. The kernel's name says the types: y, x.
struct GemmPackArgs {
  size_t n, k;
  const void* x;
  ptrdiff_t x_row, x_column;
  void* y;
  ptrdiff_t y_row;
};
using GemmPack = void(const GemmPackArgs& args) noexcept;

}  // namespace tenon
