// Softmax and its logarithm over the rows or the columns of a matrix.
//
// Operation, for each row (softmax, log_softmax) or column (softmax_columns, log_softmax_columns)
// v:
//   softmax:     y[i] = exp(v[i] - max v) / sum_j exp(v[j] - max v)
//   log_softmax: y[i] = (v[i] - max v) - log(sum_j exp(v[j] - max v))
// where exponentials below 2^-126 count as zero, in f32, summed in the order of isa/sum_order.h
// whatever the layout: a vector's result has the same bits as a row, as a column, alone, or among
// others. bf16 and f16 are rounded once, at the end. A NaN or +inf in v, or nothing but -inf, gives
// NaN throughout v.
//
// Any sizes, any alignment. `stride` is the distance of rows in bytes, for x and y alike. y may be
// x; nothing else overlaps. Error bound, in units in the last place of f32, with half a unit of the
// storage type on top where that is narrower: softmax kSoftmaxUlp + (max v - v[i]), for the
// rounding of that difference is an exponent's; log_softmax kLogSoftmaxUlp, at max(|y[i]|, 1).
#pragma once
#include <cstddef>

namespace tenon {

constexpr double kSoftmaxUlp = 6;
constexpr double kLogSoftmaxUlp = 4;

using Softmax = void(size_t rows, size_t columns, ptrdiff_t stride, const void* x,
                     void* y) noexcept;

}  // namespace tenon
