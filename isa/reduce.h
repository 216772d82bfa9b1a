// Sum, mean and maximum along one dimension, and integer sums.
//
// Operation, x[outer][n][inner] to y[outer][inner]:
//   sum_*      y[o][j] = (x[o][0][j] + ... + x[o][n-1][j]) / divisor    (divisor 1: the sum itself)
//   amax_*     y[o][j] = max(x[o][0][j], ..., x[o][n-1][j]); the quiet NaN 0x7fc00000 if one is NaN
//   sum_i64_*  y[o][j] = x[o][0][j] + ...; b8 is bool: any byte but 0 counts 1. Wraps; no divisor.
// bf16 and f16 are widened to f32, accumulated in f32, and rounded once at the end.
//
// Preconditions: n > 0; x[o] is `outer_stride` bytes from x[o + 1], x[o][i] is `stride` bytes from
// x[o][i + 1], and x[o][i] is `inner` contiguous elements; what lies between the rows of x[o] may
// be read, though it is not used. x[o] is a row where inner is 1 and stride is the size of an
// element; otherwise it is columns. y is contiguous and overlaps nothing. Any alignment; any outer
// and inner, 0 included.
//
// The order of a float reduction, the same on every ISA: a lane takes its terms in turn in blocks
// of kReduceBlock, each block from zero, and adds its block sums in turn, from zero. A column is a
// lane. Element i of a row goes to lane i mod 64, and the lanes fold in halves (64 to 32 to 16 ...
// to 1). Of equal maxima (+0 and -0) the later term stays.
//
// Error bound of a sum: reduce_terms(n, is_row) * 2^-24 * (|x[0]| + |x[1]| + ...), then one
// rounding for the division and one to y's type. kReduceSegment terms a lane keep that at 86 units;
// who has more cuts the dimension there and reduces the partial results (ops/reduce.cpp).
#pragma once
#include <cstddef>

namespace tenon {

constexpr size_t kReduceBlock = 64;
constexpr size_t kReduceSegment = 1024;  // terms a lane, beyond which callers cut

struct ReduceArgs {
  size_t outer, n, inner;
  ptrdiff_t outer_stride, stride;  // bytes
  float divisor;
  const void* x;
  void* y;
};

using Reduce = void(const ReduceArgs& args) noexcept;

// Additions on the longest path from a term to its sum.
constexpr double reduce_terms(size_t n, bool is_row) {
  const size_t lane = is_row ? (n + 63) / 64 : n;
  const size_t block = lane < kReduceBlock ? lane : kReduceBlock;
  return static_cast<double>(block + (lane + kReduceBlock - 1) / kReduceBlock + (is_row ? 6 : 0));
}

}  // namespace tenon
