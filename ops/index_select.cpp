// index_select and embedding: rows picked by index. Indices are looked at before anything is
// written; one out of range hands the call to stock, which has the message.
#include <algorithm>

#include "dispatch/parallel.h"
#include "dispatch/tables.h"
#include "ops/override.h"
#include "ops/overrides.h"
#include "ops/view.h"

namespace tenon::ops {
namespace {

constexpr int64_t kGrain = 1 << 16;  // bytes worth a thread

Slot<Gather> by_int64{kGather, "gather_b8_i64"}, by_int32{kGather, "gather_b8_i32"};

// y[o][i] = x[o][index[i]], each a row of `bytes`.
struct Plan {
  const Kernel<Gather>* kernel = nullptr;
  int64_t outer = 1, count = 0, bytes = 0;
  int64_t outer_stride = 0, stride = 0;  // bytes
  int64_t index_size = 8;
};

// True when 0 <= index[i] < limit for all: a wrong index makes one of two numbers negative.
template <class Index>
bool all_below(const Index* index, int64_t n, int64_t limit) {
  uint64_t bits = 0;
  for (int64_t i = 0; i < n; ++i) {
    const auto at = static_cast<uint64_t>(int64_t{index[i]});
    bits |= at | (static_cast<uint64_t>(limit) - 1 - at);
  }
  return static_cast<int64_t>(bits) >= 0;
}

// Indices into a dimension of `limit` rows.
Reason plan_index(const Tensor& index, int64_t limit, Plan& plan) {
  const bool is_long = index.scalar_type() == at::kLong;
  if (!is_long && index.scalar_type() != at::kInt) return Reason::kDtype;
  if (!plain(index) || !index.is_contiguous()) return Reason::kLayout;
  plan.count = index.numel();
  if (plan.count == 0) return Reason::kShape;
  const bool good = is_long ? all_below(data<int64_t>(index), plan.count, limit)
                            : all_below(data<int32_t>(index), plan.count, limit);
  if (!good) return Reason::kValue;
  plan.index_size = is_long ? 8 : 4;
  plan.kernel = &(is_long ? by_int64 : by_int32).get();
  return Reason::kNone;
}

Reason plan_select(const Tensor& x, int64_t dim, const Tensor& index, Plan& plan) {
  const int64_t rank = x.dim();
  if (rank == 0 || index.dim() > 1 || x.numel() == 0) return Reason::kShape;
  if (dim < -rank || dim >= rank) return Reason::kArgument;
  if (dim < 0) dim += rank;
  if (!plain(x) || !x.is_contiguous()) return Reason::kLayout;
  plan.bytes = x.stride(dim) * static_cast<int64_t>(x.itemsize());
  if (x.size(dim) == 1) {  // its stride may be anything
    plan.bytes = static_cast<int64_t>(x.itemsize());
    for (int64_t d = dim + 1; d < rank; ++d) plan.bytes *= x.size(d);
  }
  plan.stride = plan.bytes;
  plan.outer_stride = plan.bytes * x.size(dim);
  for (int64_t d = 0; d < dim; ++d) plan.outer *= x.size(d);
  return plan_index(index, x.size(dim), plan);
}

Reason plan_embedding(const Tensor& weight, const Tensor& index, Plan& plan) {
  if (weight.dim() != 2 || weight.numel() == 0) return Reason::kShape;
  if (!plain(weight) || (weight.stride(1) != 1 && weight.size(1) != 1)) return Reason::kLayout;
  const auto size = static_cast<int64_t>(weight.itemsize());
  plan.bytes = weight.size(1) * size;
  plan.stride = weight.stride(0) * size;
  return plan_index(index, weight.size(0), plan);
}

void run(const Plan& p, const Tensor& x, const Tensor& index, const Tensor& y) {
  const char* from = data<char>(x);
  const char* picks = data<char>(index);
  char* to = mutable_data<char>(y);
  const auto pick = [&](int64_t o, int64_t begin, int64_t end) {
    p.kernel->run(static_cast<size_t>(end - begin), static_cast<size_t>(p.bytes),
                  picks + begin * p.index_size, from + o * p.outer_stride, p.stride,
                  to + (o * p.count + begin) * p.bytes);
  };
  if (p.outer == 1) {
    parallel_for(p.count, std::max<int64_t>(1, kGrain / p.bytes),
                 [&](int64_t begin, int64_t end) { pick(0, begin, end); });
    return;
  }
  parallel_for(p.outer, std::max<int64_t>(1, kGrain / (p.bytes * p.count)),
               [&](int64_t o, int64_t end) {
                 for (; o < end; ++o) pick(o, 0, p.count);
               });
}

at::DimVector selected_shape(const Tensor& x, int64_t dim, const Tensor& index) {
  at::DimVector shape(x.sizes());
  shape[static_cast<size_t>(dim < 0 ? dim + x.dim() : dim)] = index.numel();
  return shape;
}

}  // namespace

Tensor index_select(const Tensor& x, int64_t dim, const Tensor& index) {
  Plan plan;
  if (const Reason why = plan_select(x, dim, index, plan); why != Reason::kNone)
    return stock<&index_select>(why, x, dim, index);
  const auto scope = taken<&index_select>(plan.kernel->name);
  Tensor y = empty_cpu(selected_shape(x, dim, index), x.scalar_type());
  run(plan, x, index, y);
  return y;
}

Tensor& index_select_out(const Tensor& x, int64_t dim, const Tensor& index, Tensor& y) {
  Plan plan;
  Reason why = plan_select(x, dim, index, plan);
  if (why == Reason::kNone) {
    if (y.scalar_type() != x.scalar_type())
      why = Reason::kDtype;
    else if (!plain(y) || !y.is_contiguous() || y.sizes() != selected_shape(x, dim, index))
      why = Reason::kLayout;
    else if (!disjoint(y, x) || !disjoint(y, index))
      why = Reason::kOverlap;
  }
  if (why != Reason::kNone) return stock<&index_select_out>(why, x, dim, index, y);
  const auto scope = taken<&index_select_out>(plan.kernel->name);
  run(plan, x, index, y);
  return y;
}

Tensor embedding(const Tensor& weight, const Tensor& index, c10::SymInt padding, bool scale_grad,
                 bool sparse) {
  Plan plan;
  if (const Reason why = plan_embedding(weight, index, plan); why != Reason::kNone)
    return stock<&embedding>(why, weight, index, padding, scale_grad, sparse);
  const auto scope = taken<&embedding>(plan.kernel->name);
  at::DimVector shape(index.sizes());
  shape.push_back(weight.size(1));
  Tensor y = empty_cpu(shape, weight.scalar_type());
  run(plan, weight, index, y);
  return y;
}

}  // namespace tenon::ops
