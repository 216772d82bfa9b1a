// Backward of the activations over xsimd: isa/unary_backward.h says what each computes.
#include "isa/unary_backward.h"

#include "isa/simd/vec.h"

namespace tenon {

using V = F32;

#define UNARY_BACKWARD_OF(op, T, s, f)                                                    \
  void TENON_KERNEL(op)(size_t n, const void* dy, const void* saved, void* dx) noexcept { \
    map(n, static_cast<const T*>(dy), static_cast<const T*>(saved), static_cast<T*>(dx),  \
        [](V d, V s) { return f; });                                                      \
  }
#define UNARY_BACKWARD(op, bound, s, ...)              \
  UNARY_BACKWARD_OF(op##_f32, float, s, (__VA_ARGS__)) \
  UNARY_BACKWARD_OF(op##_bf16, bf16, s, (__VA_ARGS__)) \
  UNARY_BACKWARD_OF(op##_f16, f16, s, (__VA_ARGS__))
#include "isa/unary_backward.inc"

}  // namespace tenon
