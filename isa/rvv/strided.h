// Loads of elements that lie apart, and copies of matrices between layouts, for packing.
#pragma once
#include "isa/rvv/vec.h"

namespace tenon {
namespace {

// n elements `stride` bytes apart, as f32.
TENON_INLINE vfloat32m4_t load_apart(const float* p, ptrdiff_t stride, size_t n) {
  return __riscv_vlse32_v_f32m4(p, stride, n);
}
TENON_INLINE vfloat32m4_t load_apart(const bf16* p, ptrdiff_t stride, size_t n) {
  return widen_bf16<vfloat32m4_t>(
      __riscv_vlse16_v_u16m2(reinterpret_cast<const uint16_t*>(p), stride, n), n);
}
TENON_INLINE vfloat32m4_t load_apart(const f16* p, ptrdiff_t stride, size_t n) {
  return widen_f16<vfloat32m4_t>(
      __riscv_vlse16_v_u16m2(reinterpret_cast<const uint16_t*>(p), stride, n), n);
}

// One behind the other where they are.
template <class T>
TENON_INLINE vfloat32m4_t load_at(const T* p, ptrdiff_t stride, size_t n) {
  return stride == sizeof(T) ? load<vfloat32m4_t>(p, n) : load_apart(p, stride, n);
}

}  // namespace
}  // namespace tenon
