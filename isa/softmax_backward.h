// Gradient of softmax and log_softmax over the rows or the columns of a matrix.
//
// Operation, for each row or column of dy, y (the forward result) and dx:
//   softmax_backward:     dx[i] = (dy[i] - sum_j dy[j] y[j]) y[i]
//   log_softmax_backward: dx[i] = dy[i] - exp(y[i]) sum_j dy[j]
// in f32, the sums in the order of isa/sum_order.h whatever the layout. bf16 and f16 are rounded
// once, at the end.
//
// Any sizes, any alignment. `stride` is the distance of rows in bytes, for all three. dx may be dy
// or y; nothing else overlaps. Error bound: kSoftmaxBackwardUlp epsilons of f32 times the same
// expression with every term's magnitude, and half a unit of the storage type where that is
// narrower.
#pragma once
#include <cstddef>

namespace tenon {

constexpr double kSoftmaxBackwardUlp = 4;

using SoftmaxBackward = void(size_t rows, size_t columns, ptrdiff_t stride, const void* dy,
                             const void* y, void* dx) noexcept;

}  // namespace tenon
