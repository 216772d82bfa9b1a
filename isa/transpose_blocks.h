// The loops of a transposing copy around a tile that its kernel gives.
#pragma once
#include "isa/types.h"

namespace tenon {
namespace {

template <class T>
TENON_INLINE const T* row_of(const void* x, size_t row, ptrdiff_t stride) {
  return reinterpret_cast<const T*>(static_cast<const char*>(x) +
                                    static_cast<ptrdiff_t>(row) * stride);
}
template <class T>
TENON_INLINE T* row_of(void* y, size_t row, ptrdiff_t stride) {
  return reinterpret_cast<T*>(static_cast<char*>(y) + static_cast<ptrdiff_t>(row) * stride);
}

// A matrix and its transpose from some row and column on.
template <class T>
struct Transposed {
  const void* x;
  ptrdiff_t x_stride;
  void* y;
  ptrdiff_t y_stride;

  const T* from(size_t r, size_t c) const { return row_of<T>(x, r, x_stride) + c; }
  T* to(size_t r, size_t c) const { return row_of<T>(y, c, y_stride) + r; }
};

template <class T>
TENON_INLINE void transpose_one_by_one(Transposed<T> m, size_t r0, size_t r1, size_t c0,
                                       size_t c1) {
  for (size_t c = c0; c < c1; ++c)
    for (size_t r = r0; r < r1; ++r) *m.to(r, c) = *m.from(r, c);
}

// tile(x, x_stride, y, y_stride) transposes kRows x kCols elements. Blocks keep the lines of y,
// which fill piece by piece, and the pages of both matrices in the second-level caches.
template <class T, size_t kRows, size_t kCols, class Tile>
TENON_INLINE void transpose_blocks(size_t rows, size_t cols, Transposed<T> m, Tile tile) {
  constexpr size_t kBlockRows = 256, kBlockCols = 1024 / sizeof(T);
  for (size_t r0 = 0; r0 < rows; r0 += kBlockRows) {
    const size_t r1 = rows - r0 < kBlockRows ? rows : r0 + kBlockRows;
    const size_t whole_r = r1 - (r1 - r0) % kRows;
    for (size_t c0 = 0; c0 < cols; c0 += kBlockCols) {
      const size_t c1 = cols - c0 < kBlockCols ? cols : c0 + kBlockCols;
      const size_t whole_c = c1 - (c1 - c0) % kCols;
      for (size_t r = r0; r < whole_r; r += kRows)
        for (size_t c = c0; c < whole_c; c += kCols)
          tile(m.from(r, c), m.x_stride, m.to(r, c), m.y_stride);
      transpose_one_by_one(m, r0, whole_r, whole_c, c1);
      transpose_one_by_one(m, whole_r, r1, c0, c1);
    }
  }
}

}  // namespace
}  // namespace tenon
