// How a reduction sees a tensor: the reduced dimensions as one block between an outer and an inner
// one, sizes as numbers and strides in bytes.
#pragma once
#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "dispatch/parallel.h"
#include "ops/view.h"

namespace tenon::ops {

constexpr int64_t kMaxDims = 16;
constexpr size_t kColumns = 1024;  // columns that are worth a visit of a kernel
constexpr int64_t kGrain = 32768;  // elements that are worth a thread

// Which dimensions of an operand are reduced, a bit each. Nothing where a number is out of range or
// comes twice: stock has the message. No numbers at all mean every dimension.
std::optional<uint32_t> reduced_dims(const at::Tensor& x, at::OptionalIntArrayRef dims);

// x[outer][n][inner], reduced over n; inner is contiguous. Nothing where x's strides do not allow
// it.
struct Block {
  size_t outer = 1, n = 1, inner = 1;
  ptrdiff_t outer_stride = 0, stride = 0;  // bytes
};
std::optional<Block> block_of(const at::Tensor& x, uint32_t reduced);

// The shape of the result.
at::DimVector reduced_shape(const at::Tensor& x, uint32_t reduced, bool keepdim);

// True for an output that has the result's shape and is contiguous, apart from x.
bool takes_result(const at::Tensor& y, at::IntArrayRef shape, const at::Tensor& x);

// f(o, outer, j, inner) on parts of a result of `outer` times `inner` elements, each reduced from
// n: the elements [o, o + outer) times [j, j + inner). On as many threads as the work is worth.
template <class F>
void each_part(size_t outer, size_t n, size_t inner, F f) {
  if (inner <= kColumns) {
    const auto row = static_cast<int64_t>(std::max<size_t>(n * inner, 1));
    parallel_for(static_cast<int64_t>(outer), std::max<int64_t>(1, kGrain / row),
                 [&](int64_t begin, int64_t end) {
                   f(static_cast<size_t>(begin), static_cast<size_t>(end - begin), size_t{0},
                     inner);
                 });
    return;
  }
  const size_t tiles = (inner + kColumns - 1) / kColumns;
  const int64_t grain = std::max<int64_t>(1, kGrain / static_cast<int64_t>(n * kColumns));
  parallel_for(static_cast<int64_t>(outer * tiles), grain, [&](int64_t begin, int64_t end) {
    for (auto t = static_cast<size_t>(begin); t < static_cast<size_t>(end);) {
      const size_t o = t / tiles, from = t % tiles;
      const size_t to = std::min(tiles, from + static_cast<size_t>(end) - t), j = from * kColumns;
      f(o, size_t{1}, j, std::min(inner, to * kColumns) - j);
      t += to - from;
    }
  });
}

}  // namespace tenon::ops
