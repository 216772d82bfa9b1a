// Transcendental functions of f32 as polynomials. Every step is one fused or single operation in a
// fixed order, so V = F32 (isa/simd) and V = Scalar (isa/ref) give the same bits.
//
// Included by isa/simd/vec.h and isa/ref/scalar.h, never alone. V offers + - * / and unary minus,
// and as free functions fma(a, b, c), splat<V>(float), select(mask, a, b), round_even(v), pow2(v)
// (2^v for integral v in [-126, 127]), exponent_of(v) and mantissa_of(v, exponent) of a positive
// normal v (v = mantissa * 2^exponent with the mantissa in [sqrt(1/2), sqrt(2))); comparisons give
// the mask that select takes. Names end in _f32 because argument-dependent lookup would otherwise
// prefer xsimd's functions of the same name.
#pragma once
#include "isa/types.h"

namespace tenon {
namespace {

// exp_f32(x) is e^x within 1 ulp of the true value for every x, subnormal results included.
// x = n ln 2 + r with |r| <= ln(2)/2, ln 2 in two parts (Cody and Waite, 1980); exp(r) is the
// polynomial of Moshier's Cephes expf; 2^n is applied in two factors so that neither overflows.
template <class V>
TENON_INLINE V exp_f32(V x) {
  const V high = splat<V>(89.0f), low = splat<V>(-104.0f);
  V z = select(x > high, high, x);
  z = select(z < low, low, z);  // a NaN fails both comparisons and stays
  const V n = round_even(z * splat<V>(0x1.715476p+0f));
  V r = fma(n, splat<V>(-0x1.62e4p-1f), z);
  r = fma(n, splat<V>(-0x1.7f7d1cp-20f), r);
  V p = splat<V>(1.9875691500e-4f);
  p = fma(p, r, splat<V>(1.3981999507e-3f));
  p = fma(p, r, splat<V>(8.3334519073e-3f));
  p = fma(p, r, splat<V>(4.1665795894e-2f));
  p = fma(p, r, splat<V>(1.6666665459e-1f));
  p = fma(p, r, splat<V>(5.0000001201e-1f));
  p = fma(p * r, r, r) + splat<V>(1.0f);
  const V half = round_even(n * splat<V>(0.5f));
  return p * pow2(half) * pow2(n - half);
}

// Adding and subtracting kShift rounds to an integer, which is then in the sum's last bits.
constexpr float kShift = 0x1.8p23f;

// exp_fall_f32(x) is e^x within 1 ulp of the true value for x <= 0, and zero where that is below
// 2^-126; a NaN stays one. About half of exp_f32's work, for the softmax family, where x is a
// distance from a maximum. exp(r) is 1 + r + r^2 q(r), q the minimax polynomial of degree 4.
template <class V>
TENON_INLINE V exp_fall_f32(V x) {
  const V t = fma(x, splat<V>(0x1.715476p+0f), splat<V>(kShift));
  const V n = t - splat<V>(kShift);
  V r = fma(n, splat<V>(-0x1.62e4p-1f), x);
  r = fma(n, splat<V>(-0x1.7f7d1cp-20f), r);
  V p = splat<V>(0x1.6a24p-10f);
  p = fma(p, r, splat<V>(0x1.123a02p-7f));
  p = fma(p, r, splat<V>(0x1.5558f2p-5f));
  p = fma(p, r, splat<V>(0x1.555492p-3f));
  p = fma(p, r, splat<V>(0x1.fffffcp-2f));
  p = fma(p, r, splat<V>(1.0f));
  p = fma(p, r, splat<V>(1.0f));
  const V lowest = splat<V>(-0x1.5d589ep+6f);  // ln 2^-126
  return select(x < lowest, splat<V>(0.0f), p * pow2_shifted(t));
}

// log_f32(x) is ln x within 1 ulp of the true value for every x. x = m 2^n with m in
// [sqrt(1/2), sqrt(2)), so that n = 0 around 1 and nothing cancels; ln m is the polynomial of
// Moshier's Cephes logf; n ln 2 is added in two parts (Cody and Waite, 1980).
template <class V>
TENON_INLINE V log_f32(V x) {
  const V zero = splat<V>(0.0f), normal = splat<V>(0x1p-126f);
  const V z = select(x < normal, x * splat<V>(0x1p24f), x);
  const V exponent = exponent_of(z);
  const V f = mantissa_of(z, exponent) - splat<V>(1.0f), square = f * f;
  const V n = select(x < normal, exponent - splat<V>(24.0f), exponent);
  V p = splat<V>(7.0376836292e-2f);
  p = fma(p, f, splat<V>(-1.1514610310e-1f));
  p = fma(p, f, splat<V>(1.1676998740e-1f));
  p = fma(p, f, splat<V>(-1.2420140846e-1f));
  p = fma(p, f, splat<V>(1.4249322787e-1f));
  p = fma(p, f, splat<V>(-1.6668057665e-1f));
  p = fma(p, f, splat<V>(2.0000714765e-1f));
  p = fma(p, f, splat<V>(-2.4999993993e-1f));
  p = fma(p, f, splat<V>(3.3333331174e-1f));
  p = fma(p * f, square, n * splat<V>(-2.12194440e-4f));
  p = fma(square, splat<V>(-0.5f), p);
  V y = fma(n, splat<V>(0.693359375f), f + p);
  const V infinity = splat<V>(float_of(0x7f800000u));
  y = select(x == zero, -infinity, y);
  y = select(x < zero, splat<V>(float_of(0x7fc00000u)), y);
  y = select(x < infinity, y, x);  // infinity and NaN are their own logarithms
  return y;
}

}  // namespace
}  // namespace tenon
