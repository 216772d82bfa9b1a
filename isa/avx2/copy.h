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

TENON_INLINE __m256i load_32(const char* x) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x));
}
TENON_INLINE void store_32(char* y, __m256i v) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(y), v);
}

// 128 bytes, all read before any is written. Not by memcpy, which goes through the stack here.
TENON_INLINE void copy_lines(const char* x, char* y) {
  const __m256i a = load_32(x), b = load_32(x + 32), c = load_32(x + 64), d = load_32(x + 96);
  store_32(y, a);
  store_32(y + 32, b);
  store_32(y + 64, c);
  store_32(y + 96, d);
}

TENON_INLINE void copy(size_t n, const char* x, char* y) {
  if (n >= 32) {
    size_t i = 0;
    for (; i + 128 < n; i += 128) copy_lines(x + i, y + i);
    for (; i + 32 < n; i += 32) store_32(y + i, load_32(x + i));
    store_32(y + n - 32, load_32(x + n - 32));
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
        _mm_prefetch(x + index[r + kAhead] * x_stride + line, _MM_HINT_T0);
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
