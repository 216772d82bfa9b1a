// Reference scale and offset: isa/affine.h says what it computes.
#include "isa/affine.h"

#include <cmath>

#include "isa/types.h"

namespace tenon {
namespace {

template <class T>
void affine(size_t n, float scale, float offset, const T* x, T* y) {
  for (size_t i = 0; i < n; ++i) y[i] = from_f32<T>(std::fma(to_f32(x[i]), scale, offset));
}

}  // namespace

#define AFFINE(op, T)                                                                   \
  void op##_ref(size_t n, float scale, float offset, const void* x, void* y) noexcept { \
    affine(n, scale, offset, static_cast<const T*>(x), static_cast<T*>(y));             \
  }
AFFINE(affine_f32, float)
AFFINE(affine_bf16, bf16)
AFFINE(affine_f16, f16)

}  // namespace tenon
