// One f32 with the vocabulary of isa/math.h: the portable twin of isa/simd/vec.h.
#pragma once
#include <cmath>

#include "isa/types.h"

namespace tenon {
namespace {

struct Scalar {
  float v;
};

TENON_INLINE Scalar add(Scalar a, Scalar b) { return {a.v + b.v}; }
TENON_INLINE Scalar sub(Scalar a, Scalar b) { return {a.v - b.v}; }
TENON_INLINE Scalar mul(Scalar a, Scalar b) { return {a.v * b.v}; }
TENON_INLINE Scalar div(Scalar a, Scalar b) { return {a.v / b.v}; }
TENON_INLINE Scalar neg(Scalar a) { return {-a.v}; }
TENON_INLINE bool lt(Scalar a, Scalar b) { return a.v < b.v; }
TENON_INLINE bool gt(Scalar a, Scalar b) { return a.v > b.v; }
TENON_INLINE bool le(Scalar a, Scalar b) { return a.v <= b.v; }
TENON_INLINE bool eq(Scalar a, Scalar b) { return a.v == b.v; }

template <class V>
TENON_INLINE V splat(float x) {
  return {x};
}
TENON_INLINE Scalar fma(Scalar a, Scalar b, Scalar c) { return {std::fma(a.v, b.v, c.v)}; }
TENON_INLINE Scalar select(bool m, Scalar a, Scalar b) { return m ? a : b; }
TENON_INLINE Scalar rounded(Scalar x) { return {std::nearbyint(x.v)}; }
TENON_INLINE Scalar number(Scalar n) { return n; }
TENON_INLINE Scalar abs(Scalar x) { return {std::fabs(x.v)}; }
TENON_INLINE Scalar minus_abs(Scalar x) { return {-std::fabs(x.v)}; }
TENON_INLINE Scalar copysign(Scalar magnitude, Scalar sign) {
  return {std::copysign(magnitude.v, sign.v)};
}
TENON_INLINE Scalar sqrt(Scalar x) { return {std::sqrt(x.v)}; }
TENON_INLINE Scalar scale(Scalar x, Scalar n) {
  return std::isnan(x.v) ? x : Scalar{std::ldexp(x.v, static_cast<int>(n.v))};
}
TENON_INLINE Scalar pow2_shifted(Scalar t) {
  return {float_of((bits_of(t.v) << 23) + bits_of(1.0f))};
}
// x, positive and normal, as the returned mantissa in [2/3, 4/3) times 2^exponent.
TENON_INLINE Scalar split_exponent(Scalar x, Scalar& exponent) {
  const auto n = static_cast<int32_t>(bits_of(x.v) - uint32_t{kTwoThirds}) >> 23;
  exponent = {static_cast<float>(n)};
  return {float_of(bits_of(x.v) - (static_cast<uint32_t>(n) << 23))};
}

}  // namespace
}  // namespace tenon

// Last: it is written in the vocabulary above.
#include "isa/math.h"
