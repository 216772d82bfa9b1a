// Unary element-wise kernels for RVV: isa/unary.h says what each computes.
#include "isa/unary.h"

#include "isa/rvv/vec.h"

namespace tenon {
namespace {

constexpr Live kind_relu = Live::kFew, kind_sqrt = Live::kFew, kind_rsqrt = Live::kFew;
constexpr Live kind_reciprocal = Live::kFew, kind_square = Live::kFew, kind_cube = Live::kFew;
constexpr Live kind_square_reciprocal = Live::kFew;
constexpr Live kind_exp = Live::kSome, kind_sigmoid = Live::kSome, kind_silu = Live::kSome;
constexpr Live kind_log = Live::kSome, kind_gelu_tanh = Live::kSome;
constexpr Live kind_tanh = Live::kMany, kind_gelu = Live::kMany;

}  // namespace

#define UNARY_OF(op, T, live, f)                                     \
  void TENON_KERNEL(op)(size_t n, const void* x, void* y) noexcept { \
    using V = Group<T, live>;                                        \
    map<V>(n, static_cast<const T*>(x), static_cast<T*>(y),          \
           [](V v) __attribute__((always_inline)) { return f; });    \
  }
#define UNARY(op, bound, ...)                         \
  UNARY_OF(op##_f32, float, kind_##op, (__VA_ARGS__)) \
  UNARY_OF(op##_bf16, bf16, kind_##op, (__VA_ARGS__)) \
  UNARY_OF(op##_f16, f16, kind_##op, (__VA_ARGS__))
#include "isa/unary.inc"

}  // namespace tenon
