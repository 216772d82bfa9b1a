// Sums down the columns of a strip of a matrix, each column in the order of isa/sum_order.h. The
// lanes of all columns live in one array that stays in the second cache; rows are read left to
// right.
#pragma once
#include "isa/rvv/rows.h"

namespace tenon {
namespace {

constexpr size_t kStrip = 256;  // columns done together: 64 lanes of them are 64 KiB

// One f32 for each column of a strip.
using PerColumn = float[kStrip];

TENON_INLINE void fill(size_t n, float* y, float value) {
  const Wide v = Width<Wide>::splat(value);
  each_step<Wide>(n,
                  [&](size_t i, size_t vl) __attribute__((always_inline)) { store(y + i, v, vl); });
}
TENON_INLINE void add_to(size_t n, float* sum, const float* x) {
  map<Wide>(n, sum, x, sum,
            [](Wide a, Wide b) __attribute__((always_inline)) { return add(a, b); });
}

TENON_INLINE void fold_columns(size_t rows, size_t width, PerColumn* lane, float* total) {
  for (size_t half = kSumLanes / 2; half > 0; half /= 2)
    for (size_t l = 0; l < half && l + half < rows; ++l)  // lanes without rows hold zero
      add_to(width, lane[l], lane[l + half]);
  add_to(width, total, lane[0]);
}

// total[c] = the sum down column c; row(r, sums) adds row r to the sums.
template <class Row>
TENON_INLINE void column_sums(size_t rows, size_t width, float* total, Row row) {
  PerColumn lane[kSumLanes];
  fill(width, total, 0.0f);
  for (size_t begin = 0; begin < rows; begin += kSumBlock) {
    const size_t end = rows - begin < kSumBlock ? rows : begin + kSumBlock;
    for (size_t r = begin; r < end; ++r) {
      float* const sums = lane[r % kSumLanes];
      if (r - begin < kSumLanes) fill(width, sums, 0.0f);
      row(r, sums);
    }
    fold_columns(end - begin, width, lane, total);
  }
}

// f(c, width) for each strip of `columns` columns.
template <class F>
TENON_INLINE void each_strip(size_t columns, F f) {
  for (size_t c = 0; c < columns; c += kStrip) f(c, columns - c < kStrip ? columns - c : kStrip);
}

}  // namespace
}  // namespace tenon
