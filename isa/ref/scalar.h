// One f32 with the vocabulary of isa/math.h: the portable twin of isa/simd/vec.h.
#pragma once
#include <cmath>

#include "isa/types.h"

namespace tenon {
namespace {

struct Scalar {
  float v;
};

TENON_INLINE Scalar operator+(Scalar a, Scalar b) { return {a.v + b.v}; }
TENON_INLINE Scalar operator-(Scalar a, Scalar b) { return {a.v - b.v}; }
TENON_INLINE Scalar operator*(Scalar a, Scalar b) { return {a.v * b.v}; }
TENON_INLINE Scalar operator/(Scalar a, Scalar b) { return {a.v / b.v}; }
TENON_INLINE Scalar operator-(Scalar a) { return {-a.v}; }
TENON_INLINE bool operator<(Scalar a, Scalar b) { return a.v < b.v; }
TENON_INLINE bool operator>(Scalar a, Scalar b) { return a.v > b.v; }
TENON_INLINE bool operator<=(Scalar a, Scalar b) { return a.v <= b.v; }
TENON_INLINE bool operator>=(Scalar a, Scalar b) { return a.v >= b.v; }
TENON_INLINE bool operator==(Scalar a, Scalar b) { return a.v == b.v; }

template <class V>
TENON_INLINE V splat(float x) {
  return {x};
}
TENON_INLINE Scalar fma(Scalar a, Scalar b, Scalar c) { return {std::fma(a.v, b.v, c.v)}; }
TENON_INLINE Scalar select(bool m, Scalar a, Scalar b) { return m ? a : b; }
TENON_INLINE Scalar round_even(Scalar x) { return {std::nearbyint(x.v)}; }
TENON_INLINE Scalar pow2(Scalar x) {
  return {float_of(static_cast<uint32_t>(static_cast<int32_t>(x.v) + 127) << 23)};
}
TENON_INLINE Scalar pow2_shifted(Scalar t) {
  return {float_of((bits_of(t.v) << 23) + bits_of(1.0f))};
}
// Counting the exponent from sqrt(1/2) instead of 1 is a subtraction on the bits.
TENON_INLINE Scalar exponent_of(Scalar x) {
  return {static_cast<float>(static_cast<int32_t>(bits_of(x.v) - 0x3f3504f3u) >> 23)};
}
TENON_INLINE Scalar mantissa_of(Scalar x, Scalar exponent) {
  return {float_of(bits_of(x.v) - (static_cast<uint32_t>(static_cast<int32_t>(exponent.v)) << 23))};
}

}  // namespace
}  // namespace tenon

// Last: it is written in the vocabulary above.
#include "isa/math.h"
