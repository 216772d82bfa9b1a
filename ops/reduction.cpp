// Finds the reduced block of a tensor: see ops/reduction.h.
#include "ops/reduction.h"

#include <algorithm>

namespace tenon::ops {
namespace {

struct Dim {
  int64_t size, stride;
  bool reduced;
  int64_t place;  // in the tensor's order
};

// Dimensions of more than one element, slowest in memory first.
int64_t dims_in_memory(const at::Tensor& x, uint32_t reduced, Dim* dims) {
  int64_t count = 0;
  for (int64_t d = 0; d < x.dim(); ++d) {
    if (x.size(d) == 1) continue;
    const Dim dim{x.size(d), x.stride(d), (reduced >> d & 1) != 0, d};
    int64_t at = count++;
    for (; at > 0 && dims[at - 1].stride < dim.stride; --at) dims[at] = dims[at - 1];
    dims[at] = dim;
  }
  return count;
}

// Joins neighbours that are one dimension to the reduction. The result lists its dimensions in the
// tensor's order, so kept dimensions that memory holds in another order are not joined.
int64_t coalesce(Dim* dims, int64_t count) {
  int64_t last = 0;
  for (int64_t d = 1; d < count; ++d) {
    Dim& a = dims[last];
    const Dim& b = dims[d];
    const bool one = a.stride == b.size * b.stride && a.reduced == b.reduced;
    if (one && (a.reduced || a.place < b.place)) {
      a = {a.size * b.size, b.stride, a.reduced, b.place};
    } else {
      dims[++last] = b;
    }
  }
  return count == 0 ? 0 : last + 1;
}

}  // namespace

std::optional<uint32_t> reduced_dims(const at::Tensor& x, at::OptionalIntArrayRef dims) {
  const int64_t rank = x.dim();
  if (rank > kMaxDims) return std::nullopt;
  if (!dims.has_value() || dims->empty()) return (uint32_t{1} << rank) - 1;
  uint32_t bits = 0;
  const int64_t range = std::max<int64_t>(rank, 1);  // a 0-dim tensor has dimensions 0 and -1
  for (int64_t d : *dims) {
    if (d < -range || d >= range) return std::nullopt;
    const uint32_t bit = uint32_t{1} << (d < 0 ? d + range : d);
    if (bits & bit) return std::nullopt;
    bits |= bit;
  }
  return bits;
}

std::optional<Block> block_of(const at::Tensor& x, uint32_t reduced) {
  Dim dims[kMaxDims];
  const int64_t count = coalesce(dims, dims_in_memory(x, reduced, dims));
  const auto size = static_cast<ptrdiff_t>(x.itemsize());
  if (count > 0 && dims[count - 1].stride != 1) return std::nullopt;
  Block b;
  b.outer_stride = b.stride = size;
  int64_t d = 0;
  const bool has_outer = count > 1 && !dims[0].reduced;
  if (has_outer) {
    b.outer = static_cast<size_t>(dims[0].size);
    b.outer_stride = dims[d++].stride * size;
  }
  if (d < count && dims[d].reduced) {
    b.n = static_cast<size_t>(dims[d].size);
    b.stride = dims[d++].stride * size;
  }
  if (d < count && !dims[d].reduced) {
    if (has_outer && dims[d].place < dims[0].place) return std::nullopt;
    b.inner = static_cast<size_t>(dims[d++].size);
  }
  if (d < count) return std::nullopt;
  return b;
}

at::DimVector reduced_shape(const at::Tensor& x, uint32_t reduced, bool keepdim) {
  at::DimVector shape;
  for (int64_t d = 0; d < x.dim(); ++d) {
    const bool gone = (reduced >> d & 1) != 0;
    if (!gone || keepdim) shape.push_back(gone ? 1 : x.size(d));
  }
  return shape;
}

bool takes_result(const at::Tensor& y, at::IntArrayRef shape, const at::Tensor& x) {
  return plain(y) && y.sizes() == shape && y.is_contiguous() && disjoint(y, x);
}

}  // namespace tenon::ops
