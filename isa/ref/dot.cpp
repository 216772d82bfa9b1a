// Reference inner products: isa/dot.h says what they compute.
#include "isa/dot.h"

#include <cmath>

#include "isa/types.h"

namespace tenon {
namespace {

template <class T>
float dot(size_t n, const void* x, const void* y) {
  const T* a = static_cast<const T*>(x);
  const T* b = static_cast<const T*>(y);
  float lane[kDotLanes] = {};
  for (size_t i = 0; i < (n + kDotLanes - 1) / kDotLanes * kDotLanes; ++i) {
    float& sum = lane[i % kDotLanes];
    sum = i < n ? std::fma(to_f32(a[i]), to_f32(b[i]), sum) : sum + 0.0f;
  }
  for (size_t half = kDotLanes / 2; half > 0; half /= 2)
    for (size_t l = 0; l < half; ++l) lane[l] += lane[l + half];
  return lane[0];
}

}  // namespace

float dot_f32_ref(size_t n, const void* x, const void* y) noexcept { return dot<float>(n, x, y); }
float dot_bf16_ref(size_t n, const void* x, const void* y) noexcept { return dot<bf16>(n, x, y); }
float dot_f16_ref(size_t n, const void* x, const void* y) noexcept { return dot<f16>(n, x, y); }

}  // namespace tenon
