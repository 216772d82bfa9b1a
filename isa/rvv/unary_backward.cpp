// Backward of the activations for RVV: isa/unary_backward.h says what each computes.
#include "isa/unary_backward.h"

#include "isa/rvv/vec.h"

namespace tenon {
namespace {

constexpr Live kind_relu_backward = Live::kSome, kind_sigmoid_backward = Live::kSome;
constexpr Live kind_tanh_backward = Live::kSome, kind_silu_backward = Live::kMany;
constexpr Live kind_gelu_backward = Live::kMany, kind_gelu_tanh_backward = Live::kMany;

}  // namespace

#define UNARY_BACKWARD_OF(op, T, live, s, f)                                                \
  void TENON_KERNEL(op)(size_t n, const void* dy, const void* saved, void* dx) noexcept {   \
    using V = Group<T, live>;                                                               \
    map<V>(n, static_cast<const T*>(dy), static_cast<const T*>(saved), static_cast<T*>(dx), \
           [](V d, V s) __attribute__((always_inline)) { return f; });                      \
  }
#define UNARY_BACKWARD(op, bound, s, ...)                         \
  UNARY_BACKWARD_OF(op##_f32, float, kind_##op, s, (__VA_ARGS__)) \
  UNARY_BACKWARD_OF(op##_bf16, bf16, kind_##op, s, (__VA_ARGS__)) \
  UNARY_BACKWARD_OF(op##_f16, f16, kind_##op, s, (__VA_ARGS__))
#include "isa/unary_backward.inc"

}  // namespace tenon
