// Softmax of columns for RVV: isa/softmax.h says what each kernel computes. A strip of columns is
// done at a time: largest, sum of exponentials, result, each from the first row to the last.
#include "isa/rvv/columns.h"
#include "isa/softmax.h"

namespace tenon {
namespace {

// vfmax gives the operand that is a number.
template <class T>
TENON_INLINE void column_tops(size_t rows, size_t width, ptrdiff_t stride, const T* x, float* top) {
  fill(width, top, float_of(0xff800000u));
  for (size_t r = 0; r < rows; ++r)
    map<Wide>(width, row_at(x, r, stride), top, top,
              [](Wide v, Wide t)
                  __attribute__((always_inline)) { return __riscv_vfmax(t, v, lanes<Wide>()); });
}

// e[c] = exp(x[c] - top[c]).
template <class T>
TENON_INLINE void exponentials(size_t width, const T* x, const float* top, float* e) {
  map<Wide>(width, x, top, e,
            [](Wide v, Wide t) __attribute__((always_inline)) { return exp_fall_f32(sub(v, t)); });
}

// Exponentials are kept for the last pass in y where it is f32; narrower types would lose bits.
template <class T>
TENON_INLINE void softmax_strip(size_t rows, size_t width, ptrdiff_t stride, const T* x, T* y) {
  constexpr bool kKeep = std::is_same_v<T, float>;
  PerColumn top, sum, scratch;
  column_tops(rows, width, stride, x, top);
  const auto terms = [&](size_t r) __attribute__((always_inline)) {
    float* e = scratch;
    if constexpr (kKeep) e = row_at(y, r, stride);
    exponentials(width, row_at(x, r, stride), top, e);
    return e;
  };
  column_sums(rows, width, sum, [&](size_t r, float* sums) __attribute__((always_inline)) {
    add_to(width, sums, terms(r));
  });
  map<Wide>(width, sum, sum,
            [](Wide v) __attribute__((always_inline)) { return div(splat<Wide>(1.0f), v); });
  for (size_t r = 0; r < rows; ++r) {
    T* const to = row_at(y, r, stride);
    const float* e = scratch;
    if constexpr (kKeep)
      e = to;
    else
      terms(r);
    map<Wide>(width, e, sum, to,
              [](auto v, auto scale) __attribute__((always_inline)) { return mul(v, scale); });
  }
}

// Not inlined: its constants would crowd out those of the loops over rows.
static __attribute__((noinline)) void logarithms(size_t n, float* x) {
  using V = vfloat32m4_t;
  map<V>(n, x, x, [](V v) __attribute__((always_inline)) { return log_f32(v); });
}

template <class T>
TENON_INLINE void log_softmax_strip(size_t rows, size_t width, ptrdiff_t stride, const T* x, T* y) {
  PerColumn top, sum, scratch;
  column_tops(rows, width, stride, x, top);
  column_sums(rows, width, sum, [&](size_t r, float* sums) __attribute__((always_inline)) {
    exponentials(width, row_at(x, r, stride), top, scratch);
    add_to(width, sums, scratch);
  });
  logarithms(width, sum);
  for (size_t r = 0; r < rows; ++r) {
    const T* const from = row_at(x, r, stride);
    T* const to = row_at(y, r, stride);
    each_step<Wide>(width, [&](size_t c, size_t vl) __attribute__((always_inline)) {
      const Wide fall = sub(load<Wide>(from + c, vl), load<Wide>(top + c, vl));
      store(to + c, sub(fall, load<Wide>(sum + c, vl)), vl);
    });
  }
}

}  // namespace

#define SOFTMAX_OF(name, log, type, T)                                                         \
  void TENON_KERNEL(name##_columns_##type)(size_t rows, size_t columns, ptrdiff_t stride,      \
                                           const void* x, void* y) noexcept {                  \
    each_strip(columns, [&](size_t c, size_t width) __attribute__((always_inline)) {           \
      name##_strip(rows, width, stride, static_cast<const T*>(x) + c, static_cast<T*>(y) + c); \
    });                                                                                        \
  }
#define SOFTMAX(name, log, type, T) TENON_STAMP_##T(SOFTMAX_OF(name, log, type, T))
#include "isa/softmax.inc"

}  // namespace tenon
