// Sums down the columns of a strip of a matrix, each column in the order of isa/sum_order.h. The
// lanes of all columns live in one array that stays in the second cache; rows are read left to
// right.
#pragma once
#include "isa/simd/rows.h"

namespace tenon {
namespace {

constexpr size_t kStrip = 256;  // columns done together: 64 lanes of them are 64 KiB

// One f32 for each column of a strip, rounded up to whole vectors.
struct alignas(64) PerColumn {
  float v[kStrip];

  F32 operator[](size_t c) const { return F32::load_aligned(v + c); }
  void set(size_t c, F32 x) { x.store_aligned(v + c); }
};

TENON_INLINE void fold_columns(size_t rows, size_t width, PerColumn (&lane)[kSumLanes],
                               PerColumn& total) {
  for (size_t half = kSumLanes / 2; half > 0; half /= 2)
    for (size_t l = 0; l < half && l + half < rows; ++l)  // lanes without rows hold zero
      for (size_t c = 0; c < width; c += kLanes) lane[l].set(c, lane[l][c] + lane[l + half][c]);
  for (size_t c = 0; c < width; c += kLanes) total.set(c, total[c] + lane[0][c]);
}

// total[c] = the sum down column c; step(sum, r, c, span) is a vector of sums with row r added, and
// before(r) comes before the row's first step.
template <class Before, class Step>
TENON_INLINE void column_sums(size_t rows, size_t width, PerColumn& total, Before before,
                              Step step) {
  PerColumn lane[kSumLanes];
  for (size_t c = 0; c < width; c += kLanes) total.set(c, F32(0.0f));
  for (size_t begin = 0; begin < rows; begin += kSumBlock) {
    const size_t end = rows - begin < kSumBlock ? rows : begin + kSumBlock;
    for (size_t r = begin; r < end; ++r) {
      PerColumn& sums = lane[r % kSumLanes];
      const bool fresh = r - begin < kSumLanes;
      before(r);
      each_step(width, [&](size_t c, auto span) __attribute__((always_inline)) {
        sums.set(c, step(fresh ? F32(0.0f) : sums[c], r, c, span));
      });
    }
    fold_columns(end - begin, width, lane, total);
  }
}

// Asks for the strip's part of a row that is a few rows further down. Rows lie pages apart, where
// the hardware's own prefetching ends. May point beyond the last row: a prefetch never faults.
template <class T>
TENON_INLINE void prefetch_below(const T* x, size_t r, ptrdiff_t stride, size_t width) {
  constexpr size_t kAhead = 4, kLine = 64;
  const char* row = reinterpret_cast<const char*>(row_at(x, r + kAhead, stride));
  for (size_t b = 0; b < width * sizeof(T); b += kLine) __builtin_prefetch(row + b);
}

// f(x, width) for each strip of `columns` columns.
template <class F>
TENON_INLINE void each_strip(size_t columns, F f) {
  for (size_t c = 0; c < columns; c += kStrip) f(c, columns - c < kStrip ? columns - c : kStrip);
}

}  // namespace
}  // namespace tenon
