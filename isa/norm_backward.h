// Gradients of layer_norm and rms_norm over the rows of a matrix.
//
// Operation, for each row v of x with its mean (0 in rms_norm) and rstd, in f32:
//   u[i] = (v[i] - mean) rstd,  g[i] = dy[i] gamma[i]
//   dx[i] = (g[i] - sum g / n - u[i] sum (g u) / n) rstd        rms_norm: without sum g / n
//   dgamma[i] += dy[i] u[i],  dbeta[i] += dy[i]                 row by row, in order
// The sums along a row take the order of isa/sum_order.h. bf16 and f16 results are rounded once.
//
// Types in a kernel's name: dx, then dy and x, then gamma. Any sizes, any alignment; dx may be dy
// or x, nothing else overlaps. Error bound: kNormBackwardUlp epsilons of f32 times dx's expression
// with every term's magnitude, and half a unit of dx's type where that is narrower.
#pragma once
#include <cstddef>

namespace tenon {

constexpr double kNormBackwardUlp = 6;

struct NormBackwardArgs {
  size_t rows, n;              // rows lie one after another
  const void *dy, *x, *gamma;  // gamma null: ones
  const void *mean, *rstd;     // of gamma's type in layer_norm, f32 in rms_norm, which has no mean
  void* dx;                    // these three may be null: not wanted
  float *dgamma, *dbeta;       // n each, added to
};

using NormBackward = void(const NormBackwardArgs& args) noexcept;

}  // namespace tenon
