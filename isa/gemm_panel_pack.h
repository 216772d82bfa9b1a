// Rows of a matrix brought into the panels of isa/gemm_panels.h, and widened.
//
// Operation: element [j][p] of x, j < n, p < k, at x + j * x_row + p * x_column, goes to panel
// j / width, place j % width, as that header says; places without an element become 0. `panels` has
// room for ceil(n / width) of them. Any sizes and strides (negative ones too), any alignment of x;
// a layout of panel_shape().
#pragma once
#include "isa/gemm_panels.h"

namespace tenon {

struct GemmPanelPackArgs {
  size_t n, k;
  const void* x;
  ptrdiff_t x_row, x_column;  // bytes
  PanelLayout layout;
  float* panels;
};
using GemmPanelPack = void(const GemmPanelPackArgs& args) noexcept;

}  // namespace tenon
