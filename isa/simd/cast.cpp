// Conversion kernels over xsimd: isa/cast.h says what each computes.
#include "isa/cast.h"

#include "isa/simd/int64.h"

namespace tenon {
namespace {

// map() of isa/simd/vec.h, where the loads and stores of int64.h are known.
template <class X, class Y>
TENON_INLINE void convert(size_t n, const X* x, Y* y) {
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(y + i, load(x + i));
  if (i < n) store_n(y + i, load_n(x + i, n - i), n - i);
}

}  // namespace

#define CAST(op, Y, X)                                               \
  void TENON_KERNEL(op)(size_t n, const void* x, void* y) noexcept { \
    convert(n, static_cast<const X*>(x), static_cast<Y*>(y));        \
  }
#include "isa/cast.inc"

}  // namespace tenon
