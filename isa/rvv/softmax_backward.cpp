// Softmax gradients for RVV: isa/softmax_backward.h says what each kernel computes. Two passes, sum
// and result, over a row or over a strip of columns.
#include "isa/softmax_backward.h"

#include "isa/rvv/columns.h"

namespace tenon {
namespace {

// dx = (dy - sum) y, or dy + exp(y) sum with the sum negated; it is a Constant or a vector.
template <bool kLog, class Wide, class S>
TENON_INLINE Wide gradient(Wide dy, Wide y, S sum) {
  if constexpr (kLog)
    return fma(exp_f32(y), sum, dy);
  else
    return mul(sub(dy, sum), y);
}
template <bool kLog, class T>
TENON_INLINE void backward_row(size_t n, const T* dy, const T* y, T* dx) {
  const float sum = row_sum(n, [=](Wide s, size_t i, size_t vl) __attribute__((always_inline)) {
    const Wide g = load<Wide>(dy + i, vl);
    if constexpr (kLog)
      return __riscv_vfadd(s, g, vl);
    else
      return __riscv_vfmacc(s, g, load<Wide>(y + i, vl), vl);
  });
  map<Wide>(n, dy, y, dx, [=](auto g, auto v) __attribute__((always_inline)) {
    return gradient<kLog>(g, v, Constant{kLog ? -sum : sum});
  });
}

template <bool kLog, class T>
TENON_INLINE void backward_strip(size_t rows, size_t width, ptrdiff_t stride, const T* dy,
                                 const T* y, T* dx) {
  PerColumn sum;
  column_sums(rows, width, sum, [&](size_t r, float* sums) __attribute__((always_inline)) {
    const T *g = row_at(dy, r, stride), *v = row_at(y, r, stride);
    each_step<Wide>(width, [&](size_t c, size_t vl) __attribute__((always_inline)) {
      const Wide s = load<Wide>(sums + c, vl), term = load<Wide>(g + c, vl);
      if constexpr (kLog)
        store(sums + c, add(s, term), vl);
      else
        store(sums + c, fma(term, load<Wide>(v + c, vl), s), vl);
    });
  });
  if constexpr (kLog)
    map<Wide>(width, sum, sum, [](Wide s) __attribute__((always_inline)) { return neg(s); });
  for (size_t r = 0; r < rows; ++r) {
    const T *g = row_at(dy, r, stride), *v = row_at(y, r, stride);
    T* const to = row_at(dx, r, stride);
    each_step<Wide>(width, [&](size_t c, size_t vl) __attribute__((always_inline)) {
      const Wide dx =
          gradient<kLog>(load<Wide>(g + c, vl), load<Wide>(v + c, vl), load<Wide>(sum + c, vl));
      store(to + c, dx, vl);
    });
  }
}

}  // namespace

#define SOFTMAX_OF(name, log, type, T)                                                             \
  void TENON_KERNEL(name##_backward_##type)(size_t rows, size_t columns, ptrdiff_t stride,         \
                                            const void* dy, const void* y, void* dx) noexcept {    \
    for (size_t r = 0; r < rows; ++r)                                                              \
      backward_row<log>(columns, row_at(static_cast<const T*>(dy), r, stride),                     \
                        row_at(static_cast<const T*>(y), r, stride),                               \
                        row_at(static_cast<T*>(dx), r, stride));                                   \
  }                                                                                                \
  void TENON_KERNEL(name##_columns_backward_##type)(size_t rows, size_t columns, ptrdiff_t stride, \
                                                    const void* dy, const void* y,                 \
                                                    void* dx) noexcept {                           \
    each_strip(columns, [&](size_t c, size_t width) __attribute__((always_inline)) {               \
      backward_strip<log>(rows, width, stride, static_cast<const T*>(dy) + c,                      \
                          static_cast<const T*>(y) + c, static_cast<T*>(dx) + c);                  \
    });                                                                                            \
  }
#define SOFTMAX(name, log, type, T) TENON_STAMP_##T(SOFTMAX_OF(name, log, type, T))
#include "isa/softmax.inc"

}  // namespace tenon
