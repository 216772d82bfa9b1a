// Unary element-wise reference kernels: isa/unary.h says what each computes.
#include "isa/unary.h"

#include "isa/ref/scalar.h"

namespace tenon {

using V = Scalar;

#define UNARY_OF(op, T, f)                                   \
  void op##_ref(size_t n, const void* x, void* y) noexcept { \
    for (size_t i = 0; i < n; ++i) {                         \
      const V v{to_f32(static_cast<const T*>(x)[i])};        \
      static_cast<T*>(y)[i] = from_f32<T>((f).v);            \
    }                                                        \
  }
#define UNARY(op, bound, ...)              \
  UNARY_OF(op##_f32, float, (__VA_ARGS__)) \
  UNARY_OF(op##_bf16, bf16, (__VA_ARGS__)) \
  UNARY_OF(op##_f16, f16, (__VA_ARGS__))
#include "isa/unary.inc"

}  // namespace tenon
