// What the inlined copies of rows of bytes share: short rows, and rows picked by index. Included by
// the copy.h of an ISA folder, which adds copy().
#pragma once
#include "isa/types.h"

namespace tenon {
namespace {

// n bytes from x to y; all sizes.
TENON_INLINE void copy(size_t n, const char* x, char* y);

template <class V>
TENON_INLINE void copy_one(const char* x, char* y) {
  V v;
  std::memcpy(&v, x, sizeof v);
  std::memcpy(y, &v, sizeof v);
}

// n bytes, sizeof(V) <= n <= 2 * sizeof(V), as two steps that may overlap.
template <class V>
TENON_INLINE void copy_two(size_t n, const char* x, char* y) {
  copy_one<V>(x, y);
  copy_one<V>(x + n - sizeof(V), y + n - sizeof(V));
}

// f(bytes), with the sizes of one element as constants.
template <class F>
TENON_INLINE void with_size(size_t bytes, F f) {
  if (bytes == 4) return f(std::integral_constant<size_t, 4>{});
  if (bytes == 2) return f(std::integral_constant<size_t, 2>{});
  if (bytes == 8) return f(std::integral_constant<size_t, 8>{});
  f(bytes);
}

constexpr size_t kAhead = 4, kAheadBytes = 256;  // how far gathers prefetch: rows, and bytes of one

// Rows of x picked by index, one after the other. Rows come in no order that the hardware could
// guess, so the first lines of a row are asked for while earlier rows are copied.
template <class Index>
TENON_INLINE void gather_rows(size_t rows, size_t bytes, const Index* index, const char* x,
                              ptrdiff_t x_stride, char* y) {
  const size_t ahead = bytes < kAheadBytes ? bytes : kAheadBytes;
  for (size_t r = 0; r < rows; ++r, y += bytes) {
    if (r + kAhead < rows)
      for (size_t line = 0; line < ahead; line += 64)
        __builtin_prefetch(x + index[r + kAhead] * x_stride + line);
    copy(bytes, x + index[r] * x_stride, y);
  }
}

// Single elements of `size` bytes from a contiguous x.
template <size_t size, class Index>
TENON_INLINE void gather_elements(size_t n, const Index* index, const char* x, char* y) {
  _Pragma("GCC unroll 4") for (size_t i = 0; i < n; ++i)
      std::memcpy(y + i * size, x + index[i] * static_cast<ptrdiff_t>(size), size);
}

template <class Index>
TENON_INLINE void gather(size_t rows, size_t bytes, const Index* index, const char* x,
                         ptrdiff_t x_stride, char* y) {
  const bool touching = x_stride == static_cast<ptrdiff_t>(bytes);
  if (touching && bytes == 4) return gather_elements<4>(rows, index, x, y);
  if (touching && bytes == 2) return gather_elements<2>(rows, index, x, y);
  if (touching && bytes == 8) return gather_elements<8>(rows, index, x, y);
  gather_rows(rows, bytes, index, x, x_stride, y);
}

}  // namespace
}  // namespace tenon
