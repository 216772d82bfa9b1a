// Backward of relu, sigmoid, tanh, silu and gelu.
#include <c10/util/string_view.h>

#include "dispatch/parallel.h"
#include "dispatch/tables.h"
#include "ops/override.h"
#include "ops/overrides.h"
#include "ops/view.h"

namespace tenon::ops {
namespace {

// A function's kernels, in the order of float_type(), and the elements beyond which it is stock's.
struct Function {
  Slot<UnaryBackward> kernels[3];
  int64_t most[3] = {INT64_MAX, INT64_MAX, INT64_MAX};
};
#define KERNELS(f) \
  {{kUnaryBackward, f "_f32"}, {kUnaryBackward, f "_bf16"}, {kUnaryBackward, f "_f16"}}
// Out of cache f32 costs what memory costs, and stock's loops stream it a little better; exact gelu
// in f32 stock runs through oneDNN, slow to start and then faster (bench ops unary_backward; Zen 3,
// torch 2.13).
Function relu_function{KERNELS("relu_backward"), {32768, INT64_MAX, INT64_MAX}};
Function sigmoid_function{KERNELS("sigmoid_backward"), {32768, INT64_MAX, INT64_MAX}};
Function tanh_function{KERNELS("tanh_backward"), {32768, INT64_MAX, INT64_MAX}};
Function silu_function{KERNELS("silu_backward")};
Function gelu_function{KERNELS("gelu_backward"), {32768, INT64_MAX, INT64_MAX}};
Function gelu_tanh_function{KERNELS("gelu_tanh_backward")};
#undef KERNELS

constexpr int64_t kGrain = 8192;

Reason gate(const Function* f, const Tensor& dy, const Tensor& saved) {
  if (f == nullptr) return Reason::kArgument;
  const int type = float_type(dy.scalar_type());
  if (type < 0 || saved.scalar_type() != dy.scalar_type()) return Reason::kDtype;
  if (!plain(dy) || !plain(saved) || !dense(dy) || !same_layout(dy, saved)) return Reason::kLayout;
  return dy.numel() <= f->most[type] || stock_is_scalar() ? Reason::kNone : Reason::kSize;
}

Reason gate(const Function* f, const Tensor& dy, const Tensor& saved, const Tensor& dx) {
  if (const Reason why = gate(f, dy, saved); why != Reason::kNone) return why;
  if (dx.scalar_type() != dy.scalar_type()) return Reason::kDtype;
  if (!plain(dx) || !same_layout(dy, dx)) return Reason::kLayout;
  return may_write(dx, dy) && may_write(dx, saved) ? Reason::kNone : Reason::kOverlap;
}

void run(const Kernel<UnaryBackward>& k, const Tensor& dy, const Tensor& saved, const Tensor& dx) {
  const int64_t size = static_cast<int64_t>(dy.element_size());
  const auto *from = data<char>(dy), *kept = data<char>(saved);
  auto* to = mutable_data<char>(dx);
  parallel_for(dy.numel(), kGrain, [&](int64_t begin, int64_t end) {
    const int64_t at = begin * size;
    k.run(static_cast<size_t>(end - begin), from + at, kept + at, to + at);
  });
}

// The two forms of an operator; f is null where the arguments ask for what has no kernel. `rest` is
// what the operator takes beside its tensors, for stock.
template <auto Fn, class... Rest>
Tensor functional(Function* f, const Tensor& dy, const Tensor& saved, const Rest&... rest) {
  const Reason why = gate(f, dy, saved);
  if (why != Reason::kNone) return stock<Fn>(why, dy, saved, rest...);
  const Kernel<UnaryBackward>& k = f->kernels[float_type(dy.scalar_type())].get();
  const auto scope = taken<Fn>(k.name);
  Tensor dx = empty_like_dense(dy);
  run(k, dy, saved, dx);
  return dx;
}

template <auto Fn, class... Rest>
Tensor& out(Function* f, const Tensor& dy, const Tensor& saved, Tensor& dx, const Rest&... rest) {
  const Reason why = gate(f, dy, saved, dx);
  if (why != Reason::kNone) return stock<Fn>(why, dy, saved, rest..., dx);
  const Kernel<UnaryBackward>& k = f->kernels[float_type(dy.scalar_type())].get();
  const auto scope = taken<Fn>(k.name);
  run(k, dy, saved, dx);
  return dx;
}

Function* threshold_kind(const Scalar& threshold) {
  return !threshold.isComplex() && threshold.toDouble() == 0 ? &relu_function : nullptr;
}

Function* gelu_kind(c10::string_view approximate) {
  if (approximate == "none") return &gelu_function;
  return approximate == "tanh" ? &gelu_tanh_function : nullptr;
}

}  // namespace

#define BACKWARD(f)                                                             \
  Tensor f##_backward(const Tensor& dy, const Tensor& saved) {                  \
    return functional<&f##_backward>(&f##_function, dy, saved);                 \
  }                                                                             \
  Tensor& f##_backward_out(const Tensor& dy, const Tensor& saved, Tensor& dx) { \
    return out<&f##_backward_out>(&f##_function, dy, saved, dx);                \
  }
BACKWARD(sigmoid)
BACKWARD(tanh)
BACKWARD(silu)
#undef BACKWARD

Tensor threshold_backward(const Tensor& dy, const Tensor& x, const Scalar& threshold) {
  return functional<&threshold_backward>(threshold_kind(threshold), dy, x, threshold);
}
Tensor& threshold_backward_out(const Tensor& dy, const Tensor& x, const Scalar& threshold,
                               Tensor& dx) {
  return out<&threshold_backward_out>(threshold_kind(threshold), dy, x, dx, threshold);
}

Tensor gelu_backward(const Tensor& dy, const Tensor& x, c10::string_view approximate) {
  return functional<&gelu_backward>(gelu_kind(approximate), dy, x, approximate);
}
Tensor& gelu_backward_out(const Tensor& dy, const Tensor& x, c10::string_view approximate,
                          Tensor& dx) {
  return out<&gelu_backward_out>(gelu_kind(approximate), dy, x, dx, approximate);
}

}  // namespace tenon::ops
