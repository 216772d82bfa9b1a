// Transposing copy of 32-bit elements, 16 x 4 at a time: a whole line of four rows of y.
#include <arm_neon.h>

#include "isa/transpose.h"
#include "isa/transpose_blocks.h"

namespace tenon {
namespace {

TENON_INLINE void transpose_4x4(const uint32_t* x, ptrdiff_t xs, uint32_t* y, ptrdiff_t ys) {
  uint32x4_t a[4], b[4];
  for (size_t r = 0; r < 4; ++r) a[r] = vld1q_u32(row_of<uint32_t>(x, r, xs));
  for (int pass = 0; pass < 2; ++pass) {
    for (size_t r = 0; r < 2; ++r) {
      b[2 * r] = vzip1q_u32(a[r], a[r + 2]);
      b[2 * r + 1] = vzip2q_u32(a[r], a[r + 2]);
    }
    for (size_t r = 0; r < 4; ++r) a[r] = b[r];
  }
  for (size_t c = 0; c < 4; ++c) vst1q_u32(row_of<uint32_t>(y, c, ys), a[c]);
}

}  // namespace

void transpose_b32_neon(size_t rows, size_t cols, const void* from, ptrdiff_t from_stride, void* to,
                        ptrdiff_t to_stride) noexcept {
  const Transposed<uint32_t> m{from, from_stride, to, to_stride};
  transpose_blocks<uint32_t, 16, 4>(rows, cols, m,
                                    [](const uint32_t* x, ptrdiff_t xs, uint32_t* y, ptrdiff_t ys) {
                                      for (size_t r = 0; r < 16; r += 4)
                                        transpose_4x4(row_of<uint32_t>(x, r, xs), xs, y + r, ys);
                                    });
}

}  // namespace tenon
