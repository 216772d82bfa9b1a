// Transposing copy of 64-bit elements, 8 x 2 at a time: a whole line of two rows of y.
#include <arm_neon.h>

#include "isa/transpose.h"
#include "isa/transpose_blocks.h"

namespace tenon {

void transpose_b64_neon(size_t rows, size_t cols, const void* from, ptrdiff_t from_stride, void* to,
                        ptrdiff_t to_stride) noexcept {
  const Transposed<uint64_t> m{from, from_stride, to, to_stride};
  transpose_blocks<uint64_t, 8, 2>(
      rows, cols, m, [](const uint64_t* x, ptrdiff_t xs, uint64_t* y, ptrdiff_t ys) {
        for (size_t r = 0; r < 8; r += 2) {
          const uint64x2_t a = vld1q_u64(row_of<uint64_t>(x, r, xs));
          const uint64x2_t b = vld1q_u64(row_of<uint64_t>(x, r + 1, xs));
          vst1q_u64(y + r, vzip1q_u64(a, b));
          vst1q_u64(row_of<uint64_t>(y, 1, ys) + r, vzip2q_u64(a, b));
        }
      });
}

}  // namespace tenon
