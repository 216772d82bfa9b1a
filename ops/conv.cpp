// Convolution: _convolution, which convolution, conv1d, conv2d and traced models come to once
// autograd, whose formula is of its own, is behind them. It is above the place where stock takes
// the groups apart. The result is contiguous, as stock's is where no operand is channels-last.
#include "dispatch/conv.h"

#include "ops/override.h"
#include "ops/overrides.h"
#include "ops/view.h"

namespace tenon::ops {
namespace {

// What stock takes for the parameter of dimension d: one for all, or one each.
int64_t at(IntArrayRef parameter, size_t d) { return parameter[parameter.size() == 1 ? 0 : d]; }

struct Parameters {
  IntArrayRef stride, padding, dilation;

  bool fit(size_t dimensions) const {
    for (const IntArrayRef& p : {stride, padding, dilation})
      if (p.size() != 1 && p.size() != dimensions) return false;
    return true;
  }
  // The axis of a spatial dimension d of x and w; out is 0 or less where stock has a message.
  Axis axis(const Tensor& x, const Tensor& w, size_t d) const {
    const auto dim = static_cast<int64_t>(d) + 2;
    Axis a{x.size(dim), 0, w.size(dim), at(stride, d), at(padding, d), at(dilation, d)};
    const int64_t room = a.in + 2 * a.padding - a.dilation * (a.taps - 1) - 1;
    const bool sane = a.stride > 0 && a.padding >= 0 && a.dilation > 0 && room >= 0;
    a.out = sane ? room / a.stride + 1 : 0;
    return a;
  }
};

bool channels_last(const Tensor& t) {
  return t.suggest_memory_format() != at::MemoryFormat::Contiguous;
}

Reason gate_operands(const Tensor& x, const Tensor& w, const Tensor& bias) {
  if (float_type(x.scalar_type()) < 0) return Reason::kDtype;
  if (x.dim() != w.dim() || (x.dim() != 3 && x.dim() != 4)) return Reason::kShape;
  for (const Tensor* t : {&w, &bias}) {
    if (!t->defined()) continue;
    if (t->scalar_type() != x.scalar_type()) return Reason::kDtype;
    if (!plain(*t)) return Reason::kLayout;
  }
  if (!plain(x) || channels_last(x) || channels_last(w)) return Reason::kLayout;
  return x.numel() == 0 || w.numel() == 0 ? Reason::kSize : Reason::kNone;
}

Reason gate(const Tensor& x, const Tensor& w, const Tensor& bias, const Parameters& parameters,
            int64_t groups, ConvProblem& p) {
  const auto dimensions = static_cast<size_t>(x.dim()) - 2;
  if (groups <= 0 || !parameters.fit(dimensions)) return Reason::kArgument;
  p.type = float_type(x.scalar_type());
  p.batch = x.size(0), p.groups = groups;
  p.channels = w.size(1), p.rows = w.size(0) / groups;
  if (x.size(1) != p.channels * groups || p.rows * groups != w.size(0)) return Reason::kShape;
  if (bias.defined() && (bias.dim() != 1 || bias.size(0) != w.size(0))) return Reason::kShape;
  p.height = dimensions == 2 ? parameters.axis(x, w, 0) : Axis{1, 1, 1, 1, 0, 1};
  p.width = parameters.axis(x, w, dimensions - 1);
  return p.height.out < 1 || p.width.out < 1 ? Reason::kArgument : Reason::kNone;
}

}  // namespace

Tensor convolution(const Tensor& x, const Tensor& w, const std::optional<Tensor>& bias,
                   c10::SymIntArrayRef stride, c10::SymIntArrayRef padding,
                   c10::SymIntArrayRef dilation, bool transposed,
                   c10::SymIntArrayRef output_padding, c10::SymInt groups, bool benchmark,
                   bool deterministic, bool cudnn_enabled, bool allow_tf32) {
  const Tensor& b = value(bias);
  ConvProblem p{};
  Reason why = transposed ? Reason::kArgument : gate_operands(x, w, b);
  if (why == Reason::kNone)
    why = gate(x, w, b,
               {C10_AS_INTARRAYREF_SLOW(stride), C10_AS_INTARRAYREF_SLOW(padding),
                C10_AS_INTARRAYREF_SLOW(dilation)},
               groups.guard_int(__FILE__, __LINE__), p);
  if (why != Reason::kNone)
    return stock<&convolution>(why, x, w, bias, stride, padding, dilation, transposed,
                               output_padding, groups, benchmark, deterministic, cudnn_enabled,
                               allow_tf32);
  const auto scope = taken<&convolution>(conv_kernel_name());
  const auto from = x.expect_contiguous(), weights = w.expect_contiguous();
  const auto offsets = b.defined() ? b.expect_contiguous() : c10::MaybeOwned<Tensor>::borrowed(b);
  at::DimVector sizes{x.size(0), w.size(0)};
  if (x.dim() == 4) sizes.push_back(p.height.out);
  sizes.push_back(p.width.out);
  Tensor y = empty_cpu(sizes, x.scalar_type());
  p.x = from->const_data_ptr(), p.w = weights->const_data_ptr(), p.y = y.mutable_data_ptr();
  p.bias = b.defined() ? offsets->const_data_ptr() : nullptr;
  run_conv(p);
  return y;
}

}  // namespace tenon::ops
