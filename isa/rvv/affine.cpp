// Scale and offset for RVV: isa/affine.h says what it computes.
#include "isa/affine.h"

#include "isa/rvv/vec.h"

namespace tenon {
namespace {

template <class T>
TENON_INLINE void affine(size_t n, float scale, float offset, const T* x, T* y) {
  using V = std::conditional_t<std::is_same_v<T, float>, Few, Many>;
  const V added = broadcast<V>({offset});
  map<V>(n, x, y,
         [&](V v) __attribute__((always_inline)) { return fma(v, Constant{scale}, added); });
}

}  // namespace

#define AFFINE_OF(op, T)                                                                        \
  void TENON_KERNEL(op)(size_t n, float scale, float offset, const void* x, void* y) noexcept { \
    affine(n, scale, offset, static_cast<const T*>(x), static_cast<T*>(y));                     \
  }
#define AFFINE(op, T) TENON_STAMP_##T(AFFINE_OF(op, T))
AFFINE(affine_f32, float)
AFFINE(affine_bf16, bf16)
AFFINE(affine_f16, f16)

}  // namespace tenon
