// Transposing copy for RVV: isa/transpose.h says what it computes.
//
// Eight rows are loaded side by side, and one segment store writes eight elements of every column
// together, so that a line of cache is written once and not eight times. What is left of the rows
// goes one by one with a stride.
#include "isa/transpose.h"

#include "isa/rvv/vec.h"

namespace tenon {

#define TRANSPOSE(size)                                                                            \
  namespace {                                                                                      \
  using Row##size = const uint##size##_t*;                                                         \
  TENON_INLINE void eight_rows(size_t cols, Row##size x, ptrdiff_t x_stride, uint##size##_t* y,    \
                               ptrdiff_t y_stride) {                                               \
    const auto row = [&](ptrdiff_t r, size_t c, size_t vl) __attribute__((always_inline)) {        \
      return __riscv_vle##size##_v_u##size##m1(byte_offset(x, r * x_stride) + c, vl);              \
    };                                                                                             \
    for (size_t c = 0, vl; c < cols; c += vl) {                                                    \
      vl = __riscv_vsetvl_e##size##m1(cols - c);                                                   \
      const auto rows = __riscv_vcreate_v_u##size##m1x8(                                           \
          row(0, c, vl), row(1, c, vl), row(2, c, vl), row(3, c, vl), row(4, c, vl),               \
          row(5, c, vl), row(6, c, vl), row(7, c, vl));                                            \
      __riscv_vssseg8e##size(byte_offset(y, static_cast<ptrdiff_t>(c) * y_stride), y_stride, rows, \
                             vl);                                                                  \
    }                                                                                              \
  }                                                                                                \
  TENON_INLINE void one_row(size_t cols, Row##size x, uint##size##_t* y, ptrdiff_t y_stride) {     \
    for (size_t c = 0, vl; c < cols; c += vl) {                                                    \
      vl = __riscv_vsetvl_e##size##m8(cols - c);                                                   \
      __riscv_vsse##size(byte_offset(y, static_cast<ptrdiff_t>(c) * y_stride), y_stride,           \
                         __riscv_vle##size##_v_u##size##m8(x + c, vl), vl);                        \
    }                                                                                              \
  }                                                                                                \
  }                                                                                                \
  void TENON_KERNEL(transpose_b##size)(size_t rows, size_t cols, const void* x,                    \
                                       ptrdiff_t x_stride, void* y, ptrdiff_t y_stride) noexcept { \
    const auto* from = static_cast<Row##size>(x);                                                  \
    auto* to = static_cast<uint##size##_t*>(y);                                                    \
    for (; rows >= 8; rows -= 8, from = byte_offset(from, 8 * x_stride), to += 8)                  \
      eight_rows(cols, from, x_stride, to, y_stride);                                              \
    for (; rows > 0; --rows, from = byte_offset(from, x_stride), ++to)                             \
      one_row(cols, from, to, y_stride);                                                           \
  }

TRANSPOSE(16)
TRANSPOSE(32)
TRANSPOSE(64)

}  // namespace tenon
