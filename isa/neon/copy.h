// Rows of bytes, inlined: a call to memcpy costs as much as moving a hundred bytes.
#pragma once
#include <arm_neon.h>

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

TENON_INLINE uint8x16_t load_16(const char* x) {
  return vld1q_u8(reinterpret_cast<const uint8_t*>(x));
}
TENON_INLINE void store_16(char* y, uint8x16_t v) { vst1q_u8(reinterpret_cast<uint8_t*>(y), v); }

// 64 bytes, all read before any is written: two pairs each way.
TENON_INLINE void copy_line(const char* x, char* y) {
  const uint8x16_t a = load_16(x), b = load_16(x + 16), c = load_16(x + 32), d = load_16(x + 48);
  store_16(y, a);
  store_16(y + 16, b);
  store_16(y + 32, c);
  store_16(y + 48, d);
}

TENON_INLINE void copy(size_t n, const char* x, char* y) {
  if (n >= 16) {
    size_t i = 0;
    for (; i + 64 < n; i += 64) copy_line(x + i, y + i);
    for (; i + 16 < n; i += 16) store_16(y + i, load_16(x + i));
    store_16(y + n - 16, load_16(x + n - 16));
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
