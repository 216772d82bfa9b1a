// argmax and max along one dimension: the first of equals, and the first NaN before all else.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "dispatch/parallel.h"
#include "dispatch/tables.h"
#include "isa/types.h"
#include "ops/override.h"
#include "ops/overrides.h"
#include "ops/reduction.h"

namespace tenon::ops {
namespace {

constexpr size_t kSegment = 1 << 16;

Slot<Argmax> kernels[] = {
    {kArgmax, "argmax_i64_f32"}, {kArgmax, "argmax_i64_bf16"}, {kArgmax, "argmax_i64_f16"}};

struct Plan {
  const Kernel<Argmax>* kernel = nullptr;
  uint32_t reduced = 0;
  Block block;
  size_t size = 0;  // of an element
};

char* bytes(void* p, size_t offset) {
  return p == nullptr ? nullptr : static_cast<char*>(p) + offset;
}
const char* bytes(const void* p, size_t offset) { return static_cast<const char*>(p) + offset; }

float value_of(at::ScalarType type, const char* p) {
  if (type == at::kFloat) return to_f32(*reinterpret_cast<const float*>(p));
  if (type == at::kBFloat16) return to_f32(*reinterpret_cast<const bf16*>(p));
  return to_f32(*reinterpret_cast<const f16*>(p));
}

// One long row: segments on all threads, then the first best of their answers.
void run_row(const Plan& p, at::ScalarType type, const ArgmaxArgs& a) {
  const size_t segments = (a.n + kSegment - 1) / kSegment;
  std::vector<int64_t> best(segments);
  parallel_for(static_cast<int64_t>(segments), 1, [&](int64_t begin, int64_t end) {
    for (size_t s = static_cast<size_t>(begin); s < static_cast<size_t>(end); ++s) {
      const size_t first = s * kSegment;
      p.kernel->run({1, std::min(kSegment, a.n - first), 1, 0, a.stride, bytes(a.x, first * p.size),
                     nullptr, &best[s]});
      best[s] += static_cast<int64_t>(first);
    }
  });
  const auto at = [&](int64_t i) { return bytes(a.x, static_cast<size_t>(i) * p.size); };
  int64_t winner = best[0];
  for (int64_t b : best) {
    const float top = value_of(type, at(winner)), next = value_of(type, at(b));
    if (!std::isnan(top) && !(next <= top)) winner = b;
  }
  *a.index = winner;
  if (a.value != nullptr) std::memcpy(a.value, at(winner), p.size);
}

void run(const Plan& p, const Tensor& x, void* value, int64_t* index) {
  const Block& b = p.block;
  const ArgmaxArgs a{b.outer, b.n,  b.inner, b.outer_stride, b.stride, x.const_data_ptr(),
                     value,   index};
  if (b.outer == 1 && b.inner == 1 && b.n > kSegment) return run_row(p, x.scalar_type(), a);
  each_part(b.outer, b.n, b.inner, [&](size_t o, size_t outer, size_t j, size_t inner) {
    ArgmaxArgs part = a;
    part.outer = outer;
    part.inner = inner;
    part.x = bytes(a.x, o * static_cast<size_t>(b.outer_stride) + j * p.size);
    part.value = bytes(a.value, (o * b.inner + j) * p.size);
    part.index = a.index + o * b.inner + j;
    p.kernel->run(part);
  });
}

// Without a dimension the whole tensor is one row, whose elements count in the tensor's order.
Reason plan_argmax(const Tensor& x, std::optional<int64_t> dim, Plan& plan) {
  const int type = float_type(x.scalar_type());
  if (type < 0) return Reason::kDtype;
  if (!plain(x) || (!dim && !x.is_contiguous())) return Reason::kLayout;
  if (x.numel() == 0) return Reason::kShape;
  const auto reduced = dim ? reduced_dims(x, IntArrayRef(*dim)) : reduced_dims(x, std::nullopt);
  if (!reduced) return Reason::kArgument;
  const auto block = block_of(x, *reduced);
  if (!block) return Reason::kLayout;
  if (block->n > std::numeric_limits<int32_t>::max()) return Reason::kSize;
  plan = {&kernels[type].get(), *reduced, *block, x.itemsize()};
  return Reason::kNone;
}

Reason gate_out(const Tensor& x, const Plan& plan, bool keepdim, const Tensor& index) {
  if (index.scalar_type() != at::kLong) return Reason::kDtype;
  return takes_result(index, reduced_shape(x, plan.reduced, keepdim), x) ? Reason::kNone
                                                                         : Reason::kLayout;
}

Reason gate_out(const Tensor& x, const Plan& plan, bool keepdim, const Tensor& value,
                const Tensor& index) {
  if (value.scalar_type() != x.scalar_type()) return Reason::kDtype;
  if (!takes_result(value, reduced_shape(x, plan.reduced, keepdim), x)) return Reason::kLayout;
  if (!disjoint(value, index)) return Reason::kOverlap;
  return gate_out(x, plan, keepdim, index);
}

}  // namespace

Tensor argmax(const Tensor& x, std::optional<int64_t> dim, bool keepdim) {
  Plan plan;
  if (const Reason why = plan_argmax(x, dim, plan); why != Reason::kNone)
    return stock<&argmax>(why, x, dim, keepdim);
  const auto scope = taken<&argmax>(plan.kernel->name);
  Tensor index = empty_cpu(reduced_shape(x, plan.reduced, keepdim), at::kLong);
  run(plan, x, nullptr, mutable_data<int64_t>(index));
  return index;
}

Tensor& argmax_out(const Tensor& x, std::optional<int64_t> dim, bool keepdim, Tensor& index) {
  Plan plan;
  Reason why = plan_argmax(x, dim, plan);
  if (why == Reason::kNone) why = gate_out(x, plan, keepdim, index);
  if (why != Reason::kNone) return stock<&argmax_out>(why, x, dim, keepdim, index);
  const auto scope = taken<&argmax_out>(plan.kernel->name);
  run(plan, x, nullptr, mutable_data<int64_t>(index));
  return index;
}

std::tuple<Tensor, Tensor> max_dim(const Tensor& x, int64_t dim, bool keepdim) {
  Plan plan;
  if (const Reason why = plan_argmax(x, dim, plan); why != Reason::kNone)
    return stock<&max_dim>(why, x, dim, keepdim);
  const auto scope = taken<&max_dim>(plan.kernel->name);
  const at::DimVector shape = reduced_shape(x, plan.reduced, keepdim);
  Tensor value = empty_cpu(shape, x.scalar_type()), index = empty_cpu(shape, at::kLong);
  run(plan, x, value.mutable_data_ptr(), mutable_data<int64_t>(index));
  return {std::move(value), std::move(index)};
}

std::tuple<Tensor&, Tensor&> max_out(const Tensor& x, int64_t dim, bool keepdim, Tensor& value,
                                     Tensor& index) {
  Plan plan;
  Reason why = plan_argmax(x, dim, plan);
  if (why == Reason::kNone) why = gate_out(x, plan, keepdim, value, index);
  if (why != Reason::kNone) return stock<&max_out>(why, x, dim, keepdim, value, index);
  const auto scope = taken<&max_out>(plan.kernel->name);
  run(plan, x, value.mutable_data_ptr(), mutable_data<int64_t>(index));
  return {value, index};
}

}  // namespace tenon::ops
