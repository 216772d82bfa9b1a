// Backward of the activations, reference kernels: isa/unary_backward.h says what each computes.
#include "isa/unary_backward.h"

#include "isa/ref/scalar.h"

namespace tenon {

using V = Scalar;

#define UNARY_BACKWARD_OF(op, T, s, f)                                            \
  void op##_ref(size_t n, const void* dy, const void* saved, void* dx) noexcept { \
    for (size_t i = 0; i < n; ++i) {                                              \
      const V d{to_f32(static_cast<const T*>(dy)[i])};                            \
      const V s{to_f32(static_cast<const T*>(saved)[i])};                         \
      static_cast<T*>(dx)[i] = from_f32<T>((f).v);                                \
    }                                                                             \
  }
#define UNARY_BACKWARD(op, bound, s, ...)              \
  UNARY_BACKWARD_OF(op##_f32, float, s, (__VA_ARGS__)) \
  UNARY_BACKWARD_OF(op##_bf16, bf16, s, (__VA_ARGS__)) \
  UNARY_BACKWARD_OF(op##_f16, f16, s, (__VA_ARGS__))
#include "isa/unary_backward.inc"

}  // namespace tenon
