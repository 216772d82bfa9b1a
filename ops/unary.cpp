// Element-wise functions of one operand: exp.
#include "dispatch/parallel.h"
#include "dispatch/tables.h"
#include "ops/override.h"
#include "ops/overrides.h"
#include "ops/view.h"

namespace tenon::ops {
namespace {

constexpr int64_t kGrain = 16384;

Slot<Unary> exp_kernel{kUnary, "exp_f32"};

Reason gate(const Tensor& x) {
  if (x.scalar_type() != at::kFloat) return Reason::kDtype;
  if (!plain(x) || !dense(x)) return Reason::kLayout;
  return Reason::kNone;
}

Reason gate(const Tensor& x, const Tensor& y) {
  if (y.scalar_type() != x.scalar_type()) return Reason::kDtype;
  if (!plain(y) || !same_layout(x, y)) return Reason::kLayout;
  if (!may_write(y, x)) return Reason::kOverlap;
  return gate(x);
}

void run(const Kernel<Unary>& k, const Tensor& x, const Tensor& y) {
  const auto* from = data<float>(x);
  auto* to = mutable_data<float>(y);
  parallel_for(x.numel(), kGrain, [&](int64_t begin, int64_t end) {
    k.run(static_cast<size_t>(end - begin), from + begin, to + begin);
  });
}

}  // namespace

Tensor exp(const Tensor& x) {
  if (const Reason why = gate(x); why != Reason::kNone) return stock<&exp>(why, x);
  const Kernel<Unary>& k = exp_kernel.get();
  const auto scope = taken<&exp>(k.name);
  Tensor y = empty_like_dense(x);
  run(k, x, y);
  return y;
}

Tensor& exp_(Tensor& x) {
  if (const Reason why = gate(x); why != Reason::kNone) return stock<&exp_>(why, x);
  const Kernel<Unary>& k = exp_kernel.get();
  const auto scope = taken<&exp_>(k.name);
  run(k, x, x);
  return x;
}

Tensor& exp_out(const Tensor& x, Tensor& y) {
  if (const Reason why = gate(x, y); why != Reason::kNone) return stock<&exp_out>(why, x, y);
  const Kernel<Unary>& k = exp_kernel.get();
  const auto scope = taken<&exp_out>(k.name);
  run(k, x, y);
  return y;
}

}  // namespace tenon::ops
