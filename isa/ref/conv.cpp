// Reference convolution: isa/conv.h says what it computes.
#include "isa/conv.h"

#include <cmath>

namespace tenon {
namespace {

float sum_at(const ConvArgs& g, size_t i, size_t j) {
  const float* a = g.a + i / kConvPanel * g.a_panel + i % kConvPanel;
  float sum = g.bias != nullptr ? g.bias[i] : 0.0f;
  for (size_t t = 0; t < g.taps; ++t)
    for (size_t c = 0; c < g.channels; ++c)
      sum = std::fma(a[t * g.a_tap + c * kConvPanel], g.x[c * g.x_channel + g.shift[t] + j], sum);
  return sum;
}

}  // namespace

void conv_f32_f32_f32_ref(const ConvArgs& g) noexcept {
  for (size_t i = 0; i < g.m; ++i)
    for (size_t j = 0; j < g.n; ++j) g.y[i * g.y_row + j] = sum_at(g, i, j);
}

}  // namespace tenon
