// Reference panels: isa/gemm_panels.h and isa/gemm_panel_pack.h say what each computes.
#include "isa/gemm_panels.h"

#include "isa/gemm_panel_pack.h"
#include "isa/types.h"

namespace tenon {
namespace {

// Where element p of row j stands.
size_t place(const PanelLayout& l, size_t k, size_t j, size_t p) {
  return j / l.width * l.size(k) + p % l.lanes * l.lane(k) + p / l.lanes * l.width + j % l.width;
}

template <class X>
TENON_INLINE void pack(const GemmPanelPackArgs& g) {
  const PanelLayout& l = g.layout;
  const size_t rows = (g.n + l.width - 1) / l.width * l.width;
  for (size_t j = 0; j < rows; ++j)
    for (size_t p = 0; p < l.steps(g.k) * l.lanes; ++p) {
      const char* x = static_cast<const char*>(g.x) + static_cast<ptrdiff_t>(j) * g.x_row +
                      static_cast<ptrdiff_t>(p) * g.x_column;
      const bool there = j < g.n && p < g.k;
      g.panels[place(l, g.k, j, p)] = there ? to_f32(*reinterpret_cast<const X*>(x)) : 0.0f;
    }
}

}  // namespace

void gemm_panels_f32_f32_f32_ref(const GemmPanelsArgs& g) noexcept {
  constexpr PanelShape shape = panel_shape(kNone);
  constexpr PanelLayout a{shape.lanes, shape.rows}, b{shape.lanes, shape.columns};
  for (size_t i = 0; i < g.m; ++i) {
    char* y = reinterpret_cast<char*>(g.y) + static_cast<ptrdiff_t>(i) * g.y_row;
    for (size_t j = 0; j < g.n; ++j) {
      float sum = 0;
      for (size_t p = 0; p < g.k; ++p) sum += g.a[place(a, g.k, i, p)] * g.b[place(b, g.k, j, p)];
      reinterpret_cast<float*>(y)[j] = sum;
    }
  }
}

void gemm_panel_pack_f32_f32_ref(const GemmPanelPackArgs& g) noexcept { pack<float>(g); }
void gemm_panel_pack_f32_bf16_ref(const GemmPanelPackArgs& g) noexcept { pack<bf16>(g); }
void gemm_panel_pack_f32_f16_ref(const GemmPanelPackArgs& g) noexcept { pack<f16>(g); }

}  // namespace tenon
