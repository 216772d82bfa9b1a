// The ends of matrix products over xsimd: isa/gemm_end.h says what each computes.
#include "isa/gemm_end.h"

#include "isa/simd/vec.h"

namespace tenon {
namespace {

// y = f(x, c), c stepping or standing.
template <class T, class F>
TENON_INLINE void with_c(const GemmEndArgs& g, const T* c, T* y, F f) {
  const F32 one(g.n > 0 ? to_f32(*c) : 0.0f);
  size_t i = 0;
  for (; i + kLanes <= g.n; i += kLanes)
    store(y + i, f(load(g.x + i), g.c_step == 0 ? one : load(c + i)));
  if (const size_t rest = g.n - i; rest > 0)
    store_n(y + i, f(load_n(g.x + i, rest), g.c_step == 0 ? one : load_n(c + i, rest)), rest);
}

template <class T>
TENON_INLINE void end(const GemmEndArgs& g) {
  T* y = static_cast<T*>(g.y);
  const F32 alpha(g.alpha), beta(g.beta);
  if (g.c == nullptr) return map(g.n, g.x, y, [=](F32 x) { return alpha * x; });
  with_c(g, static_cast<const T*>(g.c), y, [=](F32 x, F32 c) { return fma(beta, c, alpha * x); });
}

}  // namespace

void TENON_KERNEL(gemm_end_f32)(const GemmEndArgs& args) noexcept { end<float>(args); }
void TENON_KERNEL(gemm_end_bf16)(const GemmEndArgs& args) noexcept { end<bf16>(args); }
void TENON_KERNEL(gemm_end_f16)(const GemmEndArgs& args) noexcept { end<f16>(args); }

}  // namespace tenon
