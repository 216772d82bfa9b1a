// Rows of bytes, inlined: a call to memcpy costs as much as moving a hundred bytes, and from 2 kB
// its "rep movsb" is slower than a loop of vectors where source and destination are not aligned
// alike.
#pragma once
#include <immintrin.h>

#include "isa/types.h"

namespace tenon {
namespace {

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

TENON_INLINE void copy(size_t n, const char* x, char* y) {
  if (n >= 32) {
    for (size_t i = 0; i + 32 < n; i += 32) copy_one<__m256i>(x + i, y + i);
    copy_one<__m256i>(x + n - 32, y + n - 32);
  } else if (n >= 16) {
    copy_two<__m128i>(n, x, y);
  } else if (n >= 8) {
    copy_two<uint64_t>(n, x, y);
  } else if (n >= 4) {
    copy_two<uint32_t>(n, x, y);
  } else if (n >= 2) {
    copy_two<uint16_t>(n, x, y);
  } else if (n == 1) {
    *y = *x;
  }
}

// f(bytes), with the sizes of one element as constants.
template <class F>
TENON_INLINE void with_size(size_t bytes, F f) {
  if (bytes == 4) return f(std::integral_constant<size_t, 4>{});
  if (bytes == 2) return f(std::integral_constant<size_t, 2>{});
  if (bytes == 8) return f(std::integral_constant<size_t, 8>{});
  f(bytes);
}

// Rows of x picked by index, one after the other.
template <class Index>
TENON_INLINE void gather(size_t rows, size_t bytes, const Index* index, const char* x,
                         ptrdiff_t x_stride, char* y) {
  with_size(bytes, [&](auto size) {
    for (size_t r = 0; r < rows; ++r) copy(size, x + index[r] * x_stride, y + r * size);
  });
}

}  // namespace
}  // namespace tenon
