// Softmax reference kernels: isa/softmax.h says what each computes.
#include "isa/softmax.h"

#include "isa/ref/rows.h"

namespace tenon {
namespace {

template <class T>
float largest(size_t n, Line<T> x) {
  float top = -INFINITY;
  for (size_t i = 0; i < n; ++i) top = x[i] > top ? x[i] : top;
  return top;
}

template <class T, bool kLog>
void softmax(size_t n, Line<T> x, LineOut<T> y) {
  const float top = largest(n, x);
  const auto term = [&](size_t i) { return exp_fall_f32(Scalar{x[i] - top}).v; };
  const float sum = row_sum(n, [&](float s, size_t i) { return s + term(i); });
  const float log_sum = log_f32(Scalar{sum}).v, scale = 1.0f / sum;
  for (size_t i = 0; i < n; ++i) y.set(i, kLog ? (x[i] - top) - log_sum : term(i) * scale);
}

// Vector v of a matrix: count vectors `apart` bytes from each other, of n elements `step` bytes
// apart.
template <class T, bool kLog>
void each(size_t count, ptrdiff_t apart, size_t n, ptrdiff_t step, const void* x, void* y) {
  for (size_t v = 0; v < count; ++v) {
    const ptrdiff_t at = static_cast<ptrdiff_t>(v) * apart;
    softmax<T, kLog>(n, Line<T>{static_cast<const char*>(x) + at, step},
                     LineOut<T>{static_cast<char*>(y) + at, step});
  }
}

}  // namespace

#define SOFTMAX(name, log, type, T)                                                              \
  void name##_##type##_ref(size_t rows, size_t columns, ptrdiff_t stride, const void* x,         \
                           void* y) noexcept {                                                   \
    each<T, log>(rows, stride, columns, sizeof(T), x, y);                                        \
  }                                                                                              \
  void name##_columns_##type##_ref(size_t rows, size_t columns, ptrdiff_t stride, const void* x, \
                                   void* y) noexcept {                                           \
    each<T, log>(columns, sizeof(T), rows, stride, x, y);                                        \
  }
#include "isa/softmax.inc"

}  // namespace tenon
