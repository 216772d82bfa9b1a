// Vectors of f32 on NEON: what isa/simd/vec.h, which includes this file, needs of an ISA.
#pragma once
#include <arm_neon.h>

#include <xsimd/xsimd.hpp>

#include "isa/cpu.h"

namespace tenon {
namespace {

using Arch = xsimd::neon64;
constexpr size_t kLanes = 4;
constexpr uint64_t kIsa = kNeon;
constexpr int kRegisters = 32;

}  // namespace
}  // namespace tenon

#include "isa/simd/f32.h"

namespace tenon {
namespace {

TENON_INLINE F32 rounded(F32 x) { return vrndnq_f32(x); }
// xsimd's are approximations.
TENON_INLINE F32 div(F32 a, F32 b) { return vdivq_f32(a, b); }
TENON_INLINE F32 sqrt(F32 x) { return vsqrtq_f32(x); }
// The larger number. Of equal operands either, and where one is NaN: the other, or NaN.
TENON_INLINE F32 max_number(F32 a, F32 b) { return vmaxnmq_f32(a, b); }
// Of equal operands the second.
TENON_INLINE F32 max_or_nan(F32 a, F32 b) {
  const float32x4_t most = vmaxq_f32(a, b);
  return vbslq_f32(vceqq_f32(most, b), b, most);
}

// The lanes of a mask as bits, kMaskBits to a lane.
constexpr unsigned kMaskBits = 16;
TENON_INLINE uint64_t mask_bits(Mask m) {
  return vget_lane_u64(vreinterpret_u64_u16(vmovn_u32(m)), 0);
}

// kSplats numbers from memory, each to be multiplied with a whole vector.
constexpr size_t kSplats = 4;
TENON_INLINE F32 load_splats(const float* p) { return vld1q_f32(p); }
template <size_t I>
TENON_INLINE F32 fma_splat(F32 splats, F32 b, F32 c) {
  return vfmaq_laneq_f32(c, b, splats, I);
}

TENON_INLINE float32x4_t widen_bf16(uint16x4_t h) {
  return vreinterpretq_f32_u32(vshll_n_u16(h, 16));
}
// Rounded to nearest even: half of the last kept bit's weight is added, less where the kept bits
// are even already.
TENON_INLINE uint16x4_t narrow_bf16(float32x4_t x) {
  const uint32x4_t nan = vdupq_n_u32(0x7fc00000);
  const uint32x4_t u = vbslq_u32(vceqq_f32(x, x), vreinterpretq_u32_f32(x), nan);
  return vaddhn_u32(u, vsraq_n_u32(vdupq_n_u32(0x7fff), vshlq_n_u32(u, 15), 31));
}
TENON_INLINE float32x4_t widen_f16(uint16x4_t h) { return vcvt_f32_f16(vreinterpret_f16_u16(h)); }
TENON_INLINE uint16x4_t narrow_f16(float32x4_t x) { return vreinterpret_u16_f16(vcvt_f16_f32(x)); }

// n < 4 elements, put together from the binary digits of n.
TENON_INLINE uint16x4_t load_n_16(const void* from, size_t n) {
  const char* p = static_cast<const char*>(from);
  uint32_t pair = 0;
  uint16_t one = 0;
  if (n & 1) std::memcpy(&one, p + 2 * (n & 2), 2);
  if (n & 2) std::memcpy(&pair, p, 4);
  return vcreate_u16(n & 2 ? uint64_t{one} << 32 | pair : one);
}
TENON_INLINE void store_n_16(void* to, uint16x4_t x, size_t n) {
  char* p = static_cast<char*>(to);
  uint64_t bits = vget_lane_u64(vreinterpret_u64_u16(x), 0);
  if (n & 2) {
    std::memcpy(p, &bits, 4);
    bits >>= 32;
  }
  if (n & 1) std::memcpy(p + 2 * (n & 2), &bits, 2);
}
TENON_INLINE float32x4_t load_n_32(const float* p, size_t n) {
  const float32x2_t zero = vdup_n_f32(0.0f);
  const float32x2_t rest = n & 1 ? vld1_lane_f32(p + (n & 2), zero, 0) : zero;
  return n & 2 ? vcombine_f32(vld1_f32(p), rest) : vcombine_f32(rest, zero);
}
TENON_INLINE void store_n_32(float* p, float32x4_t x, size_t n) {
  float32x2_t rest = vget_low_f32(x);
  if (n & 2) {
    vst1_f32(p, rest);
    rest = vget_high_f32(x);
  }
  if (n & 1) vst1_lane_f32(p + (n & 2), rest, 0);
}

TENON_INLINE F32 load(const bf16* p) {
  return widen_bf16(vld1_u16(reinterpret_cast<const uint16_t*>(p)));
}
TENON_INLINE F32 load(const f16* p) {
  return widen_f16(vld1_u16(reinterpret_cast<const uint16_t*>(p)));
}
TENON_INLINE void store(bf16* p, F32 x) {
  vst1_u16(reinterpret_cast<uint16_t*>(p), narrow_bf16(x));
}
TENON_INLINE void store(f16* p, F32 x) { vst1_u16(reinterpret_cast<uint16_t*>(p), narrow_f16(x)); }

// The first n < kLanes elements; the other lanes read as zero and are not touched in memory.
TENON_INLINE F32 load_n(const float* p, size_t n) { return load_n_32(p, n); }
TENON_INLINE F32 load_n(const bf16* p, size_t n) { return widen_bf16(load_n_16(p, n)); }
TENON_INLINE F32 load_n(const f16* p, size_t n) { return widen_f16(load_n_16(p, n)); }
TENON_INLINE void store_n(float* p, F32 x, size_t n) { store_n_32(p, x, n); }
TENON_INLINE void store_n(bf16* p, F32 x, size_t n) { store_n_16(p, narrow_bf16(x), n); }
TENON_INLINE void store_n(f16* p, F32 x, size_t n) { store_n_16(p, narrow_f16(x), n); }

// x in the first n lanes, all of them where n is larger, and `other` in the rest.
TENON_INLINE F32 keep_first(F32 x, F32 other, size_t n) {
  static constexpr uint32_t kLane[] = {0, 1, 2, 3};
  const auto count = static_cast<uint32_t>(n < kLanes ? n : kLanes);
  return vbslq_f32(vcgtq_u32(vdupq_n_u32(count), vld1q_u32(kLane)), x, other);
}
// The lanes Half apart swapped.
template <size_t Half>
TENON_INLINE F32 across(F32 x) {
  if constexpr (Half == 2) return vextq_f32(x, x, 2);
  if constexpr (Half == 1) return vrev64q_f32(x);
}

using F32x4 = float32x4_t;
TENON_INLINE void store_4(float* p, F32x4 x) { vst1q_f32(p, x); }

// Sums whose lanes fold in halves: 16 lanes to 4, 4 to one, and 4 to one for four sums at once.
TENON_INLINE F32x4 fold_to_4(const F32 (&acc)[4]) { return (acc[0] + acc[2]) + (acc[1] + acc[3]); }
TENON_INLINE float add_4(F32x4 x) {
  return vpadds_f32(vadd_f32(vget_low_f32(x), vget_high_f32(x)));
}
// Lane i + lane i + 2 of a, then of b.
TENON_INLINE F32x4 fold_pair(F32x4 a, F32x4 b) {
  const float64x2_t x = vreinterpretq_f64_f32(a), y = vreinterpretq_f64_f32(b);
  return vaddq_f32(vreinterpretq_f32_f64(vzip1q_f64(x, y)),
                   vreinterpretq_f32_f64(vzip2q_f64(x, y)));
}
TENON_INLINE F32x4 add_each_4(F32x4 a, F32x4 b, F32x4 c, F32x4 d) {
  return vpaddq_f32(fold_pair(a, b), fold_pair(c, d));
}

// Four vectors' lanes folded in halves: out[i] is the sum of x[i].
TENON_INLINE void fold_four(F32 x0, F32 x1, F32 x2, F32 x3, float (&out)[4]) {
  vst1q_f32(out, add_each_4(x0, x1, x2, x3));
}

}  // namespace
}  // namespace tenon
