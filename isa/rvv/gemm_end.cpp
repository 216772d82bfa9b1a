// The ends of matrix products for RVV: isa/gemm_end.h says what each computes.
#include "isa/gemm_end.h"

#include "isa/rvv/vec.h"

namespace tenon {
namespace {

template <class T>
TENON_INLINE void end(const GemmEndArgs& g) {
  using V = Many;
  const Constant alpha{g.alpha}, beta{g.beta};
  const T* c = static_cast<const T*>(g.c);
  T* y = static_cast<T*>(g.y);
  if (c == nullptr || g.n == 0)
    return map<V>(g.n, g.x, y, [=](V x) __attribute__((always_inline)) { return mul(alpha, x); });
  if (g.c_step != 0)
    return map<V>(g.n, g.x, c, y, [=](V x, V added) __attribute__((always_inline)) {
      return fma(beta, added, mul(alpha, x));
    });
  const Constant one{to_f32(*c)};
  map<V>(g.n, g.x, y, [=](V x) __attribute__((always_inline)) {
    return fma(broadcast<V>(one), beta, mul(alpha, x));
  });
}

}  // namespace

void TENON_KERNEL(gemm_end_f32)(const GemmEndArgs& args) noexcept { end<float>(args); }
void TENON_KERNEL(gemm_end_bf16)(const GemmEndArgs& args) noexcept { end<bf16>(args); }
void TENON_KERNEL(gemm_end_f16)(const GemmEndArgs& args) noexcept { end<f16>(args); }

}  // namespace tenon
