// Gradients of the norms over xsimd: isa/norm_backward.h and isa/row_fold.h say what each kernel
// computes.
#include "isa/norm_backward.h"

#include "isa/row_fold.h"
#include "isa/simd/rows.h"

namespace tenon {
namespace {

// One row's operands as the formula names them.
template <bool kMean, class T, class W>
struct Row {
  const T *dy, *x;
  const W* gamma;
  F32 mean, rstd;

  template <class Span>
  F32 u(size_t i, Span span) const {
    const F32 v = get(x + i, span);
    return (kMean ? v - mean : v) * rstd;
  }
  template <class Span>
  F32 g(size_t i, Span span) const {
    const F32 grad = get(dy + i, span);
    return gamma != nullptr ? grad * get(gamma + i, span) : grad;
  }
};

template <bool kMean, class R>
TENON_INLINE F32 mean_gradient(const R& row, size_t n, F32 count) {
  if constexpr (!kMean) return F32(0.0f);
  return div(row_sum(n, [&](F32 s, size_t i, auto span)
                            __attribute__((always_inline)) { return s + row.g(i, span); }),
             count);
}

template <bool kMean, class T, class R>
TENON_INLINE void input_gradient(const R& row, size_t n, T* dx) {
  const F32 count(static_cast<float>(n)), drift = mean_gradient<kMean>(row, n, count);
  const F32 along =
      div(row_sum(n, [&](F32 s, size_t i, auto span) __attribute__((
                         always_inline)) { return fma(row.g(i, span), row.u(i, span), s); }),
          count);
  each_step(n, [&](size_t i, auto span) __attribute__((always_inline)) {
    const F32 g = row.g(i, span), rest = kMean ? g - drift : g;
    put(dx + i, fma(-row.u(i, span), along, rest) * row.rstd, span);
  });
}

template <class R>
TENON_INLINE void weight_gradients(const R& row, size_t n, float* dgamma, float* dbeta) {
  each_step(n, [&](size_t i, auto span) __attribute__((always_inline)) {
    const F32 grad = get(row.dy + i, span);
    if (dgamma != nullptr) put(dgamma + i, fma(grad, row.u(i, span), get(dgamma + i, span)), span);
    if (dbeta != nullptr) put(dbeta + i, get(dbeta + i, span) + grad, span);
  });
}

// The weights' gradients first: dx may be written over x or dy.
template <bool kMean, class T, class W, class S>
TENON_INLINE void backward(const NormBackwardArgs& a) {
  for (size_t r = 0; r < a.rows; ++r) {
    Row<kMean, T, W> row{static_cast<const T*>(a.dy) + r * a.n,
                         static_cast<const T*>(a.x) + r * a.n, static_cast<const W*>(a.gamma),
                         F32(0.0f), F32(to_f32(static_cast<const S*>(a.rstd)[r]))};
    if constexpr (kMean) row.mean = F32(to_f32(static_cast<const S*>(a.mean)[r]));
    if (a.dgamma != nullptr || a.dbeta != nullptr) weight_gradients(row, a.n, a.dgamma, a.dbeta);
    if (a.dx != nullptr) input_gradient<kMean>(row, a.n, static_cast<T*>(a.dx) + r * a.n);
  }
}

template <class T>
TENON_INLINE void row_fold(size_t rows, size_t columns, size_t width, const float* x, T* y) {
  each_step(width, [&](size_t c, auto span) __attribute__((always_inline)) {
    F32 sum(0.0f);
    for (size_t r = 0; r < rows; ++r) sum += get(x + r * columns + c, span);
    put(y + c, sum, span);
  });
}

}  // namespace

#define NORM(types, T, W)                                                              \
  void TENON_KERNEL(layer_norm_backward_##types)(const NormBackwardArgs& a) noexcept { \
    backward<true, T, W, W>(a);                                                        \
  }                                                                                    \
  void TENON_KERNEL(rms_norm_backward_##types)(const NormBackwardArgs& a) noexcept {   \
    backward<false, T, W, float>(a);                                                   \
  }
#include "isa/norm.inc"

#define ROW_FOLD(type, T)                                                             \
  void TENON_KERNEL(row_fold_##type##_f32)(size_t rows, size_t columns, size_t width, \
                                           const float* x, void* y) noexcept {        \
    row_fold(rows, columns, width, x, static_cast<T*>(y));                            \
  }

ROW_FOLD(f32, float)
ROW_FOLD(bf16, bf16)
ROW_FOLD(f16, f16)

}  // namespace tenon
