// layer_norm: the leaf native_layer_norm and its gradient. As in stock, strided input is made
// contiguous first and the result is contiguous; mean and rstd are f32 where the weights are, else
// of x's type.
#include "ops/norm_rows.h"
#include "ops/overrides.h"

namespace tenon::ops {
namespace {

constinit Slot<Norm> kernels[5] = {{kNorm, "layer_norm_f32_f32_f32"},
                                   {kNorm, "layer_norm_bf16_bf16_bf16"},
                                   {kNorm, "layer_norm_f16_f16_f16"},
                                   {kNorm, "layer_norm_bf16_bf16_f32"},
                                   {kNorm, "layer_norm_f16_f16_f32"}};
constinit Slot<NormBackward> backward_kernels[5] = {
    {kNormBackward, "layer_norm_backward_f32_f32_f32"},
    {kNormBackward, "layer_norm_backward_bf16_bf16_bf16"},
    {kNormBackward, "layer_norm_backward_f16_f16_f16"},
    {kNormBackward, "layer_norm_backward_bf16_bf16_f32"},
    {kNormBackward, "layer_norm_backward_f16_f16_f32"}};

// Shorter rows are stock's, by storage type: it reads them once less. Not a matter of how many rows
// there are, so that a row has the same bits alone and in a batch.
constexpr int64_t kShortestRow[] = {1000, 256, 256};

bool short_rows(const Tensor& x, IntArrayRef shape) {
  const int type = float_type(x.scalar_type());
  return type >= 0 && !stock_is_scalar() && c10::multiply_integers(shape) < kShortestRow[type];
}

Reason gate(const Tensor& x, IntArrayRef shape, const Tensor& gamma, const Tensor& beta,
            NormShape& s) {
  if (float_type(x.scalar_type()) < 0) return Reason::kDtype;
  if (!plain(x)) return Reason::kLayout;
  for (const Tensor* w : {&gamma, &beta})
    if (const Reason why = norm_weight(*w, x.scalar_type(), shape); why != Reason::kNone)
      return why;
  if (gamma.defined() && beta.defined() && gamma.scalar_type() != beta.scalar_type())
    return Reason::kDtype;
  return norm_shape(x, shape, s);
}

// mean and rstd tell the weights' type also where there are none.
Reason gate_backward(const Tensor& dy, const Tensor& x, const Tensor& mean, const Tensor& rstd,
                     const Tensor& gamma, const Tensor& beta, std::array<bool, 3> wanted,
                     const NormShape& s) {
  if (dy.scalar_type() != x.scalar_type() || mean.scalar_type() != rstd.scalar_type())
    return Reason::kDtype;
  if (mean.scalar_type() != x.scalar_type() && mean.scalar_type() != at::kFloat)
    return Reason::kDtype;
  for (const Tensor* w : {&gamma, &beta})
    if (w->defined() && w->scalar_type() != mean.scalar_type()) return Reason::kDtype;
  if (!plain(dy) || !plain(mean) || !plain(rstd)) return Reason::kLayout;
  if (!mean.is_contiguous() || !rstd.is_contiguous()) return Reason::kLayout;
  if (dy.sizes() != x.sizes() || mean.numel() != s.rows || rstd.numel() != s.rows)
    return Reason::kShape;
  if ((wanted[1] && !gamma.defined()) || (wanted[2] && !beta.defined())) return Reason::kArgument;
  return Reason::kNone;
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> layer_norm(const Tensor& x, c10::SymIntArrayRef sizes,
                                              const std::optional<Tensor>& weight,
                                              const std::optional<Tensor>& bias, double eps) {
  const IntArrayRef shape = C10_AS_INTARRAYREF_SLOW(sizes);
  const Tensor &gamma = value(weight), &beta = value(bias);
  NormShape s;
  Reason why = short_rows(x, shape) ? Reason::kSize : gate(x, shape, gamma, beta, s);
  // Weights of another type: stock is as good (bench ops norm; Zen 3, torch 2.13).
  const bool mixed = gamma.defined() && gamma.scalar_type() != x.scalar_type();
  if (why == Reason::kNone && mixed && !stock_is_scalar()) why = Reason::kDtype;
  if (why != Reason::kNone) return stock<&layer_norm>(why, x, sizes, weight, bias, eps);
  const Tensor& w = gamma.defined() ? gamma : beta.defined() ? beta : x;
  const Kernel<Norm>& k = kernels[norm_types(x.scalar_type(), w.scalar_type())].get();
  const auto scope = taken<&layer_norm>(k.name);
  at::DimVector stat(x.sizes().begin(), x.sizes().begin() + s.axis);
  stat.resize(static_cast<size_t>(x.dim()), 1);
  const auto from = x.expect_contiguous();
  Tensor y = empty_cpu(x.sizes(), x.scalar_type());
  Tensor mean = empty_cpu(stat, w.scalar_type()), rstd = empty_cpu(stat, w.scalar_type());
  run_norm(k, s,
           {0, static_cast<size_t>(s.n), static_cast<float>(eps), from->const_data_ptr(),
            data_or_null(gamma), data_or_null(beta), y.mutable_data_ptr(), mean.mutable_data_ptr(),
            rstd.mutable_data_ptr()},
           {x.element_size(), mean.element_size()});
  return {std::move(y), std::move(mean), std::move(rstd)};
}

std::tuple<Tensor, Tensor, Tensor> layer_norm_backward(const Tensor& dy, const Tensor& x,
                                                       c10::SymIntArrayRef sizes,
                                                       const Tensor& mean, const Tensor& rstd,
                                                       const std::optional<Tensor>& weight,
                                                       const std::optional<Tensor>& bias,
                                                       std::array<bool, 3> wanted) {
  const IntArrayRef shape = C10_AS_INTARRAYREF_SLOW(sizes);
  const Tensor &gamma = value(weight), &beta = value(bias);
  NormShape s;
  Reason why = gate(x, shape, gamma, beta, s);
  if (why == Reason::kNone) why = gate_backward(dy, x, mean, rstd, gamma, beta, wanted, s);
  if (why != Reason::kNone)
    return stock<&layer_norm_backward>(why, dy, x, sizes, mean, rstd, weight, bias, wanted);
  const ScalarType type = mean.scalar_type();
  const Kernel<NormBackward>& k = backward_kernels[norm_types(x.scalar_type(), type)].get();
  const auto scope = taken<&layer_norm_backward>(k.name);
  const auto gradient = dy.expect_contiguous(), from = x.expect_contiguous();
  NormGradients out;
  if (wanted[0]) out.dx = empty_cpu(x.sizes(), x.scalar_type());
  if (wanted[1]) out.dgamma = empty_cpu(shape, type);
  if (wanted[2]) out.dbeta = empty_cpu(shape, type);
  run_norm_backward(
      k, s,
      {0, static_cast<size_t>(s.n), gradient->const_data_ptr(), from->const_data_ptr(),
       data_or_null(gamma), mean.const_data_ptr(), rstd.const_data_ptr(),
       wanted[0] ? out.dx.mutable_data_ptr() : nullptr, nullptr, nullptr},
      {x.element_size(), mean.element_size()}, out);
  return {std::move(out.dx), std::move(out.dgamma), std::move(out.dbeta)};
}

}  // namespace tenon::ops
