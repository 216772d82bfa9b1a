// Gradients of the norms for RVV: isa/norm_backward.h and isa/row_fold.h say what each kernel
// computes.
#include "isa/norm_backward.h"

#include "isa/row_fold.h"
#include "isa/rvv/rows.h"

namespace tenon {
namespace {

// One row's operands as the formula names them.
template <bool kMean, bool kGamma, class T, class W>
struct Row {
  const T *dy, *x;
  const W* gamma;
  float mean, rstd;

  TENON_INLINE_MEMBER Wide u(size_t i, size_t vl) const {
    Wide v = load<Wide>(x + i, vl);
    if constexpr (kMean) v = __riscv_vfsub(v, mean, vl);
    return __riscv_vfmul(v, rstd, vl);
  }
  TENON_INLINE_MEMBER Wide g(size_t i, size_t vl) const {
    const Wide grad = load<Wide>(dy + i, vl);
    return kGamma ? __riscv_vfmul(grad, load<Wide>(gamma + i, vl), vl) : grad;
  }
};

template <class R>
TENON_INLINE float mean_gradient(const R& row, size_t n) {
  return row_sum(n, [=](Wide s, size_t i, size_t vl) __attribute__((
                        always_inline)) { return __riscv_vfadd(s, row.g(i, vl), vl); }) /
         static_cast<float>(n);
}

template <bool kMean, class R, class T>
TENON_INLINE void input_gradient(const R& row, size_t n, T* dx) {
  const float drift = kMean ? mean_gradient(row, n) : 0.0f;
  const float along = row_sum(n,
                              [=](Wide s, size_t i, size_t vl) __attribute__((always_inline)) {
                                return __riscv_vfmacc(s, row.g(i, vl), row.u(i, vl), vl);
                              }) /
                      static_cast<float>(n);
  each_step<Wide>(n, [=](size_t i, size_t vl) __attribute__((always_inline)) {
    Wide rest = row.g(i, vl);
    if constexpr (kMean) rest = __riscv_vfsub(rest, drift, vl);
    rest = __riscv_vfnmsac(rest, along, row.u(i, vl), vl);
    store(dx + i, __riscv_vfmul(rest, row.rstd, vl), vl);
  });
}

template <bool kWeight, bool kOffset, class R>
TENON_INLINE void weight_gradients(const R& row, size_t n, float* dgamma, float* dbeta) {
  each_step<Wide>(n, [=](size_t i, size_t vl) __attribute__((always_inline)) {
    const Wide grad = load<Wide>(row.dy + i, vl);
    if constexpr (kWeight)
      store(dgamma + i, __riscv_vfmacc(load<Wide>(dgamma + i, vl), grad, row.u(i, vl), vl), vl);
    if constexpr (kOffset) store(dbeta + i, __riscv_vfadd(load<Wide>(dbeta + i, vl), grad, vl), vl);
  });
}

// The weights' gradients first: dx may be written over x or dy.
template <bool kMean, bool kGamma, class T, class W, class S>
TENON_INLINE void backward_rows(const NormBackwardArgs& a) {
  for (size_t r = 0; r < a.rows; ++r) {
    const float mean = kMean ? to_f32(static_cast<const S*>(a.mean)[r]) : 0.0f;
    const Row<kMean, kGamma, T, W> row{
        static_cast<const T*>(a.dy) + r * a.n, static_cast<const T*>(a.x) + r * a.n,
        static_cast<const W*>(a.gamma), mean, to_f32(static_cast<const S*>(a.rstd)[r])};
    if (a.dgamma != nullptr && a.dbeta != nullptr)
      weight_gradients<true, true>(row, a.n, a.dgamma, a.dbeta);
    else if (a.dgamma != nullptr)
      weight_gradients<true, false>(row, a.n, a.dgamma, a.dbeta);
    else if (a.dbeta != nullptr)
      weight_gradients<false, true>(row, a.n, a.dgamma, a.dbeta);
    if (a.dx != nullptr) input_gradient<kMean>(row, a.n, static_cast<T*>(a.dx) + r * a.n);
  }
}

template <bool kMean, class T, class W, class S>
TENON_INLINE void backward(const NormBackwardArgs& a) {
  if (a.gamma != nullptr)
    backward_rows<kMean, true, T, W, S>(a);
  else
    backward_rows<kMean, false, T, W, S>(a);
}

template <class T>
TENON_INLINE void row_fold(size_t rows, size_t columns, size_t width, const float* x, T* y) {
  each_step<Wide>(width, [=](size_t c, size_t vl) __attribute__((always_inline)) {
    Wide sum = Width<Wide>::splat(0.0f, vl);
    const float* p = x + c;
    for (size_t r = 0; r < rows; ++r, p += columns) sum = __riscv_vfadd(sum, load<Wide>(p, vl), vl);
    store(y + c, sum, vl);
  });
}

}  // namespace

#define NORM_OF(types, T, W)                                                           \
  void TENON_KERNEL(layer_norm_backward_##types)(const NormBackwardArgs& a) noexcept { \
    backward<true, T, W, W>(a);                                                        \
  }                                                                                    \
  void TENON_KERNEL(rms_norm_backward_##types)(const NormBackwardArgs& a) noexcept {   \
    backward<false, T, W, float>(a);                                                   \
  }
#define NORM(types, T, W) TENON_STAMP_##T(NORM_OF(types, T, W))
#include "isa/norm.inc"

#define ROW_FOLD(type, T)                                                             \
  void TENON_KERNEL(row_fold_##type##_f32)(size_t rows, size_t columns, size_t width, \
                                           const float* x, void* y) noexcept {        \
    row_fold(rows, columns, width, x, static_cast<T*>(y));                            \
  }

TENON_STAMP_float(ROW_FOLD(f32, float)) TENON_STAMP_bf16(ROW_FOLD(bf16, bf16))
    TENON_STAMP_f16(ROW_FOLD(f16, f16))

}  // namespace tenon
