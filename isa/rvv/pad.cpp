// Padding for RVV: isa/pad.h says what it computes. What lies right of one row of x and left of the
// next is filled at once.
#include "isa/pad.h"

#include "isa/rvv/vec.h"

namespace tenon {
namespace {

template <class T>
using Vector = std::conditional_t<std::is_same_v<T, float>, Few, Many>;

TENON_INLINE float* fill_up(float* y, size_t n, float value) {
  const Few all = Width<Few>::splat(value);
  for (size_t vl; n > 0; n -= vl, y += vl) {
    vl = Width<Few>::lanes_of(n);
    store(y, all, vl);
  }
  return y;
}

template <class T>
TENON_INLINE float* copy(float* y, size_t n, const T* x, ptrdiff_t step) {
  using V = Vector<T>;
  for (size_t vl; n > 0; n -= vl, y += vl) {
    vl = Width<V>::lanes_of(n);
    store(y, step == sizeof(T) ? load<V>(x, vl) : load<V>(x, step, vl), vl);
    x = byte_offset(x, static_cast<ptrdiff_t>(vl) * step);
  }
  return y;
}

template <class T>
TENON_INLINE void pad(const PadArgs& g) {
  if (g.height == 0 || g.width == 0) return void(fill_up(g.y, g.rows * g.columns, g.fill));
  const size_t right = g.columns - g.left - g.width;
  const T* x = static_cast<const T*>(g.x);
  float* y = fill_up(g.y, g.top * g.columns + g.left, g.fill);
  for (size_t i = g.height; i > 1; --i, x = byte_offset(x, g.x_row))
    y = fill_up(copy(y, g.width, x, g.x_column), right + g.left, g.fill);
  fill_up(copy(y, g.width, x, g.x_column), right + (g.rows - g.top - g.height) * g.columns, g.fill);
}

}  // namespace

void TENON_KERNEL(pad_f32_f32)(const PadArgs& args) noexcept { pad<float>(args); }
void TENON_KERNEL(pad_f32_bf16)(const PadArgs& args) noexcept { pad<bf16>(args); }
void TENON_KERNEL(pad_f32_f16)(const PadArgs& args) noexcept { pad<f16>(args); }

}  // namespace tenon
