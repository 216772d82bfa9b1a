// Rows of bytes, inlined: a call to memcpy costs as much as moving a hundred bytes.
#pragma once
#include <arm_neon.h>

#include "isa/copy_inline.h"

namespace tenon {
namespace {

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

}  // namespace
}  // namespace tenon
