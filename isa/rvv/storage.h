// Loads and stores of RVV kernels: n elements of a storage type as the first n lanes of f32, and
// loops over them. Included by isa/rvv/vec.h, never alone.
#pragma once
#include <riscv_vector.h>

#include "isa/types.h"

namespace tenon {
namespace {

// How many values a kernel keeps alive at a time, and so how wide its register groups may be. By
// instructions an element at VLEN 128 (./ci/run bench rv unary): wider is fewer until spills take
// it back. f16 without Zvfhmin is converted in integers, which needs registers of its own.
enum class Live { kFew, kSome, kMany };
#if defined(__riscv_zvfhmin)
template <class T>
constexpr bool kConvertsInIntegers = false;
#else
template <class T>
constexpr bool kConvertsInIntegers = std::is_same_v<T, f16>;
#endif
template <class T, Live live>
using Group =
    std::conditional_t<live == Live::kFew || (live == Live::kSome && !kConvertsInIntegers<T>),
                       vfloat32m8_t, vfloat32m4_t>;

// The conversions of isa/types.h, which are exact the one way and round to nearest even the other.
template <class V, class Half>
TENON_INLINE V widen_bf16(Half h, size_t n) {
  return Width<V>::of(__riscv_vsll(__riscv_vzext_vf2(h, n), 16, n));
}
// vnclipu rounds what it shifts out to nearest even, as vxrm says, and the numbers of f32 leave
// nothing to clip. Any NaN becomes c10::BFloat16's.
template <class V>
TENON_INLINE auto narrow_bf16(V x) {
  const size_t vl = lanes<V>();
  const auto h = __riscv_vnclipu(Width<V>::unsigned_bits(x), 16, __RISCV_VXRM_RNE, vl);
  return __riscv_vmerge(h, uint16_t{0x7fc0}, ne(x, x), vl);
}

#if defined(__riscv_zvfhmin)
#define TENON_RVV_F16(h)                                                                           \
  TENON_INLINE auto as_f16(vuint16##h##_t x) { return __riscv_vreinterpret_v_u16##h##_f16##h(x); } \
  TENON_INLINE auto as_bits(vfloat16##h##_t x) { return __riscv_vreinterpret_v_f16##h##_u16##h(x); }
TENON_RVV_F16(mf2)
TENON_RVV_F16(m1)
TENON_RVV_F16(m2)
TENON_RVV_F16(m4)
#undef TENON_RVV_F16
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
  const auto u = __riscv_vand(wide, 0x8fffe000u, n);
  const auto special = __riscv_vmsgtu(__riscv_vsll(u, 1, n), (0x7c00u << 14) - 1, n);
  return __riscv_vfmul(Width<V>::of(__riscv_vor_mu(special, u, u, 0x7f800000u, n)), 0x1p112f, n);
}
template <class V>
TENON_INLINE auto narrow_f16(V x) {
  const size_t vl = lanes<V>();
  const auto u = Width<V>::unsigned_bits(x);
  const auto sign = __riscv_vand(__riscv_vsrl(u, 16, vl), 0x8000u, vl);
  const auto magnitude = __riscv_vand(u, 0x7fffffffu, vl);
  // The mantissa's last kept bit is bit 13: round it to even there, and rebias the exponent.
  auto h = __riscv_vand(__riscv_vsrl(magnitude, 13, vl), 1u, vl);
  h = __riscv_vadd(__riscv_vadd(magnitude, h, vl), 0xfffu - 0x38000000u, vl);
  h = __riscv_vsrl(h, 13, vl);
  // Below 2^-14 adding 1/2 aligns the last bit of a subnormal with bit 0.
  const auto small = __riscv_vmsltu(magnitude, 0x38800000u, vl);
  const auto aligned = __riscv_vfadd(Width<V>::of(magnitude), 0.5f, vl);
  h = __riscv_vmerge(h, __riscv_vsub(Width<V>::unsigned_bits(aligned), 0x3f000000u, vl), small, vl);
  h = __riscv_vmerge(h, 0x7c00u, __riscv_vmsgtu(magnitude, 0x477fefffu, vl), vl);
  h = __riscv_vmerge(h, 0x7e00u, __riscv_vmsgtu(magnitude, 0x7f800000u, vl), vl);
  return __riscv_vnsrl(__riscv_vor(h, sign, vl), 0, vl);
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

// y[i] = f(x[i]) over any storage types.
template <class V, class X, class Y, class F>
TENON_INLINE void map(size_t n, const X* x, Y* y, F f) {
  const size_t step = lanes<V>(), rest = n & (step - 1);
  for (const X* end = x + (n - rest); x != end; x += step, y += step)
    store(y, f(load<V>(x, step)), step);
  if (rest > 0) store(y, f(load<V>(x, rest)), rest);
}
// y[i] = f(a[i], b[i]) over any storage types.
template <class V, class A, class B, class Y, class F>
TENON_INLINE void map(size_t n, const A* a, const B* b, Y* y, F f) {
  const size_t step = lanes<V>(), rest = n & (step - 1);
  for (const A* end = a + (n - rest); a != end; a += step, b += step, y += step)
    store(y, f(load<V>(a, step), load<V>(b, step)), step);
  if (rest > 0) store(y, f(load<V>(a, rest), load<V>(b, rest)), rest);
}

}  // namespace
}  // namespace tenon
