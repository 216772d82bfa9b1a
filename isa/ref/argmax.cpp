// Reference argmax: isa/argmax.h says what it computes.
#include "isa/argmax.h"

#include <cmath>

#include "isa/types.h"

namespace tenon {
namespace {

template <class X>
const X& element(const ArgmaxArgs& a, size_t o, size_t i, size_t j) {
  const char* p = static_cast<const char*>(a.x) + static_cast<ptrdiff_t>(o) * a.outer_stride +
                  static_cast<ptrdiff_t>(i) * a.stride;
  return reinterpret_cast<const X*>(p)[j];
}

template <class X>
size_t argmax(const ArgmaxArgs& a, size_t o, size_t j) {
  size_t best = 0;
  float top = to_f32(element<X>(a, o, 0, j));
  for (size_t i = 1; i < a.n && !std::isnan(top); ++i) {
    const float x = to_f32(element<X>(a, o, i, j));
    if (x <= top) continue;  // a NaN is not
    top = x;
    best = i;
  }
  return best;
}

template <class X>
void argmax(const ArgmaxArgs& a) {
  for (size_t o = 0; o < a.outer; ++o)
    for (size_t j = 0; j < a.inner; ++j) {
      const size_t i = argmax<X>(a, o, j), at = o * a.inner + j;
      a.index[at] = static_cast<int64_t>(i);
      if (a.value != nullptr) static_cast<X*>(a.value)[at] = element<X>(a, o, i, j);
    }
}

}  // namespace

void argmax_i64_f32_ref(const ArgmaxArgs& a) noexcept { argmax<float>(a); }
void argmax_i64_bf16_ref(const ArgmaxArgs& a) noexcept { argmax<bf16>(a); }
void argmax_i64_f16_ref(const ArgmaxArgs& a) noexcept { argmax<f16>(a); }

}  // namespace tenon
