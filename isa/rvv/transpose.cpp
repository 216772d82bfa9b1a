// Transposing copy for RVV: isa/transpose.h says what it computes.
//
// Every column of some rows is loaded with the rows' stride and stored as a piece of a row of y:
// lines of y are written whole, and those of x stay in the first cache for the columns that follow.
#include "isa/transpose.h"

#include "isa/rvv/vec.h"

namespace tenon {
namespace {

constexpr size_t kRows = 128;  // done together: their lines of 64 bytes take 8 KiB

}  // namespace

#define TRANSPOSE(size)                                                                    \
  void TENON_KERNEL(transpose_b##size)(size_t rows, size_t cols, const void* x_rows,       \
                                       ptrdiff_t x_stride, void* y_rows,                   \
                                       ptrdiff_t y_stride) noexcept {                      \
    const auto* x = static_cast<const uint##size##_t*>(x_rows);                            \
    auto* y = static_cast<uint##size##_t*>(y_rows);                                        \
    for (size_t vl; rows > 0; rows -= vl) {                                                \
      vl = __riscv_vsetvl_e##size##m8(rows < kRows ? rows : kRows);                        \
      auto* to = y;                                                                        \
      for (const auto *from = x, *end = held(x + cols); from != end; ++from) {             \
        __riscv_vse##size(to, __riscv_vlse##size##_v_u##size##m8(from, x_stride, vl), vl); \
        to = byte_offset(to, y_stride);                                                    \
      }                                                                                    \
      x = byte_offset(x, static_cast<ptrdiff_t>(vl) * x_stride);                           \
      y += vl;                                                                             \
    }                                                                                      \
  }

TRANSPOSE(16)
TRANSPOSE(32)
TRANSPOSE(64)

}  // namespace tenon
