// Softmax gradient reference kernels: isa/softmax_backward.h says what each computes.
#include "isa/softmax_backward.h"

#include "isa/ref/rows.h"

namespace tenon {
namespace {

template <class T>
void softmax(size_t n, Line<T> dy, Line<T> y, LineOut<T> dx) {
  const float sum = row_sum(n, [&](float s, size_t i) { return std::fma(dy[i], y[i], s); });
  for (size_t i = 0; i < n; ++i) dx.set(i, (dy[i] - sum) * y[i]);
}

template <class T>
void log_softmax(size_t n, Line<T> dy, Line<T> y, LineOut<T> dx) {
  const float sum = row_sum(n, [&](float s, size_t i) { return s + dy[i]; });
  for (size_t i = 0; i < n; ++i) dx.set(i, std::fma(-exp_f32(Scalar{y[i]}).v, sum, dy[i]));
}

// f on each of `count` vectors `apart` bytes from each other, of n elements `step` bytes apart.
template <class T, class F>
void each(size_t count, ptrdiff_t apart, ptrdiff_t step, const void* dy, const void* y, void* dx,
          F f) {
  for (size_t v = 0; v < count; ++v) {
    const ptrdiff_t at = static_cast<ptrdiff_t>(v) * apart;
    f(Line<T>{static_cast<const char*>(dy) + at, step},
      Line<T>{static_cast<const char*>(y) + at, step},
      LineOut<T>{static_cast<char*>(dx) + at, step});
  }
}

}  // namespace

#define SOFTMAX(name, log, type, T)                                                                \
  void name##_backward_##type##_ref(size_t rows, size_t columns, ptrdiff_t stride, const void* dy, \
                                    const void* y, void* dx) noexcept {                            \
    each<T>(rows, stride, sizeof(T), dy, y, dx,                                                    \
            [=](Line<T> g, Line<T> s, LineOut<T> d) { name<T>(columns, g, s, d); });               \
  }                                                                                                \
  void name##_columns_backward_##type##_ref(size_t rows, size_t columns, ptrdiff_t stride,         \
                                            const void* dy, const void* y, void* dx) noexcept {    \
    each<T>(columns, sizeof(T), stride, dy, y, dx,                                                 \
            [=](Line<T> g, Line<T> s, LineOut<T> d) { name<T>(rows, g, s, d); });                  \
  }
#include "isa/softmax.inc"

}  // namespace tenon
