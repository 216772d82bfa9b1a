// What vectors of f32 on AVX2 and AVX-512 have in common. Included by their headers, where Arch and
// kLanes are known.
#pragma once
#include "isa/simd/f32.h"

namespace tenon {
namespace {

TENON_INLINE F32 rounded(F32 x) { return xsimd::nearbyint(x); }
TENON_INLINE F32 div(F32 a, F32 b) { return a / b; }
TENON_INLINE F32 sqrt(F32 x) { return xsimd::sqrt(x); }
// The larger number. Of equal operands the second, and where one is NaN: the second, or NaN.
TENON_INLINE F32 max_number(F32 a, F32 b) { return xsimd::max(a, b); }
TENON_INLINE F32 max_or_nan(F32 a, F32 b) { return xsimd::select(a == a, xsimd::max(a, b), a); }

// The lanes of a mask as bits, kMaskBits to a lane.
constexpr unsigned kMaskBits = 1;
TENON_INLINE uint64_t mask_bits(xsimd::batch_bool<float, Arch> m) { return m.mask(); }

// kSplats numbers from memory, each to be multiplied with a whole vector.
constexpr size_t kSplats = 1;
TENON_INLINE F32 load_splats(const float* p) { return F32(*p); }
template <size_t>
TENON_INLINE F32 fma_splat(F32 splats, F32 b, F32 c) {
  return xsimd::fma(splats, b, c);
}

}  // namespace
}  // namespace tenon
