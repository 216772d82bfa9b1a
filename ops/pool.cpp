// max_pool2d, avg_pool2d and adaptive_avg_pool2d: the leaves max_pool2d_with_indices, avg_pool2d
// and _adaptive_avg_pool2d. Gradients are operators of their own and stay stock's.
#include "dispatch/pool.h"

#include <tuple>

#include "ops/override.h"
#include "ops/overrides.h"
#include "ops/view.h"

namespace tenon::ops {
namespace {

// Planes of 2^31 elements or more have places that the kernel cannot count.
constexpr int64_t kLargestPlane = int64_t{1} << 31;

struct Parameters {
  IntArrayRef kernel, stride, padding;
  bool ceil;

  bool fit() const {
    const auto one_or_two = [](IntArrayRef p) { return p.size() == 1 || p.size() == 2; };
    return one_or_two(kernel) && (stride.empty() || one_or_two(stride)) && one_or_two(padding);
  }
  static int64_t at(IntArrayRef p, size_t d) { return p[p.size() == 1 ? 0 : d]; }

  // As pooling_output_shape of ATen/native/Pool.h; out is 0 where stock has a message.
  Axis axis(int64_t in, size_t d) const {
    Axis a{in, 0, at(kernel, d), at(stride.empty() ? kernel : stride, d), at(padding, d), 1};
    const int64_t room = in + 2 * a.padding - a.taps;
    if (a.taps < 1 || a.stride < 1 || a.padding < 0 || a.padding > a.taps / 2 || room < 0) return a;
    a.out = (room + (ceil ? a.stride - 1 : 0)) / a.stride + 1;
    if (ceil && (a.out - 1) * a.stride >= in + a.padding) --a.out;
    return a;
  }
};

Reason gate_input(const Tensor& x) {
  if (float_type(x.scalar_type()) < 0) return Reason::kDtype;
  if (x.dim() != 3 && x.dim() != 4) return Reason::kShape;
  if (!plain(x) || !like_new(x)) return Reason::kLayout;
  if (x.suggest_memory_format() != at::MemoryFormat::Contiguous) return Reason::kLayout;
  return x.numel() == 0 ? Reason::kSize : Reason::kNone;
}

// The planes of x, not yet pooled.
PoolProblem planes_of(const Tensor& x) {
  PoolProblem p{};
  p.type = float_type(x.scalar_type());
  p.planes = x.numel() / (x.size(-1) * x.size(-2));
  p.x = x.const_data_ptr();
  return p;
}

Reason gate(const Tensor& x, const Parameters& parameters, PoolProblem& p) {
  if (!parameters.fit()) return Reason::kArgument;
  if (const Reason why = gate_input(x); why != Reason::kNone) return why;
  p = planes_of(x);
  p.height = parameters.axis(x.size(-2), 0), p.width = parameters.axis(x.size(-1), 1);
  if (p.height.out < 1 || p.width.out < 1) return Reason::kArgument;
  return x.size(-2) * x.size(-1) < kLargestPlane ? Reason::kNone : Reason::kSize;
}

at::DimVector sizes_of(const Tensor& x, const PoolProblem& p) {
  at::DimVector sizes(x.sizes().begin(), x.sizes().end() - 2);
  sizes.push_back(p.height.out), sizes.push_back(p.width.out);
  return sizes;
}

// Whether an output of the caller's can take the result as it stands.
Reason gate_out(const Tensor& y, const Tensor& x, IntArrayRef sizes, ScalarType type) {
  if (y.scalar_type() != type) return Reason::kDtype;
  if (!plain(y) || !like_new(y)) return Reason::kLayout;
  if (y.sizes() != sizes) return Reason::kShape;
  return disjoint(y, x) ? Reason::kNone : Reason::kOverlap;
}

bool dilated(IntArrayRef dilation) {
  for (const int64_t d : dilation)
    if (d != 1) return true;
  return dilation.empty() || dilation.size() > 2;
}

Reason gate_max(const Tensor& x, const Parameters& parameters, IntArrayRef dilation,
                PoolProblem& p) {
  return dilated(dilation) ? Reason::kArgument : gate(x, parameters, p);
}

// Windows of one size that do not overlap, where the output's size divides the input's.
Reason gate_adaptive(const Tensor& x, IntArrayRef out, PoolProblem& p) {
  if (const Reason why = gate_input(x); why != Reason::kNone) return why;
  if (out.size() != 2) return Reason::kArgument;
  p = planes_of(x);
  for (size_t d : {0, 1}) {
    const int64_t in = x.size(static_cast<int64_t>(d) - 2);
    if (out[d] < 1 || in % out[d] != 0) return Reason::kShape;
    (d == 0 ? p.height : p.width) = {in, out[d], in / out[d], in / out[d], 0, 1};
  }
  // Of few windows in a row hardly a lane of a vector is used, and stock adds as fast.
  return p.width.out < 4 ? Reason::kSize : Reason::kNone;
}

}  // namespace

std::tuple<Tensor, Tensor> max_pool2d(const Tensor& x, IntArrayRef kernel, IntArrayRef stride,
                                      IntArrayRef padding, IntArrayRef dilation, bool ceil) {
  PoolProblem p;
  if (const Reason why = gate_max(x, {kernel, stride, padding, ceil}, dilation, p);
      why != Reason::kNone)
    return stock<&max_pool2d>(why, x, kernel, stride, padding, dilation, ceil);
  const auto scope = taken<&max_pool2d>(max_pool_kernel_name(p.type));
  Tensor y = empty_cpu(sizes_of(x, p), x.scalar_type()), index = empty_cpu(y.sizes(), at::kLong);
  p.y = y.mutable_data_ptr();
  run_max_pool(p, mutable_data<int64_t>(index));
  return {std::move(y), std::move(index)};
}

std::tuple<Tensor&, Tensor&> max_pool2d_out(const Tensor& x, IntArrayRef kernel, IntArrayRef stride,
                                            IntArrayRef padding, IntArrayRef dilation, bool ceil,
                                            Tensor& y, Tensor& index) {
  PoolProblem p;
  Reason why = gate_max(x, {kernel, stride, padding, ceil}, dilation, p);
  if (why == Reason::kNone) why = gate_out(y, x, sizes_of(x, p), x.scalar_type());
  if (why == Reason::kNone) why = gate_out(index, x, sizes_of(x, p), at::kLong);
  if (why == Reason::kNone && !disjoint(y, index)) why = Reason::kOverlap;
  if (why != Reason::kNone)
    return stock<&max_pool2d_out>(why, x, kernel, stride, padding, dilation, ceil, y, index);
  const auto scope = taken<&max_pool2d_out>(max_pool_kernel_name(p.type));
  p.y = y.mutable_data_ptr();
  run_max_pool(p, mutable_data<int64_t>(index));
  return {y, index};
}

Tensor avg_pool2d(const Tensor& x, IntArrayRef kernel, IntArrayRef stride, IntArrayRef padding,
                  bool ceil, bool count_padding, std::optional<int64_t> divisor) {
  PoolProblem p;
  Reason why = gate(x, {kernel, stride, padding, ceil}, p);
  if (why == Reason::kNone && divisor == 0) why = Reason::kArgument;
  if (why != Reason::kNone)
    return stock<&avg_pool2d>(why, x, kernel, stride, padding, ceil, count_padding, divisor);
  const auto scope = taken<&avg_pool2d>(avg_pool_kernel_name(p.type));
  Tensor y = empty_cpu(sizes_of(x, p), x.scalar_type());
  p.y = y.mutable_data_ptr();
  run_avg_pool(p, {count_padding, divisor.value_or(0)});
  return y;
}

Tensor& avg_pool2d_out(const Tensor& x, IntArrayRef kernel, IntArrayRef stride, IntArrayRef padding,
                       bool ceil, bool count_padding, std::optional<int64_t> divisor, Tensor& y) {
  PoolProblem p;
  Reason why = gate(x, {kernel, stride, padding, ceil}, p);
  if (why == Reason::kNone && divisor == 0) why = Reason::kArgument;
  if (why == Reason::kNone) why = gate_out(y, x, sizes_of(x, p), x.scalar_type());
  if (why != Reason::kNone)
    return stock<&avg_pool2d_out>(why, x, kernel, stride, padding, ceil, count_padding, divisor, y);
  const auto scope = taken<&avg_pool2d_out>(avg_pool_kernel_name(p.type));
  p.y = y.mutable_data_ptr();
  run_avg_pool(p, {count_padding, divisor.value_or(0)});
  return y;
}

Tensor adaptive_avg_pool2d(const Tensor& x, c10::SymIntArrayRef out) {
  PoolProblem p;
  const Reason why = gate_adaptive(x, C10_AS_INTARRAYREF_SLOW(out), p);
  if (why != Reason::kNone) return stock<&adaptive_avg_pool2d>(why, x, out);
  const auto scope = taken<&adaptive_avg_pool2d>(avg_pool_kernel_name(p.type));
  Tensor y = empty_cpu(sizes_of(x, p), x.scalar_type());
  p.y = y.mutable_data_ptr();
  run_avg_pool(p, {true, 0});
  return y;
}

}  // namespace tenon::ops
