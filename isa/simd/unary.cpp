// Unary element-wise kernels over xsimd: isa/unary.h says what each computes.
#include "isa/unary.h"

#include "isa/simd/vec.h"

namespace tenon {

using V = F32;

#define UNARY_OF(op, T, f)                                                       \
  void TENON_KERNEL(op)(size_t n, const void* x, void* y) noexcept {             \
    map(n, static_cast<const T*>(x), static_cast<T*>(y), [](V v) { return f; }); \
  }
#define UNARY(op, bound, ...)              \
  UNARY_OF(op##_f32, float, (__VA_ARGS__)) \
  UNARY_OF(op##_bf16, bf16, (__VA_ARGS__)) \
  UNARY_OF(op##_f16, f16, (__VA_ARGS__))
#include "isa/unary.inc"

}  // namespace tenon
