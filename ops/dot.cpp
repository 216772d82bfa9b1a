// The inner product of two vectors. Long ones are summed in segments, whose sums are added in turn:
// the same bits for any number of threads.
#include <algorithm>
#include <array>

#include "dispatch/parallel.h"
#include "dispatch/tables.h"
#include "isa/types.h"
#include "ops/override.h"
#include "ops/overrides.h"
#include "ops/view.h"

namespace tenon::ops {
namespace {

constexpr size_t kSegment = 1 << 16, kSegments = 256;

Slot<Dot> kernels[] = {{kDot, "dot_f32"}, {kDot, "dot_bf16"}, {kDot, "dot_f16"}};

Reason gate(const Tensor& x, const Tensor& y) {
  const int type = float_type(x.scalar_type());
  if (type < 0 || y.scalar_type() != x.scalar_type()) return Reason::kDtype;
  if (x.dim() != 1 || y.dim() != 1) return Reason::kShape;
  if (!plain(x) || !plain(y)) return Reason::kLayout;
  const int64_t n = x.numel();
  if (n == 0 || y.numel() != n) return Reason::kShape;
  if (n > 1 && (x.strides()[0] != 1 || y.strides()[0] != 1)) return Reason::kLayout;
  return Reason::kNone;
}

float sum(const Kernel<Dot>& kernel, const Tensor& x, const Tensor& y) {
  const auto n = static_cast<size_t>(x.numel()), size = static_cast<size_t>(x.element_size());
  const char *a = data<char>(x), *b = data<char>(y);
  if (n <= kSegment) return kernel.run(n, a, b);
  const size_t even = (n + kSegments - 1) / kSegments;
  const size_t segment = std::max(kSegment, (even + kDotLanes - 1) / kDotLanes * kDotLanes);
  const size_t segments = (n + segment - 1) / segment;
  std::array<float, kSegments> sums;
  parallel_for(static_cast<int64_t>(segments), 1, [&](int64_t begin, int64_t end) {
    for (auto s = static_cast<size_t>(begin); s < static_cast<size_t>(end); ++s) {
      const size_t at = s * segment;
      sums[s] = kernel.run(std::min(segment, n - at), a + at * size, b + at * size);
    }
  });
  float total = sums[0];
  for (size_t s = 1; s < segments; ++s) total += sums[s];
  return total;
}

void put(const Tensor& to, float value) {
  if (to.scalar_type() == at::kFloat) *mutable_data<float>(to) = value;
  if (to.scalar_type() == at::kBFloat16) *mutable_data<bf16>(to) = to_bf16(value);
  if (to.scalar_type() == at::kHalf) *mutable_data<f16>(to) = to_f16(value);
}

}  // namespace

Tensor dot(const Tensor& x, const Tensor& y) {
  if (const Reason why = gate(x, y); why != Reason::kNone) return stock<&dot>(why, x, y);
  const Kernel<Dot>& kernel = kernels[float_type(x.scalar_type())].get();
  const auto scope = taken<&dot>(kernel.name);
  Tensor result = empty_cpu({}, x.scalar_type());
  put(result, sum(kernel, x, y));
  return result;
}

}  // namespace tenon::ops
