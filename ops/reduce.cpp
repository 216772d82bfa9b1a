// sum, mean and amax: over any dimensions that are one block of memory.
#include <algorithm>
#include <vector>

#include "dispatch/parallel.h"
#include "dispatch/tables.h"
#include "ops/override.h"
#include "ops/overrides.h"
#include "ops/reduction.h"

namespace tenon::ops {
namespace {

constexpr size_t kIntegerSegment = 1 << 18;

// How one reduction of a type is done. A dimension too long for one pass is cut into segments, the
// same ones whatever the number of threads: `partial` reduces those, and `combine` their results,
// which `again` reduces first where even they are too many.
struct Kernels {
  Slot<Reduce>*whole, *partial, *again, *combine;
  at::ScalarType between;  // type of the partial results
};

Slot<Reduce> sum_f32{kReduce, "sum_f32_f32"}, sum_f32_bf16{kReduce, "sum_f32_bf16"},
    sum_f32_f16{kReduce, "sum_f32_f16"}, sum_bf16{kReduce, "sum_bf16_bf16"},
    sum_f16{kReduce, "sum_f16_f16"}, sum_bf16_f32{kReduce, "sum_bf16_f32"},
    sum_f16_f32{kReduce, "sum_f16_f32"}, amax_f32{kReduce, "amax_f32_f32"},
    amax_bf16{kReduce, "amax_bf16_bf16"}, amax_f16{kReduce, "amax_f16_f16"},
    sum_b8{kReduce, "sum_i64_b8"}, sum_u8{kReduce, "sum_i64_u8"}, sum_i32{kReduce, "sum_i64_i32"};

// By float_type.
const Kernels kSum[] = {{&sum_f32, &sum_f32, &sum_f32, &sum_f32, at::kFloat},
                        {&sum_bf16, &sum_f32_bf16, &sum_f32, &sum_bf16_f32, at::kFloat},
                        {&sum_f16, &sum_f32_f16, &sum_f32, &sum_f16_f32, at::kFloat}};
const Kernels kSumToFloat[] = {{&sum_f32, &sum_f32, &sum_f32, &sum_f32, at::kFloat},
                               {&sum_f32_bf16, &sum_f32_bf16, &sum_f32, &sum_f32, at::kFloat},
                               {&sum_f32_f16, &sum_f32_f16, &sum_f32, &sum_f32, at::kFloat}};
const Kernels kMax[] = {{&amax_f32, &amax_f32, &amax_f32, &amax_f32, at::kFloat},
                        {&amax_bf16, &amax_bf16, &amax_bf16, &amax_bf16, at::kBFloat16},
                        {&amax_f16, &amax_f16, &amax_f16, &amax_f16, at::kHalf}};

Slot<Reduce>* integer_sum(at::ScalarType type) {
  switch (type) {
    case at::kBool:
      return &sum_b8;
    case at::kByte:
      return &sum_u8;
    case at::kInt:
      return &sum_i32;
    default:
      return nullptr;
  }
}

// Everything a call needs once its gate is open.
struct Plan {
  const Kernels* kernels = nullptr;  // float reductions
  Slot<Reduce>* integer = nullptr;
  at::ScalarType type{};  // of the result
  uint32_t reduced = 0;
  Block block;

  const char* name() const { return (integer != nullptr ? integer : kernels->whole)->get().name; }
};

const char* bytes(const void* p, size_t offset) { return static_cast<const char*>(p) + offset; }
char* bytes(void* p, size_t offset) { return static_cast<char*>(p) + offset; }

// One pass of a kernel on all of a; `in` and `out` are the sizes of elements.
void run_threads(const Kernel<Reduce>& k, const ReduceArgs& a, size_t in, size_t out) {
  each_part(a.outer, a.n, a.inner, [&](size_t o, size_t outer, size_t j, size_t inner) {
    ReduceArgs part = a;
    part.outer = outer;
    part.inner = inner;
    part.x = bytes(a.x, o * static_cast<size_t>(a.outer_stride) + j * in);
    part.y = bytes(a.y, (o * a.inner + j) * out);
    k.run(part);
  });
}

// x[o] of a, cut into segments of `length` terms, to partial results one after the other.
void run_segments(const Kernel<Reduce>& k, const ReduceArgs& a, size_t o, size_t length, size_t in,
                  size_t out, char* partial) {
  const size_t whole = a.n / length, rest = a.n % length;
  const ptrdiff_t step = static_cast<ptrdiff_t>(length) * a.stride;
  ReduceArgs part = a;
  part.outer = whole;
  part.n = length;
  part.outer_stride = step;
  part.divisor = 1;
  part.x = bytes(a.x, o * static_cast<size_t>(a.outer_stride));
  part.y = partial;
  run_threads(k, part, in, out);
  if (rest == 0) return;
  part.outer = 1;
  part.n = rest;
  part.x = bytes(part.x, whole * static_cast<size_t>(step));
  part.y = partial + whole * a.inner * out;
  run_threads(k, part, in, out);
}

void run_float(const Kernels& k, const ReduceArgs& a, size_t in, size_t out) {
  const size_t length = a.inner == 1 ? 64 * kReduceSegment : kReduceSegment;
  if (a.n <= length) return run_threads(k.whole->get(), a, in, out);
  const size_t segments = (a.n + length - 1) / length, size = c10::elementSize(k.between);
  const size_t per_outer = segments * a.inner * size;
  const Tensor partial = empty_cpu({static_cast<int64_t>(a.outer * per_outer / size)}, k.between);
  char* between = mutable_data<char>(partial);
  const Kernel<Reduce>& kernel = k.partial->get();
  parallel_for(static_cast<int64_t>(a.outer), 1, [&](int64_t begin, int64_t end) {
    for (size_t o = static_cast<size_t>(begin); o < static_cast<size_t>(end); ++o)
      run_segments(kernel, a, o, length, in, size, between + o * per_outer);
  });
  const ReduceArgs rest{a.outer,
                        segments,
                        a.inner,
                        static_cast<ptrdiff_t>(per_outer),
                        static_cast<ptrdiff_t>(a.inner * size),
                        a.divisor,
                        between,
                        a.y};
  run_float({k.combine, k.again, k.again, k.combine, k.between}, rest, size, out);
}

// Integers are exact in any order; only one long row needs cutting to keep all threads busy.
void run_integer(const Kernel<Reduce>& k, const ReduceArgs& a, size_t in) {
  if (a.inner != 1 || a.n <= kIntegerSegment) return run_threads(k, a, in, sizeof(int64_t));
  const size_t segments = (a.n + kIntegerSegment - 1) / kIntegerSegment;
  std::vector<uint64_t> partial(segments);
  for (size_t o = 0; o < a.outer; ++o) {
    run_segments(k, a, o, kIntegerSegment, in, sizeof(int64_t),
                 reinterpret_cast<char*>(partial.data()));
    uint64_t sum = 0;
    for (uint64_t p : partial) sum += p;
    static_cast<int64_t*>(a.y)[o] = static_cast<int64_t>(sum);
  }
}

void run(const Plan& plan, const Tensor& x, const Tensor& y, bool is_mean) {
  const Block& b = plan.block;
  const ReduceArgs a{b.outer,
                     b.n,
                     b.inner,
                     b.outer_stride,
                     b.stride,
                     is_mean ? static_cast<float>(b.n) : 1.0f,
                     x.const_data_ptr(),
                     y.mutable_data_ptr()};
  if (plan.integer != nullptr) return run_integer(plan.integer->get(), a, x.itemsize());
  run_float(*plan.kernels, a, x.itemsize(), c10::elementSize(plan.type));
}

Reason plan_block(const Tensor& x, at::OptionalIntArrayRef dims, Plan& plan) {
  if (!plain(x)) return Reason::kLayout;
  if (x.numel() == 0) return Reason::kShape;
  const auto reduced = reduced_dims(x, dims);
  if (!reduced) return Reason::kArgument;
  const auto block = block_of(x, *reduced);
  if (!block) return Reason::kLayout;
  // A few columns of bytes: stock is as good.
  if (x.itemsize() == 1 && block->inner > 1 && block->inner < 16) return Reason::kSize;
  plan.reduced = *reduced;
  plan.block = *block;
  return Reason::kNone;
}

Reason plan_sum(const Tensor& x, at::OptionalIntArrayRef dims, std::optional<ScalarType> dtype,
                bool is_mean, Plan& plan) {
  const int type = float_type(x.scalar_type());
  if (type >= 0) {
    plan.type = dtype.value_or(x.scalar_type());
    if (plan.type != x.scalar_type() && plan.type != at::kFloat) return Reason::kDtype;
    plan.kernels = plan.type == x.scalar_type() ? &kSum[type] : &kSumToFloat[type];
  } else {
    plan.type = dtype.value_or(at::kLong);
    plan.integer = integer_sum(x.scalar_type());
    if (is_mean || plan.integer == nullptr || plan.type != at::kLong) return Reason::kDtype;
  }
  return plan_block(x, dims, plan);
}

Reason plan_amax(const Tensor& x, at::OptionalIntArrayRef dims, Plan& plan) {
  const int type = float_type(x.scalar_type());
  if (type < 0) return Reason::kDtype;
  plan.type = x.scalar_type();
  plan.kernels = &kMax[type];
  const Reason why = plan_block(x, dims, plan);
  // The larger of two rows is a copy: stock streams it as well (bench ops reduce: 2x1024x1024).
  const bool few =
      why == Reason::kNone && !stock_is_scalar() && plan.block.inner > 262144 && plan.block.n < 4;
  return few ? Reason::kSize : why;
}

Reason gate_out(const Tensor& y, const Tensor& x, const Plan& plan, bool keepdim) {
  if (y.scalar_type() != plan.type) return Reason::kDtype;
  return takes_result(y, reduced_shape(x, plan.reduced, keepdim), x) ? Reason::kNone
                                                                     : Reason::kLayout;
}

Tensor reduced(const Plan& plan, const Tensor& x, bool keepdim, bool is_mean) {
  const Tensor y = empty_cpu(reduced_shape(x, plan.reduced, keepdim), plan.type);
  run(plan, x, y, is_mean);
  return y;
}

}  // namespace

Tensor sum(const Tensor& x, std::optional<ScalarType> dtype) {
  Plan plan;
  if (const Reason why = plan_sum(x, std::nullopt, dtype, false, plan); why != Reason::kNone)
    return stock<&sum>(why, x, dtype);
  const auto scope = taken<&sum>(plan.name());
  return reduced(plan, x, false, false);
}

Tensor sum_dim(const Tensor& x, at::OptionalIntArrayRef dims, bool keepdim,
               std::optional<ScalarType> dtype) {
  Plan plan;
  if (const Reason why = plan_sum(x, dims, dtype, false, plan); why != Reason::kNone)
    return stock<&sum_dim>(why, x, dims, keepdim, dtype);
  const auto scope = taken<&sum_dim>(plan.name());
  return reduced(plan, x, keepdim, false);
}

Tensor& sum_out(const Tensor& x, at::OptionalIntArrayRef dims, bool keepdim,
                std::optional<ScalarType> dtype, Tensor& y) {
  Plan plan;
  Reason why = plan_sum(x, dims, dtype.value_or(y.scalar_type()), false, plan);
  if (why == Reason::kNone) why = gate_out(y, x, plan, keepdim);
  if (why != Reason::kNone) return stock<&sum_out>(why, x, dims, keepdim, dtype, y);
  const auto scope = taken<&sum_out>(plan.name());
  run(plan, x, y, false);
  return y;
}

Tensor mean(const Tensor& x, std::optional<ScalarType> dtype) {
  Plan plan;
  if (const Reason why = plan_sum(x, std::nullopt, dtype, true, plan); why != Reason::kNone)
    return stock<&mean>(why, x, dtype);
  const auto scope = taken<&mean>(plan.name());
  return reduced(plan, x, false, true);
}

Tensor mean_dim(const Tensor& x, at::OptionalIntArrayRef dims, bool keepdim,
                std::optional<ScalarType> dtype) {
  Plan plan;
  if (const Reason why = plan_sum(x, dims, dtype, true, plan); why != Reason::kNone)
    return stock<&mean_dim>(why, x, dims, keepdim, dtype);
  const auto scope = taken<&mean_dim>(plan.name());
  return reduced(plan, x, keepdim, true);
}

Tensor& mean_out(const Tensor& x, at::OptionalIntArrayRef dims, bool keepdim,
                 std::optional<ScalarType> dtype, Tensor& y) {
  Plan plan;
  Reason why = plan_sum(x, dims, dtype.value_or(y.scalar_type()), true, plan);
  if (why == Reason::kNone) why = gate_out(y, x, plan, keepdim);
  if (why != Reason::kNone) return stock<&mean_out>(why, x, dims, keepdim, dtype, y);
  const auto scope = taken<&mean_out>(plan.name());
  run(plan, x, y, true);
  return y;
}

Tensor amax(const Tensor& x, IntArrayRef dims, bool keepdim) {
  Plan plan;
  if (const Reason why = plan_amax(x, dims, plan); why != Reason::kNone)
    return stock<&amax>(why, x, dims, keepdim);
  const auto scope = taken<&amax>(plan.name());
  return reduced(plan, x, keepdim, false);
}

Tensor& amax_out(const Tensor& x, IntArrayRef dims, bool keepdim, Tensor& y) {
  Plan plan;
  Reason why = plan_amax(x, dims, plan);
  if (why == Reason::kNone) why = gate_out(y, x, plan, keepdim);
  if (why != Reason::kNone) return stock<&amax_out>(why, x, dims, keepdim, y);
  const auto scope = taken<&amax_out>(plan.name());
  run(plan, x, y, false);
  return y;
}

}  // namespace tenon::ops
