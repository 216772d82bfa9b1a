// Convolution for RVV: isa/conv.h says what it computes.
//
// A register tile is three rows of weights and eight registers of positions: 24 of 32 registers are
// sums, and a vector of the input serves three multiply-adds. Panels of weights change fastest, so
// that the first cache keeps the positions: taps of a channel overlap.
#include "isa/conv.h"

#include "isa/rvv/vec.h"

namespace tenon {
namespace {

using V = vfloat32m8_t;

// step(a, x) for the weights and the plane of every tap and channel; kOne: there is one channel.
template <bool kOne, class Step>
TENON_INLINE void each_product(const ConvArgs& g, const float* a, const float* x, Step step) {
  const size_t* shift = g.shift;
  if constexpr (kOne) {
#pragma GCC unroll 4
    for (const size_t* end = shift + g.taps; shift != end; ++shift, a += g.a_tap)
      step(a, x + *shift);
    return;
  }
  for (size_t t = 0; t < g.taps; ++t, a += g.a_tap) {
    const float *w = a, *from = x + *shift++;
#pragma GCC unroll 4
    for (const float* end = a + g.channels * kConvPanel; w != end;
         w += kConvPanel, from += g.x_channel)
      step(w, from);
  }
}

// R rows of one panel, from row i on, for vl positions.
template <int R, bool kOne>
TENON_INLINE void tile(const ConvArgs& g, size_t i, size_t j, size_t vl) {
  const float* const none = nullptr;
  const float* bias = g.bias != none ? g.bias + i : none;
  V s0 = Width<V>::splat(bias != none ? bias[0] : 0.0f, vl), s1 = s0, s2 = s0;
  if constexpr (R > 1) s1 = Width<V>::splat(bias != none ? bias[1] : 0.0f, vl);
  if constexpr (R > 2) s2 = Width<V>::splat(bias != none ? bias[2] : 0.0f, vl);
  each_product<kOne>(g, g.a + i / kConvPanel * g.a_panel, g.x + j,
                     [&](const float* a, const float* x) __attribute__((always_inline)) {
                       const V v = load<V>(x, vl);
                       s0 = __riscv_vfmacc(s0, a[0], v, vl);
                       if constexpr (R > 1) s1 = __riscv_vfmacc(s1, a[1], v, vl);
                       if constexpr (R > 2) s2 = __riscv_vfmacc(s2, a[2], v, vl);
                     });
  float* y = g.y + i * g.y_row + j;
  store(y, s0, vl);
  if constexpr (R > 1) store(y + g.y_row, s1, vl);
  if constexpr (R > 2) store(y + 2 * g.y_row, s2, vl);
}

template <bool kOne>
TENON_INLINE void conv(const ConvArgs& g) {
  const size_t whole = g.m / kConvPanel * kConvPanel;
  for (size_t j = 0, vl; j < g.n; j += vl) {
    vl = Width<V>::lanes_of(g.n - j);
    for (size_t i = 0; i < whole; i += kConvPanel) tile<3, kOne>(g, i, j, vl);
    if (g.m - whole == 2) tile<2, kOne>(g, whole, j, vl);
    if (g.m - whole == 1) tile<1, kOne>(g, whole, j, vl);
  }
}

}  // namespace

void TENON_KERNEL(conv_f32_f32_f32)(const ConvArgs& args) noexcept {
  args.channels == 1 ? conv<true>(args) : conv<false>(args);
}

}  // namespace tenon
