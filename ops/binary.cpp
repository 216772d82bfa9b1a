// add, sub, mul and div of tensors of one layout, of a tensor and a number, and of a tensor and one
// that repeats along its leading or its last dimensions.
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <optional>

#include "dispatch/parallel.h"
#include "dispatch/tables.h"
#include "ops/override.h"
#include "ops/overrides.h"
#include "ops/view.h"

namespace tenon::ops {
namespace {

constexpr int64_t kGrain = 32768;
constexpr int64_t kLeastRow = 16;  // shorter rows are not worth a kernel call each
// Out of cache f32 arithmetic costs what memory costs, and stock's loops stream it a little better;
// rows and columns lose their advantage sooner (bench ops binary; Zen 3, torch 2.13).
constexpr int64_t kMostF32 = 65536, kMostBroadcastF32 = 8192;

#define SLOTS(type, f) \
  Slot<type> f##_kernels[] = {{k##type, #f "_f32"}, {k##type, #f "_bf16"}, {k##type, #f "_f16"}};
SLOTS(Binary, add)
SLOTS(Binary, mul)
SLOTS(Binary, div)
SLOTS(BinaryScalar, add_scalar)
SLOTS(BinaryScalar, mul_scalar)
SLOTS(BinaryScalar, div_scalar)
SLOTS(BinaryScalar, rsub_scalar)
SLOTS(BinaryScalar, rdiv_scalar)
#undef SLOTS

// An operator's kernels: f(a, b), f(a, number) and f(number, b).
struct Operator {
  Slot<Binary>* both;
  Slot<BinaryScalar>* right;
  Slot<BinaryScalar>* left;
  float sign;  // of b, in a sum
};
const Operator kAdd{add_kernels, add_scalar_kernels, add_scalar_kernels, 1};
const Operator kSub{add_kernels, add_scalar_kernels, rsub_scalar_kernels, -1};
const Operator kMul{mul_kernels, mul_scalar_kernels, mul_scalar_kernels, 1};
const Operator kDiv{div_kernels, div_scalar_kernels, rdiv_scalar_kernels, 1};

enum class Repeat : uint8_t {
  kNothing,      // a and b have one layout
  kRight,        // b is a number
  kLeft,         // a is a number
  kRightRow,     // b is a row of a
  kLeftRow,      // a is a row of b
  kRightColumn,  // each element of b serves a row of a
};

// How one call maps onto kernels: `rows` calls on `n` elements each.
struct Plan {
  Reason why = Reason::kNone;
  Repeat repeat = Repeat::kNothing;
  int64_t rows = 1, n = 0;
  float s = 1;

  Plan(Reason r) : why(r) {}
  Plan(Repeat r, int64_t rows_of, int64_t n_of, float s_of)
      : repeat(r), rows(rows_of), n(n_of), s(s_of) {}
};

// The value of a 0-dim tensor in the arithmetic of f32, rounded once.
std::optional<float> number(const Tensor& t) {
  switch (t.scalar_type()) {
    case at::kFloat:
      return *data<float>(t);
    case at::kDouble:
      return static_cast<float>(*data<double>(t));
    case at::kLong:
      return static_cast<float>(*data<int64_t>(t));
    case at::kInt:
      return static_cast<float>(*data<int32_t>(t));
    case at::kBFloat16:
      return to_f32(*data<bf16>(t));
    case at::kHalf:
      return to_f32(*data<f16>(t));
    default:
      return std::nullopt;
  }
}

bool wrapped(const Tensor& t) { return t.unsafeGetTensorImpl()->is_wrapped_number(); }

// A dense tensor whose result has its strides. Beside an operand of another shape, ATen gives
// dimensions of size 1 strides of its own.
bool keeps_strides(const Tensor& t) {
  if (!dense(t)) return false;
  if (t.is_contiguous()) return like_new(t);
  return std::find(t.sizes().begin(), t.sizes().end(), 1) == t.sizes().end();
}

// `row` has the trailing dimensions of x.
Plan plan_row(Repeat repeat, const Tensor& x, const Tensor& row, float s) {
  at::IntArrayRef tail = row.sizes();
  while (!tail.empty() && tail.front() == 1) tail = tail.slice(1);
  if (static_cast<int64_t>(tail.size()) > x.dim() || x.sizes().slice(x.dim() - tail.size()) != tail)
    return Reason::kShape;
  const int64_t n = row.numel();
  return n < kLeastRow ? Plan(Reason::kSize) : Plan(repeat, x.numel() / n, n, s);
}

// b of the leading dimensions of a, and 1 in the others.
Plan plan_column(const Tensor& a, const Tensor& b, float s) {
  int64_t same = 0;
  while (same < a.dim() && a.size(same) == b.size(same)) ++same;
  for (int64_t d = same; d < b.dim(); ++d)
    if (b.size(d) != 1) return Reason::kShape;
  const int64_t n = a.numel() / b.numel();
  return n < kLeastRow ? Plan(Reason::kSize) : Plan(Repeat::kRightColumn, b.numel(), n, s);
}

Plan plan_broadcast(const Tensor& a, const Tensor& b, float s) {
  if (!a.is_contiguous() || !b.is_contiguous()) return Reason::kLayout;
  const bool left = b.dim() > a.dim() || (b.dim() == a.dim() && b.numel() > a.numel());
  if (!keeps_strides(left ? b : a)) return Reason::kLayout;
  if (left) return plan_row(Repeat::kLeftRow, b, a, s);
  const bool column = b.dim() == a.dim() && b.size(b.dim() - 1) == 1;
  return column ? plan_column(a, b, s) : plan_row(Repeat::kRightRow, a, b, s);
}

Plan plan_number(Repeat repeat, const Tensor& x, float s) {
  if (float_type(x.scalar_type()) < 0) return Reason::kDtype;
  return keeps_strides(x) ? Plan(repeat, 1, x.numel(), s) : Plan(Reason::kLayout);
}

Plan make_plan(const Tensor& a, const Tensor& b, float s) {
  if (!plain(a) || !plain(b)) return Reason::kLayout;
  if (a.numel() == 0 || b.numel() == 0) return Reason::kSize;  // strides of nothing are stock's own
  const bool same_type = a.scalar_type() == b.scalar_type();
  if (same_type && same_layout(a, b) && float_type(a.scalar_type()) >= 0 && !wrapped(a))
    return dense(a) ? Plan(Repeat::kNothing, 1, a.numel(), s) : Plan(Reason::kLayout);
  if (b.dim() == 0 && (a.dim() > 0 || (wrapped(b) && !wrapped(a))))
    return number(b) ? plan_number(Repeat::kRight, a, s) : Plan(Reason::kDtype);
  if (a.dim() == 0 && (b.dim() > 0 || (wrapped(a) && !wrapped(b))))
    return number(a) ? plan_number(Repeat::kLeft, b, s) : Plan(Reason::kDtype);
  if (!same_type || float_type(a.scalar_type()) < 0) return Reason::kDtype;
  return plan_broadcast(a, b, s);
}

// The operand that has the result's shape.
const Tensor& shape_of(const Plan& plan, const Tensor& a, const Tensor& b) {
  return plan.repeat == Repeat::kLeft || plan.repeat == Repeat::kLeftRow ? b : a;
}

// Stock's f32 loops over so many elements are as good or better.
Plan within_size(const Plan& plan, const Tensor& a, const Tensor& b) {
  if (plan.why != Reason::kNone || stock_is_scalar() ||
      shape_of(plan, a, b).scalar_type() != at::kFloat)
    return plan;
  const int64_t most = plan.rows == 1 ? kMostF32 : kMostBroadcastF32;
  return plan.rows * plan.n > most ? Plan(Reason::kSize) : plan;
}

Plan plan_product(const Tensor& a, const Tensor& b) {
  return within_size(make_plan(a, b, 1), a, b);
}

// With alpha as the factor of b. A number has to have the factor 1: elsewhere stock rounds the
// product or does not, as the case may be. What f32 cannot hold, stock refuses.
Plan plan_sum(const Operator& op, const Tensor& a, const Tensor& b, const Scalar& alpha) {
  if (alpha.isComplex() || alpha.isBoolean()) return Reason::kArgument;
  const double value = alpha.toDouble();
  if (std::isfinite(value) && std::fabs(value) > FLT_MAX) return Reason::kArgument;
  const Plan plan = within_size(make_plan(a, b, op.sign * static_cast<float>(value)), a, b);
  const bool both = plan.repeat != Repeat::kRight && plan.repeat != Repeat::kLeft &&
                    plan.repeat != Repeat::kRightColumn;
  return both || value == 1 ? plan : Plan(Reason::kArgument);
}

// Whether the result can go to y as it stands.
void admit_output(Plan& plan, const Tensor& a, const Tensor& b, const Tensor& y) {
  if (plan.why != Reason::kNone) return;
  const Tensor& x = shape_of(plan, a, b);
  const Tensor& other = &x == &a ? b : a;
  const bool alone = plan.repeat != Repeat::kNothing;
  if (y.scalar_type() != x.scalar_type())
    plan.why = Reason::kDtype;
  else if (!plain(y) || !same_layout(x, y))
    plan.why = Reason::kLayout;
  else if (!may_write(y, x) || !(alone ? disjoint(y, other) : may_write(y, other)))
    plan.why = Reason::kOverlap;
}

// The number that a kernel's s has to be.
float scalar_of(const Operator& op, const Plan& plan, float value) {
  return op.right == add_scalar_kernels && plan.repeat != Repeat::kLeft ? plan.s * value : value;
}

const char* kernel_name(const Operator& op, const Plan& plan, int type) {
  switch (plan.repeat) {
    case Repeat::kLeft:
      return op.left[type].get().name;
    case Repeat::kRight:
    case Repeat::kRightColumn:
      return op.right[type].get().name;
    default:
      return op.both[type].get().name;
  }
}

void run_both(const Operator& op, const Plan& plan, const Tensor& a, const Tensor& b,
              const Tensor& y) {
  const Kernel<Binary>& k = op.both[float_type(y.scalar_type())].get();
  const int64_t size = static_cast<int64_t>(y.element_size());
  const auto *pa = data<char>(a), *pb = data<char>(b);
  auto* py = mutable_data<char>(y);
  if (plan.rows == 1) {
    parallel_for(plan.n, kGrain, [&](int64_t begin, int64_t end) {
      const int64_t at = begin * size;
      k.run(static_cast<size_t>(end - begin), plan.s, pa + at, pb + at, py + at);
    });
    return;
  }
  const int64_t step = plan.n * size;
  const int64_t step_a = plan.repeat == Repeat::kLeftRow ? 0 : step, step_b = step - step_a;
  parallel_for(plan.rows, std::max<int64_t>(1, kGrain / plan.n), [&](int64_t row, int64_t end) {
    for (; row < end; ++row)
      k.run(static_cast<size_t>(plan.n), plan.s, pa + row * step_a, pb + row * step_b,
            py + row * step);
  });
}

void run_number(const Operator& op, const Plan& plan, const Tensor& x, float value,
                const Tensor& y) {
  auto* slots = plan.repeat == Repeat::kLeft ? op.left : op.right;
  const Kernel<BinaryScalar>& k = slots[float_type(y.scalar_type())].get();
  const int64_t size = static_cast<int64_t>(y.element_size());
  const float s = scalar_of(op, plan, value);
  const auto* px = data<char>(x);
  auto* py = mutable_data<char>(y);
  parallel_for(plan.n, kGrain, [&](int64_t begin, int64_t end) {
    k.run(static_cast<size_t>(end - begin), s, px + begin * size, py + begin * size);
  });
}

void run_column(const Operator& op, const Plan& plan, const Tensor& a, const Tensor& b,
                const Tensor& y) {
  const int type = float_type(y.scalar_type());
  const Kernel<BinaryScalar>& k = op.right[type].get();
  const int64_t step = plan.n * static_cast<int64_t>(y.element_size());
  const auto *pa = data<char>(a), *pb = data<char>(b);
  auto* py = mutable_data<char>(y);
  const auto value = [&](int64_t row) {
    if (type == 0) return reinterpret_cast<const float*>(pb)[row];
    return type == 1 ? to_f32(reinterpret_cast<const bf16*>(pb)[row])
                     : to_f32(reinterpret_cast<const f16*>(pb)[row]);
  };
  parallel_for(plan.rows, std::max<int64_t>(1, kGrain / plan.n), [&](int64_t row, int64_t end) {
    for (; row < end; ++row)
      k.run(static_cast<size_t>(plan.n), scalar_of(op, plan, value(row)), pa + row * step,
            py + row * step);
  });
}

void run(const Operator& op, const Plan& plan, const Tensor& a, const Tensor& b, const Tensor& y) {
  switch (plan.repeat) {
    case Repeat::kNothing:
    case Repeat::kLeftRow:
    case Repeat::kRightRow:
      return run_both(op, plan, a, b, y);
    case Repeat::kRight:
      return run_number(op, plan, a, *number(b), y);
    case Repeat::kLeft:
      return run_number(op, plan, b, *number(a), y);
    case Repeat::kRightColumn:
      return run_column(op, plan, a, b, y);
  }
}

template <auto Fn, class... Rest>
Tensor functional(const Operator& op, Plan plan, const Tensor& a, const Tensor& b,
                  const Rest&... rest) {
  if (plan.why != Reason::kNone) return stock<Fn>(plan.why, a, b, rest...);
  const Tensor& x = shape_of(plan, a, b);
  const auto scope = taken<Fn>(kernel_name(op, plan, float_type(x.scalar_type())));
  Tensor y = empty_like_dense(x);
  run(op, plan, a, b, y);
  return y;
}

template <auto Fn, class... Rest>
Tensor& in_place(const Operator& op, Plan plan, Tensor& a, const Tensor& b, const Rest&... rest) {
  admit_output(plan, a, b, a);
  if (plan.why != Reason::kNone) return stock<Fn>(plan.why, a, b, rest...);
  const auto scope = taken<Fn>(kernel_name(op, plan, float_type(a.scalar_type())));
  run(op, plan, a, b, a);
  return a;
}

template <auto Fn, class... Rest>
Tensor& out(const Operator& op, Plan plan, const Tensor& a, const Tensor& b, Tensor& y,
            const Rest&... rest) {
  admit_output(plan, a, b, y);
  if (plan.why != Reason::kNone) return stock<Fn>(plan.why, a, b, rest..., y);
  const auto scope = taken<Fn>(kernel_name(op, plan, float_type(y.scalar_type())));
  run(op, plan, a, b, y);
  return y;
}

}  // namespace

#define SUM(f, op)                                                                    \
  Tensor f(const Tensor& a, const Tensor& b, const Scalar& alpha) {                   \
    return functional<&f>(op, plan_sum(op, a, b, alpha), a, b, alpha);                \
  }                                                                                   \
  Tensor& f##_(Tensor& a, const Tensor& b, const Scalar& alpha) {                     \
    return in_place<&f##_>(op, plan_sum(op, a, b, alpha), a, b, alpha);               \
  }                                                                                   \
  Tensor& f##_out(const Tensor& a, const Tensor& b, const Scalar& alpha, Tensor& y) { \
    return out<&f##_out>(op, plan_sum(op, a, b, alpha), a, b, y, alpha);              \
  }
SUM(add, kAdd)
SUM(sub, kSub)
#undef SUM

#define PRODUCT(f, op)                                           \
  Tensor f(const Tensor& a, const Tensor& b) {                   \
    return functional<&f>(op, plan_product(a, b), a, b);         \
  }                                                              \
  Tensor& f##_(Tensor& a, const Tensor& b) {                     \
    return in_place<&f##_>(op, plan_product(a, b), a, b);        \
  }                                                              \
  Tensor& f##_out(const Tensor& a, const Tensor& b, Tensor& y) { \
    return out<&f##_out>(op, plan_product(a, b), a, b, y);       \
  }
PRODUCT(mul, kMul)
PRODUCT(div, kDiv)
#undef PRODUCT

}  // namespace tenon::ops
