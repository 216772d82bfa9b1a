// Backward of the activations for RVV: isa/unary_backward.h says what each computes.
#include "isa/unary_backward.h"

#include "isa/rvv/vec.h"

namespace tenon {
namespace {

using Group_relu_backward = Few;
using Group_sigmoid_backward = Few;
using Group_tanh_backward = Few;
using Group_silu_backward = Many;
using Group_gelu_backward = Many;
using Group_gelu_tanh_backward = Many;

}  // namespace

#define UNARY_BACKWARD_OF(op, T, Group, s, f)                                               \
  void TENON_KERNEL(op)(size_t n, const void* dy, const void* saved, void* dx) noexcept {   \
    using V = Group;                                                                        \
    map<V>(n, static_cast<const T*>(dy), static_cast<const T*>(saved), static_cast<T*>(dx), \
           [](V d, V s) __attribute__((always_inline)) { return f; });                      \
  }
#define UNARY_BACKWARD(op, bound, s, ...)                                                \
  TENON_STAMP_float(UNARY_BACKWARD_OF(op##_f32, float, Group_##op, s, (__VA_ARGS__)))    \
      TENON_STAMP_bf16(UNARY_BACKWARD_OF(op##_bf16, bf16, Group_##op, s, (__VA_ARGS__))) \
          TENON_STAMP_f16(UNARY_BACKWARD_OF(op##_f16, f16, Group_##op, s, (__VA_ARGS__)))
#include "isa/unary_backward.inc"

}  // namespace tenon
