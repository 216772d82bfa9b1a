// Element-wise reference kernels of two operands, and of a tensor and a number: isa/binary.h and
// isa/binary_scalar.h say what each computes.
#include "isa/binary.h"

#include "isa/binary_scalar.h"
#include "isa/ref/scalar.h"

namespace tenon {

using V = Scalar;

#define BINARY_OF(op, T, f)                                                                   \
  void op##_ref(size_t n, float scalar, const void* x, const void* z, void* y) noexcept {     \
    [[maybe_unused]] const V s{scalar};                                                       \
    for (size_t i = 0; i < n; ++i) {                                                          \
      const V a{to_f32(static_cast<const T*>(x)[i])}, b{to_f32(static_cast<const T*>(z)[i])}; \
      static_cast<T*>(y)[i] = from_f32<T>((f).v);                                             \
    }                                                                                         \
  }
#define BINARY(op, ...)                     \
  BINARY_OF(op##_f32, float, (__VA_ARGS__)) \
  BINARY_OF(op##_bf16, bf16, (__VA_ARGS__)) \
  BINARY_OF(op##_f16, f16, (__VA_ARGS__))
#include "isa/binary.inc"

#define SCALAR_OF(op, T, f)                                                \
  void op##_ref(size_t n, float scalar, const void* x, void* y) noexcept { \
    const V s{scalar};                                                     \
    for (size_t i = 0; i < n; ++i) {                                       \
      const V a{to_f32(static_cast<const T*>(x)[i])};                      \
      static_cast<T*>(y)[i] = from_f32<T>((f).v);                          \
    }                                                                      \
  }
#define BINARY_SCALAR(op, ...)              \
  SCALAR_OF(op##_f32, float, (__VA_ARGS__)) \
  SCALAR_OF(op##_bf16, bf16, (__VA_ARGS__)) \
  SCALAR_OF(op##_f16, f16, (__VA_ARGS__))
#include "isa/binary_scalar.inc"

}  // namespace tenon
