// Convolution for RVV: isa/conv.h says what it computes.
//
// A register tile is three rows of weights and eight registers of positions: 24 of 32 registers are
// sums, and a vector of the input serves three multiply-adds. Its loop is not unrolled: there is no
// register to load ahead into. Panels of weights change fastest, so that the first cache keeps the
// positions: taps of a channel overlap.
#include "isa/conv.h"

#include "isa/rvv/vec.h"

namespace tenon {
namespace {

using V = vfloat32m8_t;

TENON_INLINE V bias_at(const ConvArgs& g, size_t i, size_t vl) {
  return Width<V>::splat(g.bias != nullptr ? g.bias[i] : 0.0f, vl);
}

// R rows of one panel, from row i on, for vl positions.
template <int R>
TENON_INLINE void tile(const ConvArgs& g, size_t i, size_t j, size_t vl) {
  const auto channel = static_cast<ptrdiff_t>(g.x_channel * sizeof(float));
  const size_t weights = g.channels * kConvPanel, *shift = g.shift;
  const float* panel = g.a + i / kConvPanel * g.a_panel;
  V s0 = bias_at(g, i, vl), s1 = s0, s2 = s0;
  if constexpr (R > 1) s1 = bias_at(g, i + 1, vl);
  if constexpr (R > 2) s2 = bias_at(g, i + 2, vl);
  for (size_t t = 0; t < g.taps; ++t, panel += g.a_tap) {
    const float* x = g.x + shift[t] + j;
    const float* const end = panel + weights;
#pragma GCC unroll 2
    for (const float* a = panel; a != end; a += kConvPanel, x = byte_offset(x, channel)) {
      const V v = load<V>(x, vl);
      s0 = __riscv_vfmacc(s0, a[0], v, vl);
      if constexpr (R > 1) s1 = __riscv_vfmacc(s1, a[1], v, vl);
      if constexpr (R > 2) s2 = __riscv_vfmacc(s2, a[2], v, vl);
    }
  }
  float* y = g.y + i * g.y_row + j;
  store(y, s0, vl);
  if constexpr (R > 1) store(y + g.y_row, s1, vl);
  if constexpr (R > 2) store(y + 2 * g.y_row, s2, vl);
}

// One filter on one channel: what a depthwise convolution is made of.
TENON_INLINE void filter(const ConvArgs& g, size_t j, size_t vl) {
  const auto tap = static_cast<ptrdiff_t>(g.a_tap * sizeof(float));
  const float *a = g.a, *const x = g.x + j;
  V sum = bias_at(g, 0, vl);
#pragma GCC unroll 4
  for (const size_t *shift = g.shift, *end = shift + g.taps; shift != end; ++shift) {
    sum = __riscv_vfmacc(sum, *a, load<V>(x + *shift, vl), vl);
    a = byte_offset(a, tap);
  }
  store(g.y + j, sum, vl);
}

}  // namespace

void TENON_KERNEL(conv_f32_f32_f32)(const ConvArgs& g) noexcept {
  const size_t whole = g.m / kConvPanel * kConvPanel;
  for (size_t j = 0, vl; j < g.n; j += vl) {
    vl = Width<V>::lanes_of(g.n - j);
    if (g.m == 1 && g.channels == 1) {
      filter(g, j, vl);
      continue;
    }
    for (size_t i = 0; i < whole; i += kConvPanel) tile<3>(g, i, j, vl);
    if (g.m - whole == 2) tile<2>(g, whole, j, vl);
    if (g.m - whole == 1) tile<1>(g, whole, j, vl);
  }
}

}  // namespace tenon
