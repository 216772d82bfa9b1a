// The vocabulary of isa/math.h for vectors of f32. Included by the isa/simd/vec_*.h of each ISA,
// where Arch and kLanes are known; what instructions differ in follows there.
#pragma once
#include <xsimd/xsimd.hpp>

#include "isa/types.h"

namespace tenon {
namespace {

using F32 = xsimd::batch<float, Arch>;
using I32 = xsimd::batch<int32_t, Arch>;
using Mask = xsimd::batch_bool<float, Arch>;
static_assert(kLanes == F32::size);

template <class V>
TENON_INLINE V splat(float x) {
  return V(x);
}
TENON_INLINE F32 fma(F32 a, F32 b, F32 c) { return xsimd::fma(a, b, c); }
TENON_INLINE F32 select(Mask m, F32 a, F32 b) { return xsimd::select(m, a, b); }
TENON_INLINE F32 rounded(F32 x);
TENON_INLINE F32 div(F32 a, F32 b);
TENON_INLINE F32 sqrt(F32 x);
TENON_INLINE F32 number(F32 n) { return n; }
TENON_INLINE F32 abs(F32 x) { return xsimd::abs(x); }
TENON_INLINE F32 minus_abs(F32 x) { return x | F32(-0.0f); }
TENON_INLINE F32 copysign(F32 magnitude, F32 sign) { return xsimd::copysign(magnitude, sign); }
TENON_INLINE F32 pow2(F32 x) {
  const I32 n = xsimd::to_int(x);
  return xsimd::bitwise_cast<float>((n + I32(127)) << 23);
}
// In two factors, so that neither overflows and only the second product rounds.
TENON_INLINE F32 scale(F32 x, F32 n) {
  const F32 half = rounded(n * F32(0.5f));
  return x * pow2(half) * pow2(n - half);
}
TENON_INLINE F32 pow2_shifted(F32 t) {
  const I32 bits = xsimd::bitwise_cast<int32_t>(t);
  return xsimd::bitwise_cast<float>((bits << 23) + I32(0x3f800000));
}
// x, positive and normal, as the returned mantissa in [2/3, 4/3) times 2^exponent.
TENON_INLINE F32 split_exponent(F32 x, F32& exponent) {
  const I32 bits = xsimd::bitwise_cast<int32_t>(x);
  const I32 n = (bits - I32(kTwoThirds)) >> 23;
  exponent = xsimd::to_float(n);
  return xsimd::bitwise_cast<float>(bits - (n << 23));
}

TENON_INLINE F32 load(const float* p) { return F32::load_unaligned(p); }
TENON_INLINE void store(float* p, F32 x) { x.store_unaligned(p); }

}  // namespace
}  // namespace tenon
