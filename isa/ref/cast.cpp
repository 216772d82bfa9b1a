// Conversion, reference kernels: isa/cast.h says what each computes.
#include "isa/cast.h"

#include "isa/types.h"

namespace tenon {
namespace {

TENON_INLINE float widen(i64 x) { return static_cast<float>(x.value); }
template <class X>
TENON_INLINE float widen(X x) {
  return to_f32(x);
}

template <class Y>
TENON_INLINE Y narrow(float x) {
  if constexpr (std::is_same_v<Y, i64>)
    return {x >= -0x1p63f && x < 0x1p63f ? static_cast<int64_t>(x) : INT64_MIN};
  else
    return from_f32<Y>(x);
}

}  // namespace

#define CAST(op, Y, X)                                                       \
  void op##_ref(size_t n, const void* x, void* y) noexcept {                 \
    for (size_t i = 0; i < n; ++i)                                           \
      static_cast<Y*>(y)[i] = narrow<Y>(widen(static_cast<const X*>(x)[i])); \
  }
#include "isa/cast.inc"

}  // namespace tenon
