// Unary element-wise kernels for RVV: isa/unary.h says what each computes.
#include "isa/unary.h"

#include "isa/rvv/vec.h"

namespace tenon {

#define UNARY_OF(op, T, f)                                           \
  void TENON_KERNEL(op)(size_t n, const void* x, void* y) noexcept { \
    using V = vfloat32m4_t;                                          \
    map<V>(n, static_cast<const T*>(x), static_cast<T*>(y),          \
           [](V v) __attribute__((always_inline)) { return f; });    \
  }
#define UNARY(op, bound, ...)              \
  UNARY_OF(op##_f32, float, (__VA_ARGS__)) \
  UNARY_OF(op##_bf16, bf16, (__VA_ARGS__)) \
  UNARY_OF(op##_f16, f16, (__VA_ARGS__))
#include "isa/unary.inc"

}  // namespace tenon
