// Copies of rows and rows picked by index, for RVV: isa/copy_rows.h and isa/gather.h.
#include "isa/copy_rows.h"

#include "isa/gather.h"
#include "isa/rvv/vec.h"

namespace tenon {
namespace {

TENON_INLINE void copy(const uint8_t* x, uint8_t* y, size_t n) {
  for (size_t vl; n > 0; n -= vl, x += vl, y += vl) {
    vl = __riscv_vsetvl_e8m8(n);
    __riscv_vse8(y, __riscv_vle8_v_u8m8(x, vl), vl);
  }
}

template <class Index>
TENON_INLINE void gather(size_t rows, size_t bytes, const void* index, const void* x,
                         ptrdiff_t stride, void* y) {
  const auto* from = static_cast<const uint8_t*>(x);
  auto* to = static_cast<uint8_t*>(y);
  for (size_t r = 0; r < rows; ++r, to += bytes)
    copy(from + static_cast<const Index*>(index)[r] * stride, to, bytes);
}

}  // namespace

void TENON_KERNEL(copy_rows_b8)(size_t rows, size_t bytes, const void* x, ptrdiff_t x_stride,
                                void* y, ptrdiff_t y_stride) noexcept {
  const auto* from = static_cast<const uint8_t*>(x);
  auto* to = static_cast<uint8_t*>(y);
  for (size_t r = 0; r < rows; ++r, from += x_stride, to += y_stride) copy(from, to, bytes);
}

void TENON_KERNEL(gather_b8_i64)(size_t rows, size_t bytes, const void* index, const void* x,
                                 ptrdiff_t x_stride, void* y) noexcept {
  gather<int64_t>(rows, bytes, index, x, x_stride, y);
}
void TENON_KERNEL(gather_b8_i32)(size_t rows, size_t bytes, const void* index, const void* x,
                                 ptrdiff_t x_stride, void* y) noexcept {
  gather<int32_t>(rows, bytes, index, x, x_stride, y);
}

}  // namespace tenon
