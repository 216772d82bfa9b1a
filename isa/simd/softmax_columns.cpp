// Softmax of columns over xsimd: isa/softmax.h says what each kernel computes. A strip of columns
// is done at a time: largest, sum of exponentials, result, each from the first row to the last.
#include "isa/simd/columns.h"
#include "isa/softmax.h"

namespace tenon {
namespace {

template <class T>
TENON_INLINE void column_tops(size_t rows, size_t width, ptrdiff_t stride, const T* x,
                              PerColumn& top) {
  for (size_t c = 0; c < width; c += kLanes) top.set(c, F32(float_of(0xff800000u)));
  for (size_t r = 0; r < rows; ++r) {
    const T* row = row_at(x, r, stride);
    prefetch_below(x, r, stride, width);
    each_step(width, [&](size_t c, auto span) __attribute__((always_inline)) {
      top.set(c, max_number(get(row + c, span), top[c]));
    });
  }
}

template <class T>
TENON_INLINE void softmax_strip(size_t rows, size_t width, ptrdiff_t stride, const T* x, T* y) {
  constexpr bool kKeep = std::is_same_v<T, float>;  // the exponentials, in y
  PerColumn top, sum;
  column_tops(rows, width, stride, x, top);
  const auto before = [&](size_t r) __attribute__((always_inline)) {
    if constexpr (kKeep) prefetch_below(y, r, stride, width);
  };
  column_sums(rows, width, sum, before,
              [&](F32 s, size_t r, size_t c, auto span) __attribute__((always_inline)) {
                const F32 e = exp_fall_f32(get(row_at(x, r, stride) + c, span) - top[c]);
                if constexpr (kKeep) put(row_at(y, r, stride) + c, e, span);
                return s + e;
              });
  for (size_t c = 0; c < width; c += kLanes) sum.set(c, div(F32(1.0f), sum[c]));
  for (size_t r = 0; r < rows; ++r) {
    const T* from = row_at(x, r, stride);
    T* to = row_at(y, r, stride);
    if constexpr (!kKeep) prefetch_below(y, r, stride, width);
    each_step(width, [&](size_t c, auto span) __attribute__((always_inline)) {
      const F32 e = kKeep ? get(to + c, span) : exp_fall_f32(get(from + c, span) - top[c]);
      put(to + c, e * sum[c], span);
    });
  }
}

template <class T>
TENON_INLINE void log_softmax_strip(size_t rows, size_t width, ptrdiff_t stride, const T* x, T* y) {
  PerColumn top, sum;
  column_tops(rows, width, stride, x, top);
  column_sums(
      rows, width, sum, [](size_t) {},
      [&](F32 s, size_t r, size_t c, auto span) __attribute__((always_inline)) {
        return s + exp_fall_f32(get(row_at(x, r, stride) + c, span) - top[c]);
      });
  for (size_t c = 0; c < width; c += kLanes) sum.set(c, log_f32(sum[c]));
  for (size_t r = 0; r < rows; ++r) {
    const T* from = row_at(x, r, stride);
    T* to = row_at(y, r, stride);
    prefetch_below(y, r, stride, width);
    each_step(width, [&](size_t c, auto span) __attribute__((always_inline)) {
      put(to + c, (get(from + c, span) - top[c]) - sum[c], span);
    });
  }
}

}  // namespace

#define SOFTMAX(name, log, type, T)                                                            \
  void TENON_KERNEL(name##_columns_##type)(size_t rows, size_t columns, ptrdiff_t stride,      \
                                           const void* x, void* y) noexcept {                  \
    each_strip(columns, [&](size_t c, size_t width) {                                          \
      name##_strip(rows, width, stride, static_cast<const T*>(x) + c, static_cast<T*>(y) + c); \
    });                                                                                        \
  }
#include "isa/softmax.inc"

}  // namespace tenon
