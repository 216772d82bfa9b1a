// Unary element-wise kernels for RVV: isa/unary.h says what each computes.
#include "isa/unary.h"

#include "isa/rvv/vec.h"

namespace tenon {
namespace {

using Group_relu = Few;
using Group_exp = Few;
using Group_log = Many;
using Group_tanh = Many;
using Group_sigmoid = Few;
using Group_silu = Few;
using Group_gelu = Many;
using Group_gelu_tanh = Many;
using Group_sqrt = Few;
using Group_rsqrt = Few;
using Group_reciprocal = Few;
using Group_square = Few;
using Group_cube = Few;
using Group_square_reciprocal = Few;

}  // namespace

#define UNARY_OF(op, T, Group, f)                                    \
  void TENON_KERNEL(op)(size_t n, const void* x, void* y) noexcept { \
    using V = Group;                                                 \
    map<V>(n, static_cast<const T*>(x), static_cast<T*>(y),          \
           [](V v) __attribute__((always_inline)) { return f; });    \
  }
#define UNARY(op, bound, ...)                                                \
  TENON_STAMP_float(UNARY_OF(op##_f32, float, Group_##op, (__VA_ARGS__)))    \
      TENON_STAMP_bf16(UNARY_OF(op##_bf16, bf16, Group_##op, (__VA_ARGS__))) \
          TENON_STAMP_f16(UNARY_OF(op##_f16, f16, Group_##op, (__VA_ARGS__)))
#include "isa/unary.inc"

}  // namespace tenon
