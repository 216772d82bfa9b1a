// Packing into panels for RVV: isa/gemm_panel_pack.h says what each does.
#include "isa/gemm_panel_pack.h"

#include "isa/rvv/strided.h"

namespace tenon {
namespace {

using V = vfloat32m4_t;

template <class X>
struct Packing {
  const GemmPanelPackArgs& g;
  size_t lanes, width, lane;  // of the layout; lane: elements from lane to lane

  const X* from(size_t j, size_t p) const {
    return byte_offset(static_cast<const X*>(g.x), static_cast<ptrdiff_t>(j) * g.x_row +
                                                       static_cast<ptrdiff_t>(p) * g.x_column);
  }
};

TENON_INLINE void fill_zeros(float* to, size_t n) {
  const vfloat32m8_t zero = broadcast<vfloat32m8_t>({0.0f});
  for (size_t vl; n > 0; n -= vl, to += vl) {
    vl = n < tenon::lanes<vfloat32m8_t>() ? n : tenon::lanes<vfloat32m8_t>();
    __riscv_vse32(to, zero, vl);
  }
}

// Row j, contiguous along k, to its place in a panel: a run of steps goes to as many lanes.
template <class X>
TENON_INLINE void place_row(const Packing<X>& x, size_t j, float* to) {
  const auto apart = static_cast<ptrdiff_t>(x.lane * sizeof(float));
  const X* from = x.from(j, 0);
  for (size_t p = 0; p < x.g.k; p += x.lanes, to += x.width) {
    const size_t n = x.g.k - p < x.lanes ? x.g.k - p : x.lanes;
    for (size_t l = 0, vl; l < n; l += vl) {
      vl = n - l < tenon::lanes<V>() ? n - l : tenon::lanes<V>();
      __riscv_vsse32(to + l * x.lane, apart, load<V>(from + p + l, vl), vl);
    }
  }
}

// Step p of rows [j, j + n), to the beginning of a panel's step.
template <class X>
TENON_INLINE void place_step(const Packing<X>& x, size_t j, size_t n, size_t p, float* to) {
  for (size_t i = 0, vl; i < n; i += vl) {
    vl = n - i < tenon::lanes<V>() ? n - i : tenon::lanes<V>();
    store(to + i, load_at(x.from(j + i, p), x.g.x_row, vl), vl);
  }
}

template <class X>
TENON_INLINE void pack(const GemmPanelPackArgs& g) {
  const Packing<X> x{g, g.layout.lanes, g.layout.width, g.layout.lane(g.k)};
  float* panel = g.panels;
  for (size_t j = 0; j < g.n; j += x.width, panel += g.layout.size(g.k)) {
    const size_t n = g.n - j < x.width ? g.n - j : x.width;
    if (n < x.width || g.k % x.lanes != 0) fill_zeros(panel, g.layout.size(g.k));
    if (g.x_column == sizeof(X)) {
      for (size_t i = 0; i < n; ++i) place_row(x, j + i, panel + i);
      continue;
    }
    for (size_t p = 0; p < g.k; ++p)
      place_step(x, j, n, p, panel + p % x.lanes * x.lane + p / x.lanes * x.width);
  }
}

}  // namespace

void TENON_KERNEL(gemm_panel_pack_f32_f32)(const GemmPanelPackArgs& g) noexcept { pack<float>(g); }
void TENON_KERNEL(gemm_panel_pack_f32_bf16)(const GemmPanelPackArgs& g) noexcept { pack<bf16>(g); }
void TENON_KERNEL(gemm_panel_pack_f32_f16)(const GemmPanelPackArgs& g) noexcept { pack<f16>(g); }

}  // namespace tenon
