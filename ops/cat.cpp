// cat: rows of each operand copied behind the rows of the one before.
#include <ATen/core/IListRef.h>

#include <algorithm>

#include "dispatch/parallel.h"
#include "dispatch/tables.h"
#include "ops/override.h"
#include "ops/overrides.h"
#include "ops/view.h"

namespace tenon::ops {
namespace {

constexpr int64_t kGrain = 1 << 17;  // bytes worth a thread
constexpr int64_t kBlock =
    1 << 13;  // bytes of the result that stay near while all operands write them

Slot<CopyRows> kernel{kCopyRows, "copy_rows_b8"};

// What an operand contributes to each row of the result.
struct Part {
  const char* x;
  int64_t bytes, stride, at;  // a row's length, the way to the next, its place in the result's row
};

struct Plan {
  c10::SmallVector<Part, 8> parts;
  at::DimVector shape;
  at::ScalarType type{};
  int64_t rows = 1, bytes = 0;  // of the result
};

// The distance between the rows of t when dimensions from `dim` on are a row, in elements; false
// where a row is not contiguous or rows are not equally far apart.
bool row_stride(const Tensor& t, int64_t dim, int64_t& stride) {
  int64_t want = 1;
  for (int64_t d = t.dim() - 1; d >= dim; --d) {
    if (t.size(d) != 1 && t.stride(d) != want) return false;
    want *= t.size(d);
  }
  stride = want;
  bool first = true;
  for (int64_t d = dim - 1; d >= 0; --d) {
    if (t.size(d) == 1) continue;
    if (first) stride = want = t.stride(d);
    if (t.stride(d) != want) return false;
    want *= t.size(d);
    first = false;
  }
  return true;
}

bool same_but(const Tensor& t, at::IntArrayRef shape, int64_t dim) {
  if (t.dim() != static_cast<int64_t>(shape.size())) return false;
  for (int64_t d = 0; d < t.dim(); ++d)
    if (d != dim && t.size(d) != shape[static_cast<size_t>(d)]) return false;
  return true;
}

// Adds one operand to the plan, or says why it cannot.
Reason add_part(const Tensor& t, int64_t dim, Plan& plan) {
  if (!plain(t)) return Reason::kLayout;
  if (t.scalar_type() != plan.type) return Reason::kDtype;
  if (!same_but(t, plan.shape, dim)) return Reason::kShape;
  // The result takes the operands' memory format, so only one is ours.
  if (t.dim() > 3 && t.suggest_memory_format() != at::MemoryFormat::Contiguous)
    return Reason::kLayout;
  const auto size = static_cast<int64_t>(t.itemsize());
  int64_t stride = 0, row = size;
  if (!row_stride(t, dim, stride)) return Reason::kLayout;
  for (int64_t d = dim; d < t.dim(); ++d) row *= t.size(d);
  plan.shape[static_cast<size_t>(dim)] += t.size(dim);
  plan.parts.push_back({data<char>(t), row, stride * size, plan.bytes});
  plan.bytes += row;
  return Reason::kNone;
}

Reason plan_cat(const at::ITensorListRef& tensors, int64_t dim, Plan& plan) {
  if (tensors.size() == 0) return Reason::kShape;
  const Tensor& head = *tensors.begin();
  const int64_t rank = head.defined() ? head.dim() : 0;
  if (rank == 0 || dim < -rank || dim >= rank) return Reason::kArgument;
  if (dim < 0) dim += rank;
  plan.type = head.scalar_type();
  plan.shape = at::DimVector(head.sizes());
  plan.shape[static_cast<size_t>(dim)] = 0;
  for (int64_t d = 0; d < dim; ++d) plan.rows *= head.size(d);
  for (const Tensor& t : tensors) {
    if (t.dim() == 1 && t.size(0) == 0) return Reason::kShape;  // joins tensors of any rank
    if (const Reason why = add_part(t, dim, plan); why != Reason::kNone) return why;
  }
  return plan.rows * plan.bytes == 0 ? Reason::kShape : Reason::kNone;
}

Reason gate_out(const at::ITensorListRef& tensors, const Plan& plan, const Tensor& y) {
  if (y.scalar_type() != plan.type) return Reason::kDtype;
  if (!plain(y) || y.sizes() != plan.shape || !y.is_contiguous()) return Reason::kLayout;
  for (const Tensor& t : tensors)
    if (!disjoint(y, t)) return Reason::kOverlap;
  return Reason::kNone;
}

// Bytes [begin, end) of a result of one row.
void run_range(const Kernel<CopyRows>& k, const Plan& plan, char* y, int64_t begin, int64_t end) {
  for (const Part& p : plan.parts) {
    const int64_t from = std::max(begin, p.at), to = std::min(end, p.at + p.bytes);
    if (from < to) k.run(1, static_cast<size_t>(to - from), p.x + from - p.at, 0, y + from, 0);
  }
}

void run(const Kernel<CopyRows>& k, const Plan& plan, char* y) {
  if (plan.rows == 1) {
    parallel_for(plan.bytes, kGrain,
                 [&](int64_t begin, int64_t end) { run_range(k, plan, y, begin, end); });
    return;
  }
  // A few rows at a time, so that the result is written front to back in the main.
  const int64_t step = std::max<int64_t>(1, kBlock / plan.bytes);
  parallel_for(plan.rows, std::max<int64_t>(1, kGrain / plan.bytes), [&](int64_t r, int64_t end) {
    for (; r < end; r += step)
      for (const Part& p : plan.parts)
        k.run(static_cast<size_t>(std::min(step, end - r)), static_cast<size_t>(p.bytes),
              p.x + r * p.stride, p.stride, y + r * plan.bytes + p.at, plan.bytes);
  });
}

}  // namespace

Tensor cat(const at::ITensorListRef& tensors, int64_t dim) {
  Plan plan;
  if (const Reason why = plan_cat(tensors, dim, plan); why != Reason::kNone)
    return stock<&cat>(why, tensors, dim);
  const Kernel<CopyRows>& k = kernel.get();
  const auto scope = taken<&cat>(k.name);
  Tensor y = empty_cpu(plan.shape, plan.type);
  run(k, plan, mutable_data<char>(y));
  return y;
}

Tensor& cat_out(const at::ITensorListRef& tensors, int64_t dim, Tensor& y) {
  Plan plan;
  Reason why = plan_cat(tensors, dim, plan);
  if (why == Reason::kNone) why = gate_out(tensors, plan, y);
  if (why != Reason::kNone) return stock<&cat_out>(why, tensors, dim, y);
  const Kernel<CopyRows>& k = kernel.get();
  const auto scope = taken<&cat_out>(k.name);
  run(k, plan, mutable_data<char>(y));
  return y;
}

}  // namespace tenon::ops
