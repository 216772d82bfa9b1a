// Unary element-wise kernels over xsimd: isa/unary.h says what each computes.
#include "isa/unary.h"

#include "isa/simd/vec.h"

namespace tenon {

#define UNARY(op, T, f)                                                                 \
  void TENON_KERNEL(op)(size_t n, const void* x, void* y) noexcept {                    \
    map(n, static_cast<const T*>(x), static_cast<T*>(y), [](F32 v) { return f; });      \
  }

UNARY(exp_f32, float, exp_f32(v))
UNARY(log_f32, float, log_f32(v))

}  // namespace tenon
