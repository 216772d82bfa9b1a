// Unary element-wise reference kernels: isa/unary.h says what each computes.
#include "isa/unary.h"

#include "isa/ref/scalar.h"

namespace tenon {

#define UNARY(op, T, f)                                                                   \
  void op##_ref(size_t n, const void* x, void* y) noexcept {                              \
    for (size_t i = 0; i < n; ++i) {                                                      \
      const Scalar v{to_f32(static_cast<const T*>(x)[i])};                                \
      static_cast<T*>(y)[i] = from_f32<T>((f).v);                                         \
    }                                                                                     \
  }

UNARY(exp_f32, float, exp_f32(v))
UNARY(log_f32, float, log_f32(v))

}  // namespace tenon
