// Transposing copy of 16-bit elements, 32 x 8 at a time: a whole line of eight rows of y.
#include <arm_neon.h>

#include "isa/transpose.h"
#include "isa/transpose_blocks.h"

namespace tenon {
namespace {

// Eight columns of eight rows of x. Each step interleaves what is twice as wide as before: rows i
// and i + 4, then pairs with pairs two apart, then fours with fours.
TENON_INLINE void transpose_8x8(const uint16_t* x, ptrdiff_t xs, uint16_t* y, ptrdiff_t ys) {
  uint16x8_t a[8], b[8];
  for (size_t r = 0; r < 8; ++r) a[r] = vld1q_u16(row_of<uint16_t>(x, r, xs));
  for (int pass = 0; pass < 3; ++pass) {
    for (size_t r = 0; r < 4; ++r) {
      b[2 * r] = vzip1q_u16(a[r], a[r + 4]);
      b[2 * r + 1] = vzip2q_u16(a[r], a[r + 4]);
    }
    for (size_t r = 0; r < 8; ++r) a[r] = b[r];
  }
  for (size_t c = 0; c < 8; ++c) vst1q_u16(row_of<uint16_t>(y, c, ys), a[c]);
}

}  // namespace

void transpose_b16_neon(size_t rows, size_t cols, const void* from, ptrdiff_t from_stride, void* to,
                        ptrdiff_t to_stride) noexcept {
  const Transposed<uint16_t> m{from, from_stride, to, to_stride};
  transpose_blocks<uint16_t, 32, 8>(rows, cols, m,
                                    [](const uint16_t* x, ptrdiff_t xs, uint16_t* y, ptrdiff_t ys) {
                                      for (size_t r = 0; r < 32; r += 8)
                                        transpose_8x8(row_of<uint16_t>(x, r, xs), xs, y + r, ys);
                                    });
}

}  // namespace tenon
