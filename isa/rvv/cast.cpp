// Conversion kernels for RVV: isa/cast.h says what each computes.
#include "isa/cast.h"

#include "isa/rvv/vec.h"

namespace tenon {
namespace {

// 64-bit integers fill the widest group beside half as many bits of f32.
using Wide = vfloat32m4_t;

template <class X, class Y>
using CastGroup = std::conditional_t<std::is_same_v<X, i64> || std::is_same_v<Y, i64>, Wide, Few>;

template <class V>
TENON_INLINE V load(const i64* p, size_t n) {
  return __riscv_vfncvt_f(__riscv_vle64_v_i64m8(&p->value, n), n);
}
// The instruction gives the maximum, which no f32 is, for NaN and for what is too large.
TENON_INLINE void store(i64* p, Wide x, size_t n) {
  const vint64m8_t y = __riscv_vfwcvt_rtz_x(x, n);
  __riscv_vse64(&p->value, __riscv_vmerge(y, INT64_MIN, __riscv_vmseq(y, INT64_MAX, n), n), n);
}

template <class V, class X, class Y>
TENON_INLINE void convert_some(size_t n, const X* x, Y* y) {
  const auto v = load<V>(x, n);
  if constexpr (std::is_same_v<X, float> && std::is_same_v<Y, bf16>)
    store(y, canonical(v), n);
  else
    store(y, v, n);
}

// map() of isa/rvv/storage.h, where the loads and stores above are known.
template <class X, class Y>
TENON_INLINE void convert(size_t n, const X* x, Y* y) {
  using V = CastGroup<X, Y>;
  const size_t step = lanes<V>(), rest = n & (step - 1);
  for (const X* end = held(x + (n - rest)); x != end; x = ahead(x, step), y = ahead(y, step))
    convert_some<V>(step, x, y);
  if (rest > 0) convert_some<V>(rest, x, y);
}

}  // namespace

#define CAST_OF(op, Y, X)                                            \
  void TENON_KERNEL(op)(size_t n, const void* x, void* y) noexcept { \
    convert(n, static_cast<const X*>(x), static_cast<Y*>(y));        \
  }
#if defined(__riscv_zvfhmin) || defined(__riscv_zvfbfmin)
// A CPU that converts bf16 converts f16 too, and rvv/zvfhmin has that pair.
#if defined(__riscv_zvfbfmin)
#define TENON_BESIDE_f16 TENON_NO
#else
#define TENON_BESIDE_f16 TENON_YES
#endif
#define TENON_BESIDE_bf16 TENON_YES
#define TENON_BESIDE_float TENON_YES
#define TENON_BESIDE_i64 TENON_YES
#define TENON_STAMP_i64 TENON_NO
#define CAST(op, Y, X)                                 \
  TENON_STAMP_##Y(TENON_BESIDE_##X(CAST_OF(op, Y, X))) \
      TENON_STAMP_##X(TENON_BESIDE_##Y(CAST_OF(op, Y, X)))
#else
#define CAST CAST_OF
#endif
#include "isa/cast.inc"

}  // namespace tenon
