// Softmax gradients over xsimd: isa/softmax_backward.h says what each kernel computes. Two passes,
// sum and result, over a row or over a strip of columns.
#include "isa/softmax_backward.h"

#include "isa/simd/columns.h"

namespace tenon {
namespace {

// What softmax and log_softmax differ in: the term of the sum, and the result.
struct OfSoftmax {
  TENON_INLINE F32 add(F32 s, F32 dy, F32 y) { return fma(dy, y, s); }
  TENON_INLINE F32 result(F32 dy, F32 y, F32 sum) { return (dy - sum) * y; }
};
struct OfLogSoftmax {
  TENON_INLINE F32 add(F32 s, F32 dy, F32) { return s + dy; }
  TENON_INLINE F32 result(F32 dy, F32 y, F32 sum) { return fma(-exp_f32(y), sum, dy); }
};
template <bool kLog>
using Of = std::conditional_t<kLog, OfLogSoftmax, OfSoftmax>;

template <bool kLog, class T>
TENON_INLINE void backward_row(size_t n, const T* dy, const T* y, T* dx) {
  const F32 sum = row_sum(n, [&](F32 s, size_t i, auto span) __attribute__((always_inline)) {
    return Of<kLog>::add(s, get(dy + i, span), get(y + i, span));
  });
  each_step(n, [&](size_t i, auto span) __attribute__((always_inline)) {
    put(dx + i, Of<kLog>::result(get(dy + i, span), get(y + i, span), sum), span);
  });
}

template <bool kLog, class T>
TENON_INLINE void backward_rows(size_t rows, size_t n, ptrdiff_t stride, const T* dy, const T* y,
                                T* dx) {
  for (size_t r = 0; r < rows; ++r)
    backward_row<kLog>(n, row_at(dy, r, stride), row_at(y, r, stride), row_at(dx, r, stride));
}

template <bool kLog, class T>
TENON_INLINE void backward_strip(size_t rows, size_t width, ptrdiff_t stride, const T* dy,
                                 const T* y, T* dx) {
  PerColumn sum;
  const auto before = [&](size_t r) __attribute__((always_inline)) {
    prefetch_below(dy, r, stride, width);
    prefetch_below(y, r, stride, width);
  };
  column_sums(rows, width, sum, before,
              [&](F32 s, size_t r, size_t c, auto span) __attribute__((always_inline)) {
                return Of<kLog>::add(s, get(row_at(dy, r, stride) + c, span),
                                     get(row_at(y, r, stride) + c, span));
              });
  for (size_t r = 0; r < rows; ++r) {
    const T *g = row_at(dy, r, stride), *s = row_at(y, r, stride);
    T* to = row_at(dx, r, stride);
    prefetch_below(dx, r, stride, width);
    each_step(width, [&](size_t c, auto span) __attribute__((always_inline)) {
      put(to + c, Of<kLog>::result(get(g + c, span), get(s + c, span), sum[c]), span);
    });
  }
}

template <bool kLog, class T>
TENON_INLINE void backward_columns(size_t rows, size_t columns, ptrdiff_t stride, const T* dy,
                                   const T* y, T* dx) {
  each_strip(columns, [&](size_t c, size_t width) __attribute__((always_inline)) {
    backward_strip<kLog>(rows, width, stride, dy + c, y + c, dx + c);
  });
}

}  // namespace

#define SOFTMAX(name, log, type, T)                                                                \
  void TENON_KERNEL(name##_backward_##type)(size_t rows, size_t columns, ptrdiff_t stride,         \
                                            const void* dy, const void* y, void* dx) noexcept {    \
    backward_rows<log>(rows, columns, stride, static_cast<const T*>(dy), static_cast<const T*>(y), \
                       static_cast<T*>(dx));                                                       \
  }                                                                                                \
  void TENON_KERNEL(name##_columns_backward_##type)(size_t rows, size_t columns, ptrdiff_t stride, \
                                                    const void* dy, const void* y,                 \
                                                    void* dx) noexcept {                           \
    backward_columns<log>(rows, columns, stride, static_cast<const T*>(dy),                        \
                          static_cast<const T*>(y), static_cast<T*>(dx));                          \
  }
#include "isa/softmax.inc"

}  // namespace tenon
