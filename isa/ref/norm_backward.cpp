// Reference kernels of the norms' gradients: isa/norm_backward.h and isa/row_fold.h say what each
// computes.
#include "isa/norm_backward.h"

#include "isa/ref/rows.h"
#include "isa/row_fold.h"

namespace tenon {
namespace {

template <class T>
float value(const void* p, size_t i) {
  return to_f32(static_cast<const T*>(p)[i]);
}

template <bool kMean, class T, class W, class S>
void backward(const NormBackwardArgs& a) {
  const float count = static_cast<float>(a.n);
  for (size_t r = 0; r < a.rows; ++r) {
    const Line<T> dy{static_cast<const T*>(a.dy) + r * a.n, sizeof(T)};
    const Line<T> x{static_cast<const T*>(a.x) + r * a.n, sizeof(T)};
    const float rstd = value<S>(a.rstd, r), mean = kMean ? value<S>(a.mean, r) : 0.0f;
    const auto u = [&](size_t i) { return (kMean ? x[i] - mean : x[i]) * rstd; };
    const auto g = [&](size_t i) {
      return a.gamma != nullptr ? dy[i] * value<W>(a.gamma, i) : dy[i];
    };
    const float drift =
        kMean ? row_sum(a.n, [&](float s, size_t i) { return s + g(i); }) / count : 0.0f;
    const float along =
        row_sum(a.n, [&](float s, size_t i) { return std::fma(g(i), u(i), s); }) / count;
    for (size_t i = 0; i < a.n; ++i) {
      const float grad = dy[i], unit = u(i);
      const float rest = kMean ? g(i) - drift : g(i);
      if (a.dgamma != nullptr) a.dgamma[i] = std::fma(grad, unit, a.dgamma[i]);
      if (a.dbeta != nullptr) a.dbeta[i] += grad;
      if (a.dx != nullptr)
        static_cast<T*>(a.dx)[r * a.n + i] = from_f32<T>(std::fma(-unit, along, rest) * rstd);
    }
  }
}

template <class T>
void row_fold(size_t rows, size_t columns, size_t width, const float* x, T* y) {
  for (size_t c = 0; c < width; ++c) {
    float sum = 0;
    for (size_t r = 0; r < rows; ++r) sum += x[r * columns + c];
    y[c] = from_f32<T>(sum);
  }
}

}  // namespace

#define NORM(types, T, W)                                                      \
  void layer_norm_backward_##types##_ref(const NormBackwardArgs& a) noexcept { \
    backward<true, T, W, W>(a);                                                \
  }                                                                            \
  void rms_norm_backward_##types##_ref(const NormBackwardArgs& a) noexcept {   \
    backward<false, T, W, float>(a);                                           \
  }
#include "isa/norm.inc"

#define ROW_FOLD(type, T)                                                                   \
  void row_fold_##type##_f32_ref(size_t rows, size_t columns, size_t width, const float* x, \
                                 void* y) noexcept {                                        \
    row_fold(rows, columns, width, x, static_cast<T*>(y));                                  \
  }

ROW_FOLD(f32, float)
ROW_FOLD(bf16, bf16)
ROW_FOLD(f16, f16)

}  // namespace tenon
