// layer_norm and rms_norm of the rows of a matrix.
//
// Operation, for each row v of n elements, in f32:
//   layer_norm: mean = sum v / n, rstd = 1 / sqrt(sum (v - mean)^2 / n + eps)
//               y[i] = (v[i] - mean) rstd gamma[i] + beta[i]
//   rms_norm:   rstd = 1 / sqrt(sum v^2 / n + eps),  y[i] = v[i] rstd gamma[i]
// Sums take the order of isa/sum_order.h: a row has the same bits alone or among others. layer_norm
// corrects its mean, and with it the variance, by the sum of the differences from it (the corrected
// two-pass algorithm; Chan, Golub and LeVeque, 1983), so a large mean costs no accuracy.
// bf16 and f16 are rounded once, at the end.
//
// Types in a kernel's name: y, x, then gamma and beta. Any sizes, any alignment; y may be x,
// nothing else overlaps. Error bound: kNormUlp epsilons of f32 times |y - beta| + |beta| + |mean
// rstd gamma|, and half a unit of y's type where that is narrower; mean kNormUlp epsilons of the
// mean of |v|, rstd relative.
#pragma once
#include <cstddef>

namespace tenon {

constexpr double kNormUlp = 4;

struct NormArgs {
  size_t rows, n;  // rows lie one after another
  float eps;
  const void *x, *gamma, *beta;  // gamma null: ones; beta null: zeros (rms_norm has none)
  void* y;
  // One for each row, or null: of gamma's type in layer_norm, f32 in rms_norm, which has no mean.
  void *mean, *rstd;
};

using Norm = void(const NormArgs& args) noexcept;

}  // namespace tenon
