// Convolution without its matrix of windows: packed weights times planes of the input, which every
// tap of the window reads at a shift of its own.
//
// Operation: y[i][j] = bias[i] + sum over t < taps, c < channels of a[i][t][c] * x[c][shift[t] +
// j]; i < m, j < n. Positions j run through rows of the plane: where a row of outputs is shorter,
// those between two rows are computed and nobody reads them. A stride's planes are split by phases,
// so that each tap reads one behind the other.
//
// a[i][t][c] lies at a + t * a_tap + i / kConvPanel * a_panel + c * kConvPanel + i % kConvPanel:
// panels of isa/gemm_panels.h with one lane. x[c][s] lies at x + c * x_channel + s, y[i][j] at y +
// i * y_row + j; all counted in elements. bias may be null: zeros. Any sizes, any alignment; y
// overlaps nothing.
//
// Order: ascending taps, within a tap ascending channels, by fused multiply-add, starting from the
// bias: the same bits on every machine. Error bound: (taps * channels + 1) * kGemmUnit * (|bias| +
// sum |a x|), away from underflow.
#pragma once
#include <cstddef>

namespace tenon {

constexpr size_t kConvPanel = 3;

struct ConvArgs {
  size_t m, n, taps, channels;
  const float* a;
  size_t a_tap, a_panel;
  const float* x;
  size_t x_channel;
  const size_t* shift;
  const float* bias;
  float* y;
  size_t y_row;
};
using Conv = void(const ConvArgs& args) noexcept;

}  // namespace tenon
