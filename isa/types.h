// The storage types of kernels, and the two macros every kernel file uses.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

// Shared code of isa/ is inlined or internal, never weak: a weak copy compiled for a wide ISA
// could be the one the linker keeps for the whole program (HACKING.md, "Symbols").
// Sanitizers instrument every copy of inlined code, so that builds with one call it instead.
#if defined(TENON_SANITIZED)
#define TENON_INLINE static inline
#else
#define TENON_INLINE static inline __attribute__((always_inline))
#endif
#define TENON_INLINE_MEMBER inline __attribute__((always_inline))

// What the caller owes. Never checked in a kernel; documents and helps the optimiser.
#define TENON_ASSUME(cond)                \
  do {                                    \
    if (!(cond)) __builtin_unreachable(); \
  } while (false)

namespace tenon {

struct bf16 {
  uint16_t bits;
};
struct f16 {
  uint16_t bits;
};
struct i64 {
  int64_t value;
};

TENON_INLINE uint32_t bits_of(float x) {
  uint32_t u;
  std::memcpy(&u, &x, sizeof u);
  return u;
}

TENON_INLINE float float_of(uint32_t u) {
  float x;
  std::memcpy(&x, &u, sizeof x);
  return x;
}

constexpr int32_t kTwoThirds = 0x3f2aaaab;  // the bits of 2/3, where mantissas begin in log_f32

TENON_INLINE float to_f32(float x) { return x; }
TENON_INLINE float to_f32(bf16 x) { return float_of(uint32_t{x.bits} << 16); }

// IEEE binary16. Multiplying by 2^112 rebiases the exponent and normalises subnormals, exactly.
TENON_INLINE float to_f32(f16 x) {
  const uint32_t sign = (x.bits & 0x8000u) << 16, rest = x.bits & 0x7fffu;
  if (rest >= 0x7c00u) {  // infinity, or NaN made quiet as the hardware's conversion does
    const uint32_t quiet = rest > 0x7c00u ? 0x400000u : 0u;
    return float_of(sign | 0x7f800000u | quiet | (rest & 0x3ffu) << 13);
  }
  return float_of(sign | bits_of(float_of(rest << 13) * 0x1p112f));
}

// Rounds to nearest even; any NaN becomes the quiet NaN c10::BFloat16 gives.
TENON_INLINE bf16 to_bf16(float x) {
  const uint32_t u = bits_of(x);
  if ((u & 0x7fffffffu) > 0x7f800000u) return {0x7fc0};
  return {static_cast<uint16_t>((u + 0x7fffu + (u >> 16 & 1u)) >> 16)};
}

// Rounds to nearest even. Adding 2^(e+13) aligns the mantissa's last kept bit with bit 0.
TENON_INLINE f16 to_f16(float x) {
  const uint32_t u = bits_of(x), sign = u >> 16 & 0x8000u, magnitude = u & 0x7fffffffu;
  uint32_t h;
  if (magnitude > 0x7f800000u) {
    h = 0x7e00u | (magnitude >> 13 & 0x3ffu);
  } else if (magnitude >= 0x477ff000u) {  // 65520 and above round to infinity
    h = 0x7c00u;
  } else if (magnitude < 0x38800000u) {  // below 2^-14: subnormal, or zero
    h = bits_of(float_of(magnitude) + 0.5f) - bits_of(0.5f);
  } else {
    h = (magnitude + 0xfffu + (magnitude >> 13 & 1u) - 0x38000000u) >> 13;
  }
  return {static_cast<uint16_t>(sign | h)};
}

template <class T>
TENON_INLINE T from_f32(float x) {
  if constexpr (std::is_same_v<T, bf16>) return to_bf16(x);
  if constexpr (std::is_same_v<T, f16>) return to_f16(x);
  if constexpr (std::is_same_v<T, float>) return x;
}

}  // namespace tenon
