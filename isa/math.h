// Transcendental functions of f32 as polynomials. Every step is one fused or single operation in a
// fixed order, so V = F32 of isa/simd and isa/rvv and V = Scalar of isa/ref give the same bits.
//
// Included by isa/simd/vec.h, isa/rvv/vec.h and isa/ref/scalar.h, never alone. V may be a type that
// takes no operators and is no member of a class, as RVV's are, so all of the vocabulary is free
// functions: add, sub, mul, div, neg, fma(a, b, c), splat<V>(float), sqrt, abs, minus_abs,
// copysign(magnitude, sign), the comparisons lt, gt, le and eq with select(mask, a, b), rounded(v)
// (|v| < 2^22 to the nearest integer n, ties to even, in a form that number() turns into n),
// scale(v, rounded) (v 2^n for 0.7 <= v <= 1.5 and n in [-151, 129], rounded once), pow2_shifted
// (kShift below) and split_exponent. splat may give a type of its own, which these functions take in
// the place of a V.
// Names end in _f32 because argument-dependent lookup would otherwise prefer xsimd's functions of
// the same name.
//
// The bounds named here (kExpUlp, ...) stand in isa/unary.h.
#pragma once
#include "isa/types.h"

namespace tenon {

namespace {

// The polynomial c[0] + c[1] x + ... + c[N-1] x^(N-1).
template <class V, size_t N>
TENON_INLINE V horner_f32(V x, const float (&c)[N]) {
  V p = fma(x, splat<V>(c[N - 1]), splat<V>(c[N - 2]));
  for (size_t i = N - 2; i > 0; --i) p = fma(p, x, splat<V>(c[i - 1]));
  return p;
}

// x = n ln 2 + r with integral n and |r| <= ln(2)/2; ln 2 in two parts (Cody and Waite, 1980), the
// first short enough that n times it is exact. Returns r.
template <class V>
TENON_INLINE V reduce_f32(V x, V& n) {
  n = rounded(mul(x, splat<V>(0x1.715476p+0f)));
  const V whole = number(n);
  return fma(whole, splat<V>(-0x1.7f7d1cp-20f), fma(whole, splat<V>(-0x1.62e4p-1f), x));
}

// (e^r - 1) / r for |r| <= ln(2)/2 as 1 + r (1/2 + ...): Remez fits of relative error 2^-28.
template <class V>
TENON_INLINE V expm1_over_r_f32(V r) {
  constexpr float c[] = {0x1p+0f,        0x1p-1f,        0x1.55548ep-3f,
                         0x1.55545ep-5f, 0x1.123b92p-7f, 0x1.6db47ep-10f};
  return horner_f32(r, c);
}

// e^(x + tail) within kExpUlp for x <= 89, subnormal results included, and a tail too small to show
// in x: what the rounding of x lost.
template <class V, class Tail>
TENON_INLINE V exp_below_89_f32(V x, Tail tail) {
  const auto low = splat<V>(-104.0f), one = splat<V>(1.0f);
  V n;
  const V r = add(reduce_f32(select(lt(x, low), low, x), n), tail);  // a NaN fails and stays
  return scale(fma(expm1_over_r_f32(r), r, one), n);
}
template <class V>
TENON_INLINE V exp_below_89_f32(V x) {
  return exp_below_89_f32(x, splat<V>(-0.0f));
}
// e^x within kExpUlp for every x.
template <class V>
TENON_INLINE V exp_f32(V x) {
  const auto high = splat<V>(89.0f);
  return exp_below_89_f32(select(gt(x, high), high, x));
}

// ln x within kLogUlp for every x. x = 2^k (1 + f) with 1 + f in [2/3, 4/3]; ln(1 + f) is
// f + f^2 P(f), and k ln 2 comes in two parts of which the first is exact.
template <class V>
TENON_INLINE V log_f32(V x) {
  constexpr float c[] = {-0x1p-1f,        0x1.555558p-2f, -0x1.ffff0ep-3f, 0x1.9995f6p-3f,
                         -0x1.55993ap-3f, 0x1.25207cp-3f, -0x1.f384d4p-4f, 0x1.b4b0aep-4f,
                         -0x1.071be8p-3f, 0x1.fa2e86p-4f};
  const auto zero = splat<V>(0.0f), infinity = splat<V>(__builtin_inff());
  const auto subnormal = lt(x, splat<V>(0x1p-126f));
  V k;
  const V m = split_exponent(select(subnormal, mul(x, splat<V>(0x1p23f)), x), k);
  k = select(subnormal, sub(k, splat<V>(23.0f)), k);
  const V f = sub(m, splat<V>(1.0f));
  const V low = fma(k, splat<V>(0x1.7f7d1cp-20f), mul(mul(f, f), horner_f32(f, c)));
  V y = fma(k, splat<V>(0x1.62e4p-1f), add(f, low));
  y = select(lt(x, infinity), y, x);  // NaN and infinity are their own logarithms
  y = select(eq(x, zero), neg(infinity), y);
  return select(lt(x, zero), splat<V>(__builtin_nanf("")), y);
}

// tanh x within kTanhUlp: an odd polynomial below 5/8, 1 - 2 / (e^2|x| + 1) above.
template <class V>
TENON_INLINE V tanh_f32(V x) {
  constexpr float c[] = {-0x1.555532p-2f, 0x1.110726p-3f, -0x1.b83c5ap-5f, 0x1.52269ap-6f,
                         -0x1.75e1cap-8f};
  const auto one = splat<V>(1.0f), two = splat<V>(2.0f);
  const V a = abs(x), s = mul(x, x);
  const V small = fma(mul(x, s), horner_f32(s, c), x);
  const V large = sub(one, div(two, add(exp_f32(add(a, a)), one)));
  return copysign(select(lt(a, splat<V>(0.625f)), small, large), x);  // of -0 as well
}

// 1 / (1 + e^-x) within kSigmoidUlp, through e^-|x|, which cannot overflow.
template <class V>
TENON_INLINE V sigmoid_f32(V x) {
  const auto one = splat<V>(1.0f);
  const V e = exp_below_89_f32(minus_abs(x));
  return div(select(lt(x, splat<V>(0.0f)), e, one), add(one, e));
}

// x / (1 + e^-x) within kSiluUlp; NaN at minus infinity, as ATen's.
template <class V>
TENON_INLINE V silu_f32(V x) {
  const auto one = splat<V>(1.0f);
  const V e = exp_below_89_f32(minus_abs(x));
  return div(mul(x, select(lt(x, splat<V>(0.0f)), e, one)), add(one, e));
}

// Phi, the normal distribution function, as two polynomials: below 1, Phi(x) = 1/2 + x P(x^2);
// above, Phi(-a) = e^(-a^2/2) Q(2v - 1) / (a + 3), v = a / (a + 3).
constexpr float kNormalNear[] = {0x1.988454p-2f,   -0x1.105826p-4f, 0x1.46cc3ep-7f,
                                 -0x1.36d8aep-10f, 0x1.d9c178p-14f, -0x1.f4d38ep-18f};
constexpr float kNormalFar[] = {0x1.754a76p-1f,  -0x1.04c726p-1f, 0x1.d71306p-3f,
                                -0x1.833234p-5f, -0x1.563d1ep-7f, 0x1.c9a72cp-8f,
                                0x1.dcbbd6p-11f, -0x1.0beddep-10f};

// |x|, or 15 where that is smaller: e^(-15^2/2) and what falls faster round to zero.
template <class V>
TENON_INLINE V abs_to_15_f32(V x) {
  const auto cap = splat<V>(15.0f);
  const V a = abs(x);
  return select(gt(a, cap), cap, a);
}

// x Phi(x) within kGeluUlp, Phi the normal distribution function; NaN at minus infinity, as ATen's.
// Q stays between 0.4 and 1.05 where Phi(-a) falls to nothing, so one polynomial serves and the
// result is as exact far out as it is near.
template <class V>
TENON_INLINE V gelu_f32(V x) {
  const auto one = splat<V>(1.0f), three = splat<V>(3.0f), half = splat<V>(0.5f);
  const V near = mul(x, fma(x, horner_f32(mul(x, x), kNormalNear), half)), a = abs_to_15_f32(x);
  const V b = mul(a, half), square = mul(a, b);
  const V e = exp_below_89_f32(neg(square), neg(fma(a, b, neg(square))));
  const V v = div(a, add(a, three)), t = fma(splat<V>(2.0f), v, neg(one));
  const V tail = mul(mul(v, horner_f32(t, kNormalFar)), e);
  const auto zero = splat<V>(0.0f);
  return select(lt(a, one), near, sub(select(lt(x, zero), mul(x, zero), x), tail));
}

// e^-2u of a >= 0 for u = sqrt(2/pi) (a + 0.044715 a^3). 2u is computed in two parts: its rounding
// alone would show 60-fold in the result where that is small.
template <class V>
TENON_INLINE V gelu_tanh_fall_f32(V a) {
  const auto a_high = splat<V>(0x1.9884p+0f), a_low = splat<V>(0x1.4cf50e0000000p-18f);
  const auto b_high = splat<V>(0x1.2444f2p-4f), b_low = splat<V>(0x1.49b16ap-29f);
  const V s = mul(a, a), s_low = fma(a, a, neg(s));
  const V c = fma(s, b_high, a_high);  // a_high is short, so that c - a_high is exact
  const V c_low = fma(s_low, b_high, add(fma(s, b_high, sub(a_high, c)), fma(s, b_low, a_low)));
  const V w = mul(a, c), w_low = fma(a, c_low, fma(a, c, neg(w)));
  return exp_below_89_f32(neg(w), neg(w_low));
}

// x (1 + tanh u) / 2 = x sigmoid(2u) with u = sqrt(2/pi) (x + 0.044715 x^3), within kGeluTanhUlp.
template <class V>
TENON_INLINE V gelu_tanh_f32(V x) {
  const auto one = splat<V>(1.0f), zero = splat<V>(0.0f);
  const V e = gelu_tanh_fall_f32(abs_to_15_f32(x));
  return div(mul(x, select(lt(x, zero), e, one)), add(one, e));
}

// Derivatives of silu and the two gelus at x, NaN at the infinities, as ATen's. With s a sigmoid,
// s (1 - s) is e r r with r = 1 / (1 + e), e = e^-|..|: nothing cancels.
template <class V>
TENON_INLINE V silu_derivative_f32(V x) {
  const auto one = splat<V>(1.0f);
  const V e = exp_below_89_f32(minus_abs(x)), r = div(one, add(one, e)), t = mul(e, r);
  return fma(mul(x, t), r, select(lt(x, splat<V>(0.0f)), t, r));
}

template <class V>
TENON_INLINE V gelu_tanh_derivative_f32(V x) {
  const auto one = splat<V>(1.0f);
  const V a = abs_to_15_f32(x), e = gelu_tanh_fall_f32(a);
  const V r = div(one, add(one, e)), t = mul(e, r);
  const V slope = fma(mul(a, a), splat<V>(0x1.b6676cp-3f), splat<V>(0x1.988454p+0f));  // 2 du/dx
  return fma(mul(mul(x, t), r), slope, select(lt(x, splat<V>(0.0f)), t, r));
}

// Phi(x) + x e^(-x^2/2) / sqrt(2 pi).
template <class V>
TENON_INLINE V gelu_derivative_f32(V x) {
  const auto one = splat<V>(1.0f), three = splat<V>(3.0f), half = splat<V>(0.5f);
  const V a = abs_to_15_f32(x), b = mul(a, half), square = mul(a, b);
  const V e = exp_below_89_f32(neg(square), neg(fma(a, b, neg(square))));
  const V t = fma(splat<V>(2.0f), div(a, add(a, three)), neg(one));
  const V tail = div(mul(e, horner_f32(t, kNormalFar)), add(a, three));
  const V far = select(lt(x, splat<V>(0.0f)), tail, sub(one, tail));
  const V near = fma(x, horner_f32(mul(x, x), kNormalNear), half);
  return fma(mul(x, e), splat<V>(0x1.988454p-2f), select(lt(a, one), near, far));
}

// Adding and subtracting kShift rounds to an integer, which is then in the sum's last bits.
constexpr float kShift = 0x1.8p23f;

// exp_fall_f32(x) is e^x within 1 ulp of the true value for x <= 0, and zero where that is below
// 2^-126; a NaN stays one. About half of exp_f32's work, for the softmax family, where x is a
// distance from a maximum. exp(r) is 1 + r + r^2 q(r), q the minimax polynomial of degree 4.
template <class V>
TENON_INLINE V exp_fall_f32(V x) {
  const auto lowest = splat<V>(-0x1.5d589ep+6f);  // ln 2^-126
  const auto far = splat<V>(-0x1.601e68p+6f);     // ln 2^-127, whose power of two comes out as zero
  x = select(lt(x, lowest), far, x);
  const V t = fma(x, splat<V>(0x1.715476p+0f), splat<V>(kShift));
  const V n = sub(t, splat<V>(kShift));
  V r = fma(n, splat<V>(-0x1.62e4p-1f), x);
  r = fma(n, splat<V>(-0x1.7f7d1cp-20f), r);
  V p = fma(r, splat<V>(0x1.6a24p-10f), splat<V>(0x1.123a02p-7f));
  p = fma(p, r, splat<V>(0x1.5558f2p-5f));
  p = fma(p, r, splat<V>(0x1.555492p-3f));
  p = fma(p, r, splat<V>(0x1.fffffcp-2f));
  p = fma(p, r, splat<V>(1.0f));
  p = fma(p, r, splat<V>(1.0f));
  return mul(p, pow2_shifted(t));
}

}  // namespace
}  // namespace tenon
