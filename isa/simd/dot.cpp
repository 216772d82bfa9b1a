// Inner products over xsimd: isa/dot.h says what they compute.
#include "isa/dot.h"

#include "isa/simd/vec.h"

namespace tenon {
namespace {

static_assert(kDotLanes == kVirtualLanes);

template <class T>
TENON_INLINE float dot(size_t n, const T* x, const T* y) {
  F32 acc[kGroups];
  _Pragma("GCC unroll 16") for (size_t g = 0; g < kGroups; ++g) acc[g] = F32(0.0f);
  size_t i = 0;
  for (; i + kVirtualLanes <= n; i += kVirtualLanes)
    _Pragma("GCC unroll 16") for (size_t g = 0; g < kGroups; ++g) acc[g] =
        fma(load(x + i + g * kLanes), load(y + i + g * kLanes), acc[g]);
  if (i < n) _Pragma("GCC unroll 16") for (size_t g = 0; g < kGroups; ++g, i += kLanes) {
      const size_t rest = i < n ? n - i : 0;
      acc[g] = rest >= kLanes ? fma(load(x + i), load(y + i), acc[g])
                              : fma(load_n(x + i, rest), load_n(y + i, rest), acc[g]);
    }
  const auto add = [](auto a, auto b) { return a + b; };
  return fold_vector(fold_groups(acc, add), add);
}

}  // namespace

#define DOT(name, T)                                                          \
  float TENON_KERNEL(name)(size_t n, const void* x, const void* y) noexcept { \
    return dot<T>(n, static_cast<const T*>(x), static_cast<const T*>(y));     \
  }
DOT(dot_f32, float)
DOT(dot_bf16, bf16)
DOT(dot_f16, f16)
#undef DOT

}  // namespace tenon
