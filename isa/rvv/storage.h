// Loads and stores of RVV kernels: n elements of a storage type as the first n lanes of f32, and
// loops over them. Included by isa/rvv/vec.h, never alone.
#pragma once
#include <riscv_vector.h>

#include "isa/types.h"

// What a source stamps for each storage type: every type in isa/rvv, and from the same source the
// one type that the CPU converts by itself in isa/rvv/zvfhmin and isa/rvv/zvfbfmin.
#define TENON_YES(...) __VA_ARGS__
#define TENON_NO(...)
#if defined(__riscv_zvfhmin)
#define TENON_STAMP_float TENON_NO
#define TENON_STAMP_bf16 TENON_NO
#define TENON_STAMP_f16 TENON_YES
#elif defined(__riscv_zvfbfmin)
#define TENON_STAMP_float TENON_NO
#define TENON_STAMP_bf16 TENON_YES
#define TENON_STAMP_f16 TENON_NO
#else
#define TENON_STAMP_float TENON_YES
#define TENON_STAMP_bf16 TENON_YES
#define TENON_STAMP_f16 TENON_YES
#endif

namespace tenon {
namespace {

// Register groups by how many vectors a kernel keeps alive: the wider, the fewer instructions an
// element, until spills take it back.
using Few = vfloat32m8_t;
using Many = vfloat32m4_t;

// The conversions of isa/types.h, which are exact the one way and round to nearest even the other.
#define TENON_RVV_HALF(type, name, h)                    \
  TENON_INLINE auto as_##name(vuint16##h##_t x) {        \
    return __riscv_vreinterpret_v_u16##h##_##name##h(x); \
  }                                                      \
  TENON_INLINE auto as_bits(v##type##16##h##_t x) {      \
    return __riscv_vreinterpret_v_##name##h##_u16##h(x); \
  }
#define TENON_RVV_HALVES(type, name) \
  TENON_RVV_HALF(type, name, mf2)    \
  TENON_RVV_HALF(type, name, m1) TENON_RVV_HALF(type, name, m2) TENON_RVV_HALF(type, name, m4)

#if defined(__riscv_zvfbfmin)
TENON_RVV_HALVES(bfloat, bf16)
template <class V, class Half>
TENON_INLINE V widen_bf16(Half h, size_t n) {
  return __riscv_vfwcvtbf16_f(as_bf16(h), n);
}
template <class V>
TENON_INLINE auto narrow_bf16(V x) {
  return as_bits(__riscv_vfncvtbf16_f(x, lanes<V>()));
}
#else
template <class V, class Half>
TENON_INLINE V widen_bf16(Half h, size_t n) {
  return Width<V>::of(__riscv_vsll(__riscv_vzext_vf2(h, n), 16, n));
}
// vnclipu rounds what it shifts out to nearest even, as vxrm says, and the numbers of f32 leave
// nothing to clip. Of a NaN the upper half must stay one: those that arithmetic gives and those
// that were a bf16 have nothing to shift out, and others are to go through canonical() before.
template <class V>
TENON_INLINE auto narrow_bf16(V x) {
  return __riscv_vnclipu(Width<V>::unsigned_bits(x), 16, __RISCV_VXRM_RNE, lanes<V>());
}
#endif
// x with any NaN as the one that arithmetic gives: -0 is the number that adds nothing.
template <class V>
TENON_INLINE V canonical(V x) {
  return __riscv_vfadd(x, held(-0.0f), lanes<V>());
}

#if defined(__riscv_zvfhmin)
TENON_RVV_HALVES(float, f16)
template <class V, class Half>
TENON_INLINE V widen_f16(Half h, size_t n) {
  return __riscv_vfwcvt_f(as_f16(h), n);
}
template <class V>
TENON_INLINE auto narrow_f16(V x) {
  return as_bits(__riscv_vfncvt_f(x, lanes<V>()));
}
#else
// Sign, exponent and mantissa in their places, the exponent 112 too small: multiplying by 2^112 is
// exact and normalises subnormals. Infinity and NaN get their exponent by hand.
template <class V, class Half>
TENON_INLINE V widen_f16(Half h, size_t n) {
  const auto wide = __riscv_vsll(Width<V>::sign_extended(h, n), 13, n);
  const auto u = __riscv_vand(wide, held(0x8fffe000u), n);
  const auto special = __riscv_vmsgtu(__riscv_vsll(u, 1, n), held((0x7c00u << 14) - 1), n);
  return __riscv_vfmul(Width<V>::of(__riscv_vor_mu(special, u, u, held(0x7f800000u), n)),
                       held(0x1p112f), n);
}
template <class V>
TENON_INLINE auto narrow_f16(V x) {
  const size_t vl = lanes<V>();
  const V a = abs(x);
  // Below 2^-14 adding 1/2 aligns the last bit of a subnormal with bit 0.
  const auto aligned = Width<V>::unsigned_bits(add(a, Constant{0.5f}));
  const auto small = __riscv_vsub(aligned, held(0x3f000000u), vl);
  // The last bit of others is bit 13. 65536 and more are infinity.
  const auto rebiased = __riscv_vsub(Width<V>::unsigned_bits(a), held(0x38000000u), vl);
  const auto large = __riscv_vminu(rebiased, held(0x7c00u << 13), vl);
  auto h = __riscv_vnclipu(small, 0, __RISCV_VXRM_RNE, vl);
  h = __riscv_vnclipu_mu(ge(a, Constant{0x1p-14f}), h, large, 13, __RISCV_VXRM_RNE, vl);
  h = __riscv_vminu(h, held(uint16_t{0x7e00}), vl);  // a NaN's bits are clipped to more
  return __riscv_vmacc(h, held(uint16_t{0x8000}), __riscv_vnsrl(Width<V>::unsigned_bits(x), 31, vl),
                       vl);
}
#endif

template <class V>
TENON_INLINE V load(const float* p, size_t n) {
  return Width<V>::load(p, n);
}
template <class V>
TENON_INLINE V load(const bf16* p, size_t n) {
  return widen_bf16<V>(Width<V>::load_half(p, n), n);
}
template <class V>
TENON_INLINE V load(const f16* p, size_t n) {
  return widen_f16<V>(Width<V>::load_half(p, n), n);
}
// Elements `stride` bytes apart.
template <class V>
TENON_INLINE V load(const float* p, ptrdiff_t stride, size_t n) {
  return Width<V>::load(p, stride, n);
}
template <class V>
TENON_INLINE V load(const bf16* p, ptrdiff_t stride, size_t n) {
  return widen_bf16<V>(Width<V>::load_half(p, stride, n), n);
}
template <class V>
TENON_INLINE V load(const f16* p, ptrdiff_t stride, size_t n) {
  return widen_f16<V>(Width<V>::load_half(p, stride, n), n);
}
template <class V>
TENON_INLINE void store(float* p, V x, size_t n) {
  __riscv_vse32(p, x, n);
}
template <class V>
TENON_INLINE void store(bf16* p, V x, size_t n) {
  __riscv_vse16(reinterpret_cast<uint16_t*>(p), narrow_bf16(x), n);
}
template <class V>
TENON_INLINE void store(f16* p, V x, size_t n) {
  __riscv_vse16(reinterpret_cast<uint16_t*>(p), narrow_f16(x), n);
}

// p moved by bytes.
template <class T>
TENON_INLINE T* byte_offset(T* p, ptrdiff_t bytes) {
  using Byte = std::conditional_t<std::is_const_v<T>, const char, char>;
  return reinterpret_cast<T*>(reinterpret_cast<Byte*>(p) + bytes);
}

// p + n, the bytes of n elements in a register of their own.
template <class T>
TENON_INLINE T* ahead(T* p, size_t n) {
  return byte_offset(p, static_cast<ptrdiff_t>(held(n * sizeof(T))));
}

// y[i] = f(x[i]) over any storage types.
template <class V, class X, class Y, class F>
TENON_INLINE void map(size_t n, const X* x, Y* y, F f) {
  const size_t step = lanes<V>(), rest = n & (step - 1);
  for (const X* end = held(x + (n - rest)); x != end; x = ahead(x, step), y = ahead(y, step))
    store(y, f(load<V>(x, step)), step);
  if (rest > 0) store(y, f(load<V>(x, rest)), rest);
}
// y[i] = f(a[i], b[i]) over any storage types.
template <class V, class A, class B, class Y, class F>
TENON_INLINE void map(size_t n, const A* a, const B* b, Y* y, F f) {
  const size_t step = lanes<V>(), rest = n & (step - 1);
  for (const A* end = held(a + (n - rest)); a != end;
       a = ahead(a, step), b = ahead(b, step), y = ahead(y, step))
    store(y, f(load<V>(a, step), load<V>(b, step)), step);
  if (rest > 0) store(y, f(load<V>(a, rest), load<V>(b, rest)), rest);
}

}  // namespace
}  // namespace tenon
