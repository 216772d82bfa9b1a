// The largest element along one dimension, and where it is.
//
// Operation, x[outer][n][inner]: index[o][j] is the least i whose x[o][i][j] is NaN, or where there
// is none the least i whose x[o][i][j] equals the maximum (+0 equals -0); value[o][j] is that
// element, bit for bit but for the payload of a NaN.
//
// Preconditions: as isa/reduce.h, and n < 2^31 (rows and columns are told apart as there). value
// and index are contiguous, outer * inner elements; value may be null. The result is exact.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tenon {

struct ArgmaxArgs {
  size_t outer, n, inner;
  ptrdiff_t outer_stride, stride;  // bytes
  const void* x;
  void* value;  // of x's type, or null
  int64_t* index;
};

using Argmax = void(const ArgmaxArgs& args) noexcept;

}  // namespace tenon
