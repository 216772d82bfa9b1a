// Vectors of f32 for RVV kernels of any VLEN: the vocabulary of isa/math.h, and loads and stores of
// every storage type. Compiled into one object per ISA folder; everything here is internal to it.
//
// V is vfloat32m1_t, m2, m4 or m8. Arithmetic runs over whole vectors and only loads and stores
// take a count, so that the compiler sets vl once, outside the loop; what stands in the lanes
// beyond a tail is never stored.
#pragma once
#include <riscv_vector.h>

#include "isa/types.h"

// TENON_KERNEL(relu_f32) is the symbol of this folder's relu_f32: relu_f32_rvv.
#define TENON_KERNEL(op) TENON_JOIN(op, TENON_ISA_FOLDER)
#define TENON_JOIN(op, folder) TENON_JOIN_(op, folder)
#define TENON_JOIN_(op, folder) op##_##folder

namespace tenon {
namespace {

// What differs in name from one register group to another: `l` the group of f32, `h` that of 16-bit
// elements.
template <class V>
struct Width;
#define TENON_RVV_WIDTH(l, h)                                                                    \
  template <>                                                                                    \
  struct Width<vfloat32##l##_t> {                                                                \
    using V = vfloat32##l##_t;                                                                   \
    using I = vint32##l##_t;                                                                     \
    using U = vuint32##l##_t;                                                                    \
    using Half = vuint16##h##_t;                                                                 \
    TENON_INLINE_MEMBER static size_t lanes() { return __riscv_vsetvlmax_e32##l(); }             \
    TENON_INLINE_MEMBER static size_t lanes_of(size_t n) { return __riscv_vsetvl_e32##l(n); }    \
    TENON_INLINE_MEMBER static V splat(float x, size_t n = lanes()) {                            \
      return __riscv_vfmv_v_f_f32##l(x, n);                                                      \
    }                                                                                            \
    TENON_INLINE_MEMBER static I bits(V x) { return __riscv_vreinterpret_v_f32##l##_i32##l(x); } \
    TENON_INLINE_MEMBER static U unsigned_bits(V x) {                                            \
      return __riscv_vreinterpret_v_f32##l##_u32##l(x);                                          \
    }                                                                                            \
    TENON_INLINE_MEMBER static V of(I x) { return __riscv_vreinterpret_v_i32##l##_f32##l(x); }   \
    TENON_INLINE_MEMBER static V of(U x) { return __riscv_vreinterpret_v_u32##l##_f32##l(x); }   \
    TENON_INLINE_MEMBER static V load(const float* p, size_t n) {                                \
      return __riscv_vle32_v_f32##l(p, n);                                                       \
    }                                                                                            \
    TENON_INLINE_MEMBER static V load(const float* p, ptrdiff_t stride, size_t n) {              \
      return __riscv_vlse32_v_f32##l(p, stride, n);                                              \
    }                                                                                            \
    TENON_INLINE_MEMBER static Half load_half(const void* p, size_t n) {                         \
      return __riscv_vle16_v_u16##h(static_cast<const uint16_t*>(p), n);                         \
    }                                                                                            \
    TENON_INLINE_MEMBER static Half load_half(const void* p, ptrdiff_t stride, size_t n) {       \
      return __riscv_vlse16_v_u16##h(static_cast<const uint16_t*>(p), stride, n);                \
    }                                                                                            \
    TENON_INLINE_MEMBER static U sign_extended(Half x, size_t n) {                               \
      return __riscv_vreinterpret_v_i32##l##_u32##l(                                             \
          __riscv_vsext_vf2(__riscv_vreinterpret_v_u16##h##_i16##h(x), n));                      \
    }                                                                                            \
  };
TENON_RVV_WIDTH(m1, mf2)
TENON_RVV_WIDTH(m2, m1)
TENON_RVV_WIDTH(m4, m2)
TENON_RVV_WIDTH(m8, m4)
#undef TENON_RVV_WIDTH

// How many f32 a V holds on the thread that asks: cores of one machine may differ.
template <class V>
TENON_INLINE size_t lanes() {
  return Width<V>::lanes();
}

// x in a register of its own, whatever the compiler knows of it: it would count a third number down
// beside two pointers, or make a constant anew in every step of a loop, out of two or three
// instructions.
template <class T>
TENON_INLINE T held(T x) {
  if constexpr (std::is_same_v<T, float>)
    __asm__("" : "+f"(x));
  else
    __asm__("" : "+r"(x));
  return x;
}

// A number beside vectors: an operand that instructions take as it is, or broadcast where they do
// not.
struct Constant {
  float value;
};
TENON_INLINE Constant neg(Constant c) { return {-c.value}; }
template <class V>
TENON_INLINE V broadcast(Constant c) {
  return Width<V>::splat(held(c.value));
}

// The vocabulary of isa/math.h.
template <class V>
TENON_INLINE Constant splat(float x) {
  return {x};
}
#define TENON_RVV_BINARY(name, instruction)                     \
  template <class V>                                            \
  TENON_INLINE auto name(V a, V b) {                            \
    return __riscv_##instruction(a, b, lanes<V>());             \
  }                                                             \
  template <class V>                                            \
  TENON_INLINE auto name(V a, Constant b) {                     \
    return __riscv_##instruction(a, held(b.value), lanes<V>()); \
  }
TENON_RVV_BINARY(sub, vfsub)
TENON_RVV_BINARY(mul, vfmul)
TENON_RVV_BINARY(div, vfdiv)
TENON_RVV_BINARY(copysign, vfsgnj)  // (magnitude, sign)
TENON_RVV_BINARY(lt, vmflt)
TENON_RVV_BINARY(gt, vmfgt)
TENON_RVV_BINARY(le, vmfle)
TENON_RVV_BINARY(ge, vmfge)
TENON_RVV_BINARY(eq, vmfeq)
TENON_RVV_BINARY(ne, vmfne)
#undef TENON_RVV_BINARY
template <class V>
TENON_INLINE V add(V a, V b) {
  return __riscv_vfadd(a, b, lanes<V>());
}
// Adding -0 changes nothing.
template <class V>
TENON_INLINE V add(V a, Constant b) {
  if (__builtin_constant_p(b.value) && bits_of(b.value) == 0x80000000u) return a;
  return __riscv_vfadd(a, held(b.value), lanes<V>());
}
template <class V>
TENON_INLINE V add(Constant a, V b) {
  return add(b, a);
}
template <class V>
TENON_INLINE V mul(Constant a, V b) {
  return mul(b, a);
}
template <class V>
TENON_INLINE V sub(Constant a, V b) {
  return __riscv_vfrsub(b, held(a.value), lanes<V>());
}
template <class V>
TENON_INLINE V div(Constant a, V b) {
  return __riscv_vfrdiv(b, held(a.value), lanes<V>());
}
template <class V>
TENON_INLINE V neg(V x) {
  return __riscv_vfneg(x, lanes<V>());
}
template <class V>
TENON_INLINE V abs(V x) {
  return __riscv_vfabs(x, lanes<V>());
}
template <class V>
TENON_INLINE V minus_abs(V x) {
  return copysign(x, Constant{-1.0f});
}
template <class V>
TENON_INLINE V sqrt(V x) {
  return __riscv_vfsqrt(x, lanes<V>());
}
template <class V>
TENON_INLINE V fma(V a, V b, V c) {
  return __riscv_vfmacc(c, a, b, lanes<V>());
}
template <class V>
TENON_INLINE V fma(V a, Constant b, V c) {
  return __riscv_vfmacc(c, held(b.value), a, lanes<V>());
}
template <class V>
TENON_INLINE V fma(Constant a, V b, V c) {
  return fma(b, a, c);
}
template <class V>
TENON_INLINE V fma(V a, V b, Constant c) {
  return fma(a, b, broadcast<V>(c));
}
template <class V>
TENON_INLINE V fma(V a, Constant b, Constant c) {
  return fma(a, b, broadcast<V>(c));
}
template <class V>
TENON_INLINE V fma(Constant a, V b, Constant c) {
  return fma(b, a, broadcast<V>(c));
}
template <class Mask, class V>
TENON_INLINE V select(Mask m, V a, V b) {
  return __riscv_vmerge(b, a, m, lanes<V>());
}
template <class Mask, class V>
TENON_INLINE V select(Mask m, Constant a, V b) {
  return __riscv_vfmerge(b, held(a.value), m, lanes<V>());
}
template <class Mask, class V>
TENON_INLINE V select(Mask m, V a, Constant b) {
  return select(m, a, broadcast<V>(b));
}
// Adding 1.5 2^23 rounds to an integer n, which is then in the sum's last bits; less 2 for scale().
constexpr float kRound = 0x1.8p23f - 2.0f;
template <class V>
TENON_INLINE V rounded(V x) {
  return add(x, Constant{kRound});
}
template <class V>
TENON_INLINE V number(V n) {
  return sub(n, Constant{kRound});
}
// n - 2 is added to the exponent as far as the result is normal; what is left of n, 2 or less, is a
// factor, which overflows and rounds. Of a NaN the last bits are zero, so that it stays one.
template <class V>
TENON_INLINE V scale(V x, V n) {
  const size_t vl = lanes<V>();
  const auto power = __riscv_vsll(Width<V>::bits(n), 23, vl);
  const auto normal = __riscv_vmax(power, held(-(100 << 23)), vl);
  const auto left = __riscv_vadd(__riscv_vsub(power, normal, vl), held(0x40800000), vl);
  return mul(Width<V>::of(__riscv_vadd(Width<V>::bits(x), normal, vl)), Width<V>::of(left));
}
template <class V>
TENON_INLINE V pow2_shifted(V t) {
  const size_t vl = lanes<V>();
  return Width<V>::of(__riscv_vadd(__riscv_vsll(Width<V>::bits(t), 23, vl), 0x3f800000, vl));
}
// x, positive and normal, as the returned mantissa in [2/3, 4/3) times 2^exponent.
template <class V>
TENON_INLINE V split_exponent(V x, V& exponent) {
  const size_t vl = lanes<V>();
  const auto u = Width<V>::bits(x);
  const auto n = __riscv_vsra(__riscv_vsub(u, kTwoThirds, vl), 23, vl);
  exponent = __riscv_vfcvt_f(n, vl);
  return Width<V>::of(__riscv_vsub(u, __riscv_vsll(n, 23, vl), vl));
}

}  // namespace
}  // namespace tenon

// Last: they are written in the vocabulary above.
#include "isa/math.h"
#include "isa/rvv/storage.h"
