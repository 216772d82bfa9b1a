// masked_fill: one value where a mask is set, the mask broadcast over the tensor or not.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "dispatch/parallel.h"
#include "dispatch/tables.h"
#include "ops/override.h"
#include "ops/overrides.h"
#include "ops/view.h"

namespace tenon::ops {
namespace {

constexpr int64_t kGrain = 32768;
constexpr int64_t kShortRow = 8;  // rows of fewer elements cost more to find than to fill
constexpr int kMaxDims = 8;

Slot<MaskedFill> kernels[] = {{kMaskedFill, "masked_fill_b8"},
                              {kMaskedFill, "masked_fill_b16"},
                              {kMaskedFill, "masked_fill_b32"},
                              {kMaskedFill, "masked_fill_b64"}};

Slot<MaskedFill>& kernel_of(size_t size) {
  return kernels[size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3];
}

// A tensor's elements as rows of `inner` in memory's order; mask rows are found by their strides.
struct Rows {
  int64_t outer = 1, inner = 1, inner_stride = 1;  // mask elements: 1, or 0 for one byte a row
  int count = 0;
  int64_t size[kMaxDims], stride[kMaxDims];  // of the outer dimensions, innermost first

  int64_t mask_offset(int64_t row) const {
    int64_t offset = 0;
    for (int d = 0; d < count; ++d) {
      offset += row % size[d] * stride[d];
      row /= size[d];
    }
    return offset;
  }
};

struct Plan {
  uint64_t bits = 0;
  Rows rows;
  const Kernel<MaskedFill>* kernel = nullptr;
};

template <class T>
uint64_t low_bits(T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

template <class T>
bool float_bits(const Scalar& v, uint64_t& bits) {
  if (v.isComplex()) return false;
  const double d = v.toDouble();
  if (v.isIntegral(false) && std::fabs(d) > 0x1p53) return false;
  if (std::isfinite(d) && std::fabs(d) > static_cast<double>(std::numeric_limits<T>::max()))
    return false;
  bits = low_bits(static_cast<T>(d));
  return true;
}

template <class T>
bool integer_bits(const Scalar& v, uint64_t& bits) {
  if (v.type() != at::kLong && v.type() != at::kBool) return false;
  const int64_t i = v.toLong();
  if (i < int64_t{std::numeric_limits<T>::min()} || i > int64_t{std::numeric_limits<T>::max()})
    return false;
  bits = low_bits(static_cast<T>(i));
  return true;
}

// The value as the tensor's type stores it; false where stock refuses it or may convert otherwise.
bool value_bits(const Scalar& v, at::ScalarType type, uint64_t& bits) {
  switch (type) {
    case at::kFloat:
      return float_bits<float>(v, bits);
    case at::kBFloat16:
      return float_bits<c10::BFloat16>(v, bits);
    case at::kHalf:
      return float_bits<c10::Half>(v, bits);
    case at::kDouble:
      return float_bits<double>(v, bits);
    case at::kLong:
      return integer_bits<int64_t>(v, bits);
    case at::kInt:
      return integer_bits<int32_t>(v, bits);
    case at::kByte:
      return integer_bits<uint8_t>(v, bits);
    case at::kBool:
      return v.isBoolean() && integer_bits<uint8_t>(v, bits);
    default:
      return false;
  }
}

// A 0-dim tensor's value, for the types that fill floats and integers.
std::optional<Scalar> scalar_of(const Tensor& t) {
  if (!plain(t) || t.dim() != 0) return std::nullopt;
  switch (t.scalar_type()) {
    case at::kFloat:
      return Scalar(*data<float>(t));
    case at::kDouble:
      return Scalar(*data<double>(t));
    case at::kBFloat16:
      return Scalar(static_cast<float>(*data<c10::BFloat16>(t)));
    case at::kHalf:
      return Scalar(static_cast<float>(*data<c10::Half>(t)));
    case at::kLong:
      return Scalar(*data<int64_t>(t));
    case at::kBool:
      return Scalar(*data<uint8_t>(t) != 0);
    default:
      return std::nullopt;
  }
}

// Lays the mask over x, joining dimensions that are one to the mask.
Reason lay_over(const Tensor& x, const Tensor& mask, Rows& rows) {
  const int64_t missing = x.dim() - mask.dim();
  if (missing < 0) return Reason::kShape;
  bool first = true;
  for (int64_t d = x.dim() - 1; d >= 0; --d) {
    const int64_t size = x.size(d), m = d < missing ? 1 : mask.size(d - missing);
    if (m != size && m != 1) return Reason::kShape;
    if (size == 1) continue;
    const int64_t stride = m == 1 ? 0 : mask.stride(d - missing);
    int64_t& last_size = rows.count == 0 ? rows.inner : rows.size[rows.count - 1];
    const int64_t last_stride = rows.count == 0 ? rows.inner_stride : rows.stride[rows.count - 1];
    if (first) {
      rows.inner = size;
      rows.inner_stride = stride;
      first = false;
    } else if (stride == last_size * last_stride) {
      last_size *= size;
    } else {
      if (rows.count == kMaxDims) return Reason::kLayout;
      rows.size[rows.count] = size;
      rows.stride[rows.count++] = stride;
    }
  }
  if (rows.inner_stride != 0 && rows.inner_stride != 1) return Reason::kLayout;
  rows.outer = rows.inner == 0 ? 0 : x.numel() / rows.inner;
  return rows.outer > 1 && rows.inner < kShortRow ? Reason::kSize : Reason::kNone;
}

Reason plan_fill(const Tensor& x, const Tensor& mask, const std::optional<Scalar>& value,
                 Plan& plan) {
  if (mask.scalar_type() != at::kBool || !value) return Reason::kDtype;
  if (!plain(x) || !plain(mask) || !x.is_contiguous()) return Reason::kLayout;
  if (!value_bits(*value, x.scalar_type(), plan.bits)) return Reason::kArgument;
  if (x.numel() == 0) return Reason::kShape;
  plan.kernel = &kernel_of(x.itemsize()).get();
  return lay_over(x, mask, plan.rows);
}

template <class T>
void fill_row(uint64_t bits, int64_t n, char* y) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  std::fill_n(reinterpret_cast<T*>(y), n, value);
}

// A row under one mask byte.
void run_row(const Plan& plan, size_t size, bool set, const char* x, char* y) {
  const int64_t n = plan.rows.inner;
  if (!set) {
    if (x != y) std::memcpy(y, x, static_cast<size_t>(n) * size);
    return;
  }
  if (size == 1) return fill_row<uint8_t>(plan.bits, n, y);
  if (size == 2) return fill_row<uint16_t>(plan.bits, n, y);
  if (size == 4) return fill_row<uint32_t>(plan.bits, n, y);
  fill_row<uint64_t>(plan.bits, n, y);
}

void run(const Plan& plan, const Tensor& x, const Tensor& mask, const Tensor& y) {
  const Rows& rows = plan.rows;
  const auto size = static_cast<int64_t>(x.itemsize());
  const char* from = data<char>(x);
  const uint8_t* m = data<uint8_t>(mask);
  char* to = mutable_data<char>(y);
  if (rows.outer == 1 && rows.inner_stride == 1) {
    parallel_for(rows.inner, kGrain, [&](int64_t begin, int64_t end) {
      plan.kernel->run(static_cast<size_t>(end - begin), plan.bits, m + begin, from + begin * size,
                       to + begin * size);
    });
    return;
  }
  const int64_t row = rows.inner * size;
  parallel_for(rows.outer, std::max<int64_t>(1, kGrain / rows.inner), [&](int64_t r, int64_t end) {
    for (; r < end; ++r) {
      const uint8_t* row_mask = m + rows.mask_offset(r);
      if (rows.inner_stride == 0)
        run_row(plan, static_cast<size_t>(size), *row_mask != 0, from + r * row, to + r * row);
      else
        plan.kernel->run(static_cast<size_t>(rows.inner), plan.bits, row_mask, from + r * row,
                         to + r * row);
    }
  });
}

template <auto Fn, class Value>
Tensor filled(const Tensor& x, const Tensor& mask, const std::optional<Scalar>& value,
              const Value& given) {
  Plan plan;
  if (const Reason why = plan_fill(x, mask, value, plan); why != Reason::kNone)
    return stock<Fn>(why, x, mask, given);
  const auto scope = taken<Fn>(plan.kernel->name);
  Tensor y = empty_cpu(x.sizes(), x.scalar_type());
  run(plan, x, mask, y);
  return y;
}

template <auto Fn, class Value>
Tensor& fill(Tensor& x, const Tensor& mask, const std::optional<Scalar>& value,
             const Value& given) {
  Plan plan;
  Reason why = plan_fill(x, mask, value, plan);
  if (why == Reason::kNone && !disjoint(x, mask)) why = Reason::kOverlap;
  if (why != Reason::kNone) return stock<Fn>(why, x, mask, given);
  const auto scope = taken<Fn>(plan.kernel->name);
  run(plan, x, mask, x);
  return x;
}

}  // namespace

Tensor masked_fill(const Tensor& x, const Tensor& mask, const Scalar& value) {
  return filled<&masked_fill>(x, mask, value, value);
}
Tensor masked_fill_tensor(const Tensor& x, const Tensor& mask, const Tensor& value) {
  return filled<&masked_fill_tensor>(x, mask, scalar_of(value), value);
}
Tensor& masked_fill_(Tensor& x, const Tensor& mask, const Scalar& value) {
  return fill<&masked_fill_>(x, mask, value, value);
}
Tensor& masked_fill_tensor_(Tensor& x, const Tensor& mask, const Tensor& value) {
  return fill<&masked_fill_tensor_>(x, mask, scalar_of(value), value);
}

}  // namespace tenon::ops
