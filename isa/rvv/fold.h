// The sum of a vector's lanes in halves, and what joins two elements of a reduction.
#pragma once
#include "isa/rvv/vec.h"

namespace tenon {
namespace {

struct Add {
  static constexpr float kIdentity = 0.0f;
  template <class V>
  TENON_INLINE V join(V a, V b, size_t vl) {
    return __riscv_vfadd(a, b, vl);
  }
};

// Lanes folded in halves, in no wider registers than they need.
template <class Op>
TENON_INLINE float fold_16(vfloat32m4_t x) {
  const auto m2 = Op::join(__riscv_vlmul_trunc_f32m2(x),
                           __riscv_vlmul_trunc_f32m2(__riscv_vslidedown(x, 8, 8)), 8);
  auto m1 = Op::join(__riscv_vlmul_trunc_f32m1(m2),
                     __riscv_vlmul_trunc_f32m1(__riscv_vslidedown(m2, 4, 4)), 4);
  m1 = Op::join(m1, __riscv_vslidedown(m1, 2, 2), 2);
  return __riscv_vfmv_f(Op::join(m1, __riscv_vslidedown(m1, 1, 1), 1));
}

}  // namespace
}  // namespace tenon
