// rms_norm, a composite operator in every torch: fused where nothing but autograd watches, and left
// to stock under functorch, tracing, forward-mode gradients and other modes, which have to see its
// parts. Gradients come from a node of our own, whose backward is fused too unless it is itself to
// be differentiated or watched.
#include <ATen/TensorOperators.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/rsqrt.h>
#include <c10/core/GradMode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/csrc/autograd/custom_function.h>

#include <limits>

#include "ops/norm_rows.h"
#include "ops/overrides.h"

namespace tenon::ops {
namespace {

using c10::DispatchKey;
using c10::DispatchKeySet;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constinit Slot<Norm> kernels[5] = {{kNorm, "rms_norm_f32_f32_f32"},
                                   {kNorm, "rms_norm_bf16_bf16_bf16"},
                                   {kNorm, "rms_norm_f16_f16_f16"},
                                   {kNorm, "rms_norm_bf16_bf16_f32"},
                                   {kNorm, "rms_norm_f16_f16_f32"}};
constinit Slot<NormBackward> backward_kernels[5] = {
    {kNormBackward, "rms_norm_backward_f32_f32_f32"},
    {kNormBackward, "rms_norm_backward_bf16_bf16_bf16"},
    {kNormBackward, "rms_norm_backward_f16_f16_f16"},
    {kNormBackward, "rms_norm_backward_bf16_bf16_f32"},
    {kNormBackward, "rms_norm_backward_f16_f16_f32"}};

// Nothing but autograd looks at a call with these keys. (Not `.empty()`: subtraction leaves the
// backend bits.)
bool unwatched(DispatchKeySet keys) {
  const DispatchKeySet own(
      {DispatchKey::CPU, DispatchKey::AutogradCPU, DispatchKey::ADInplaceOrView});
  return (keys - own).highestFunctionalityKey() == DispatchKey::Undefined;
}

bool unwatched(const Tensor& t) {
  const auto local = c10::impl::tls_local_dispatch_key_set();
  return unwatched((t.key_set() | local.included_) - local.excluded_);
}

bool needs_grad(const Tensor& x, const Tensor& w) {
  return c10::GradMode::is_enabled() && (x.requires_grad() || (w.defined() && w.requires_grad()));
}
bool has_tangent(const Tensor& t) { return t.defined() && t._fw_grad(0).defined(); }

// How this torch's composite treats 16-bit input: until 2.6 eps=None was that type's own epsilon,
// and an f32 weight made the result f32. Asked of stock once instead of read from a version number.
struct Habits {
  bool wide_epsilon, keeps_type;
};

class Quiet : public c10::WarningHandler {
  void process(const c10::Warning&) override {}
};

Tensor stock_of_one(float x, const std::optional<Tensor>& weight) {
  const Tensor one = empty_cpu({1}, at::kBFloat16);
  *mutable_data<c10::BFloat16>(one) = c10::BFloat16(x);
  const c10::SymInt size(1);
  return StockCall<Tensor, DispatchKeySet, const Tensor&, c10::SymIntArrayRef,
                   const std::optional<Tensor>&,
                   std::optional<double>>::call(override_of<&rms_norm>,
                                                DispatchKeySet(DispatchKey::CPU), one, size, weight,
                                                std::nullopt);
}

const Habits& habits() {
  static const Habits found = [] {
    Quiet quiet;  // stock warns once about mixed types
    c10::WarningUtils::WarningHandlerGuard guard(&quiet);
    const at::AutoDispatchBelowADInplaceOrView below;
    const Tensor weight = empty_cpu({1}, at::kFloat);
    *mutable_data<float>(weight) = 1;
    // 2^-7 is far above the root of f32's epsilon and far below that of bf16's.
    const bool wide = *data<c10::BFloat16>(stock_of_one(0x1p-7f, std::nullopt)) > 0.5f;
    return Habits{wide, stock_of_one(1, weight).scalar_type() == at::kBFloat16};
  }();
  return found;
}

double default_epsilon(ScalarType type) {
  if (type == at::kFloat || habits().wide_epsilon) return std::numeric_limits<float>::epsilon();
  return type == at::kHalf ? std::numeric_limits<c10::Half>::epsilon()
                           : std::numeric_limits<c10::BFloat16>::epsilon();
}

Reason gate(DispatchKeySet keys, const Tensor& x, IntArrayRef shape, const Tensor& w,
            NormShape& s) {
  if (!unwatched(keys)) return Reason::kMode;
  if (float_type(x.scalar_type()) < 0) return Reason::kDtype;
  if (!plain(x) || !like_new(x)) return Reason::kLayout;  // stock's result has x's strides
  if (const Reason why = norm_weight(w, x.scalar_type(), shape); why != Reason::kNone) return why;
  if (has_tangent(x) || has_tangent(w)) return Reason::kMode;
  if (w.defined() && w.scalar_type() != x.scalar_type() && !habits().keeps_type)
    return Reason::kDtype;
  return norm_shape(x, shape, s);
}

ScalarType weight_type(const Tensor& x, const Tensor& w) {
  return w.defined() ? w.scalar_type() : x.scalar_type();
}

Tensor forward(const Kernel<Norm>& k, const Tensor& x, const Tensor& w, const NormShape& s,
               double eps, const Tensor& rstd) {
  Tensor y = empty_cpu(x.sizes(), x.scalar_type());
  run_norm(
      k, s,
      {0, static_cast<size_t>(s.n), static_cast<float>(eps), x.const_data_ptr(), data_or_null(w),
       nullptr, y.mutable_data_ptr(), nullptr, rstd.defined() ? rstd.mutable_data_ptr() : nullptr},
      {x.element_size(), sizeof(float)});
  return y;
}

// The gradient of operators that can be differentiated and watched.
variable_list composite_backward(const Tensor& dy, const Tensor& x, const Tensor& w, int64_t axis,
                                 double eps) {
  at::DimVector inner, outer;
  for (int64_t d = 0; d < x.dim(); ++d) (d < axis ? outer : inner).push_back(d);
  const Tensor v = x.to(at::kFloat), grad = dy.to(at::kFloat);
  const Tensor rstd = at::rsqrt((v * v).mean(inner, true) + eps), u = v * rstd;
  const Tensor g = w.defined() ? grad * w.to(at::kFloat) : grad;
  Tensor dx = ((g - u * (g * u).mean(inner, true)) * rstd).to(x.scalar_type());
  if (!w.defined()) return {dx, Tensor()};
  Tensor dw = grad * u;
  if (!outer.empty()) dw = dw.sum(outer);
  return {dx, dw.to(w.scalar_type())};
}

variable_list fused_backward(const Tensor& dy, const Tensor& x, const Tensor& w, const Tensor& rstd,
                             const NormShape& s, bool wants_x, bool wants_w) {
  const Kernel<NormBackward>& k =
      backward_kernels[norm_types(x.scalar_type(), weight_type(x, w))].get();
  const KernelScope scope(k.name);
  const auto gradient = dy.expect_contiguous();
  NormGradients out;
  if (wants_x) out.dx = empty_cpu(x.sizes(), x.scalar_type());
  if (wants_w) out.dgamma = empty_cpu(w.sizes(), w.scalar_type());
  run_norm_backward(k, s,
                    {0, static_cast<size_t>(s.n), gradient->const_data_ptr(), x.const_data_ptr(),
                     data_or_null(w), nullptr, rstd.const_data_ptr(),
                     wants_x ? out.dx.mutable_data_ptr() : nullptr, nullptr, nullptr},
                    {x.element_size(), sizeof(float)}, out);
  return {out.dx, out.dgamma};
}

struct RmsNorm : torch::autograd::Function<RmsNorm> {
  static constexpr bool is_traceable = true;

  // An absent weight stays an absent optional: the node asks a tensor for its device.
  static Tensor forward(AutogradContext* ctx, const Tensor& x, const std::optional<Tensor>& weight,
                        int64_t axis, double eps) {
    const Tensor w = weight.value_or(Tensor());
    NormShape s;
    norm_shape(x, x.sizes().slice(static_cast<size_t>(axis)), s);
    const at::AutoDispatchBelowADInplaceOrView below;
    const Tensor rstd = empty_cpu({s.rows}, at::kFloat);
    const Kernel<Norm>& k = kernels[norm_types(x.scalar_type(), weight_type(x, w))].get();
    Tensor y = ops::forward(k, x, w, s, eps, rstd);
    ctx->save_for_backward({x, w, rstd});
    ctx->saved_data["axis"] = axis;
    ctx->saved_data["eps"] = eps;
    return y;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const variable_list saved = ctx->get_saved_variables();
    const Tensor &dy = grads[0], &x = saved[0], &w = saved[1], &rstd = saved[2];
    const int64_t axis = ctx->saved_data["axis"].toInt();
    const double eps = ctx->saved_data["eps"].toDouble();
    if (!dy.defined()) return {Tensor(), Tensor(), Tensor(), Tensor()};
    const bool fused = !c10::GradMode::is_enabled() && unwatched(dy) && unwatched(x) && plain(dy) &&
                       !has_tangent(dy) && dy.scalar_type() == x.scalar_type() &&
                       dy.sizes() == x.sizes() && x.is_contiguous();
    NormShape s;
    norm_shape(x, x.sizes().slice(static_cast<size_t>(axis)), s);
    variable_list d = fused ? fused_backward(dy, x, w, rstd, s, ctx->needs_input_grad(0),
                                             w.defined() && ctx->needs_input_grad(1))
                            : composite_backward(dy, x, w, axis, eps);
    return {d[0], d[1], Tensor(), Tensor()};
  }
};

}  // namespace

Tensor rms_norm(DispatchKeySet keys, const Tensor& x, c10::SymIntArrayRef sizes,
                const std::optional<Tensor>& weight, std::optional<double> eps) {
  const auto known = c10::asIntArrayRefSlowOpt(sizes);
  if (!known) return stock<&rms_norm>(Reason::kMode, keys, x, sizes, weight, eps);
  const IntArrayRef shape = *known;
  const Tensor w = weight.value_or(Tensor());
  NormShape s;
  if (const Reason why = gate(keys, x, shape, w, s); why != Reason::kNone)
    return stock<&rms_norm>(why, keys, x, sizes, weight, eps);
  const Kernel<Norm>& k = kernels[norm_types(x.scalar_type(), weight_type(x, w))].get();
  const auto scope = taken<&rms_norm>(k.name);
  const double added = eps ? *eps : default_epsilon(x.scalar_type());
  if (needs_grad(x, w)) return RmsNorm::apply(x, weight, s.axis, added);
  const at::AutoDispatchBelowADInplaceOrView below;
  return forward(k, x, w, s, added, Tensor());
}

}  // namespace tenon::ops
