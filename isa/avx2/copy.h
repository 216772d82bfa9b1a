// Rows of bytes, inlined: a call to memcpy costs as much as moving a hundred bytes, and from 2 kB
// its "rep movsb" is slower than a loop of vectors where source and destination are not aligned
// alike.
#pragma once
#include <immintrin.h>

#include "isa/copy_inline.h"

namespace tenon {
namespace {

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

}  // namespace
}  // namespace tenon
