// Inner products for RVV: isa/dot.h says what they compute.
//
// The 64 lanes of the sum lie in as few register groups as VLEN allows: one where m8 holds 64 f32,
// two at VLEN 128.
#include "isa/dot.h"

#include "isa/rvv/vec.h"

namespace tenon {
namespace {

using Sum = vfloat32m8_t;

// acc + x * y over the next n <= vl elements; the other lanes stay.
template <class T>
TENON_INLINE Sum add_products(Sum acc, const T* x, const T* y, size_t n) {
  if (n == 0) return acc;
  return __riscv_vfmacc_tu(acc, load<Sum>(x, n), load<Sum>(y, n), n);
}

TENON_INLINE float fold_lanes(Sum x, size_t count) {
  for (size_t half = count / 2; half > 0; half /= 2)
    x = __riscv_vfadd(x, __riscv_vslidedown(x, half, half), half);
  return __riscv_vfmv_f(x);
}

template <class T>
TENON_INLINE float dot(size_t n, const T* x, const T* y) {
  const size_t vl = lanes<Sum>() < kDotLanes ? lanes<Sum>() : kDotLanes;
  Sum low = broadcast<Sum>({0.0f}), high = low;  // lanes 0 to 31 and 32 to 63 where vl is 32
  for (; n >= kDotLanes; n -= kDotLanes, x += kDotLanes, y += kDotLanes) {
    low = add_products(low, x, y, vl);
    if (vl < kDotLanes) high = add_products(high, x + vl, y + vl, vl);
  }
  low = add_products(low, x, y, n < vl ? n : vl);
  if (n > vl) high = add_products(high, x + vl, y + vl, n - vl);
  return fold_lanes(vl < kDotLanes ? add(low, high) : low, vl);
}

}  // namespace

#define DOT(name, T)                                                          \
  float TENON_KERNEL(name)(size_t n, const void* x, const void* y) noexcept { \
    return dot<T>(n, static_cast<const T*>(x), static_cast<const T*>(y));     \
  }
DOT(dot_f32, float)
DOT(dot_bf16, bf16)
DOT(dot_f16, f16)
#undef DOT

}  // namespace tenon
