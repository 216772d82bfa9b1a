// What attention kernels need beside isa/math.h: exponentials of numbers that are not positive, and
// the logarithm of a row's sum. One fused or single operation per step, so V = F32 (isa/simd,
// isa/rvv) and V = Scalar (isa/ref) give the same bits.
//
// Included after isa/simd/vec.h or isa/ref/scalar.h and two functions of the includer:
// at_least(v, low) (a NaN stays) and shift_to_exponent(v) (the bits of v moved up by 23).
#pragma once
#include "isa/types.h"

namespace tenon {
namespace {

constexpr float kNoScore = -__builtin_inff();
// Sums over keys and decode's dot products: element i belongs to lane i mod 16 on every ISA.
constexpr size_t kSumLanes = 16;

// What scores are taken relative to: a row without any number keeps exp away from inf - inf.
TENON_INLINE float origin(float max) { return max == kNoScore ? 0.0f : max; }

// e^x for x <= 0, relative error (3 + |x| / 4) 2^-24; exactly 1 at 0 and exactly 0 below -87.7.
// x log2(e) = n + r with |r| <= 1/2. Adding `magic` rounds to n and leaves n + 127 in the low bits,
// which the shift makes 2^n (0 for n = -127). 2^r is a minimax polynomial (error 2^-23.4).
template <class V>
TENON_INLINE V exp_not_positive(V x) {
  const auto log2e = splat<V>(0x1.715476p+0f), magic = splat<V>(0x1.8p+23f + 127);
  const V z = at_least(x, -88.0f);
  const V t = fma(z, log2e, magic);
  const V n = sub(t, magic);
  const V r = fma(z, log2e, neg(n));
  V p = fma(splat<V>(0x1.5bba14p-10f), r, splat<V>(0x1.3cea88p-7f));
  p = fma(p, r, splat<V>(0x1.c6b752p-5f));
  p = fma(p, r, splat<V>(0x1.ebf9bcp-3f));
  p = fma(p, r, splat<V>(0x1.62e42ap-1f));
  p = fma(p, r, splat<V>(1.0f));
  return mul(p, shift_to_exponent(t));
}

// ln x for normal positive x within 2 ulp (Moshier's Cephes logf); NaN for NaN, infinity for
// infinity.
TENON_INLINE float log_of_sum(float x) {
  if (!(x < __builtin_inff())) return x;
  const uint32_t u = bits_of(x) - 0x3f3504f3u;  // sqrt(1/2), so that x = m 2^e, m in [0.707, 1.414)
  const float e = static_cast<float>(static_cast<int32_t>(u) >> 23);
  const float f = float_of((u & 0x7fffffu) + 0x3f3504f3u) - 1.0f;
  constexpr float kTail[] = {-1.1514610310e-1f, 1.1676998740e-1f,  -1.2420140846e-1f,
                             1.4249322787e-1f,  -1.6668057665e-1f, 2.0000714765e-1f,
                             -2.4999993993e-1f, 3.3333331174e-1f};
  float p = 7.0376836292e-2f;
  for (float c : kTail) p = __builtin_fmaf(p, f, c);
  p = __builtin_fmaf(p * f, f * f, e * -2.12194440e-4f);
  p = __builtin_fmaf(f * f, -0.5f, p);
  return __builtin_fmaf(e, 0.693359375f, f + p);
}

}  // namespace
}  // namespace tenon
