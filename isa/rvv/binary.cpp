// Element-wise kernels of two operands, and of a tensor and a number, for RVV: isa/binary.h and
// isa/binary_scalar.h say what each computes.
#include "isa/binary.h"

#include "isa/binary_scalar.h"
#include "isa/rvv/vec.h"

namespace tenon {

#define BINARY_OF(op, T, f)                                                                       \
  void TENON_KERNEL(op)(size_t n, float scalar, const void* x, const void* z, void* y) noexcept { \
    using V = Few;                                                                                \
    [[maybe_unused]] const Constant s{scalar};                                                    \
    map<V>(n, static_cast<const T*>(x), static_cast<const T*>(z), static_cast<T*>(y),             \
           [=](V a, V b) __attribute__((always_inline)) { return f; });                           \
  }
#define BINARY(op, ...)                                           \
  TENON_STAMP_float(BINARY_OF(op##_f32, float, (__VA_ARGS__)))    \
      TENON_STAMP_bf16(BINARY_OF(op##_bf16, bf16, (__VA_ARGS__))) \
          TENON_STAMP_f16(BINARY_OF(op##_f16, f16, (__VA_ARGS__)))
#include "isa/binary.inc"

#define SCALAR_OF(op, T, f)                                                        \
  void TENON_KERNEL(op)(size_t n, float scalar, const void* x, void* y) noexcept { \
    using V = Few;                                                                 \
    const Constant s{scalar};                                                      \
    map<V>(n, static_cast<const T*>(x), static_cast<T*>(y),                        \
           [=](V a) __attribute__((always_inline)) { return f; });                 \
  }
#define BINARY_SCALAR(op, ...)                                    \
  TENON_STAMP_float(SCALAR_OF(op##_f32, float, (__VA_ARGS__)))    \
      TENON_STAMP_bf16(SCALAR_OF(op##_bf16, bf16, (__VA_ARGS__))) \
          TENON_STAMP_f16(SCALAR_OF(op##_f16, f16, (__VA_ARGS__)))
#include "isa/binary_scalar.inc"

}  // namespace tenon
