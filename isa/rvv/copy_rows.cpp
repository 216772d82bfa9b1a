// Copies of rows and rows picked by index, for RVV: isa/copy_rows.h and isa/gather.h. Rows that are
// one aligned element go by many, with a stride or by their indices; others one by one, as bytes.
#include "isa/copy_rows.h"

#include "isa/gather.h"
#include "isa/rvv/vec.h"

namespace tenon {
namespace {

TENON_INLINE void copy_bytes(const uint8_t* x, uint8_t* y, size_t n) {
  for (size_t vl; n > 0; n -= vl, x += vl, y += vl) {
    vl = __riscv_vsetvl_e8m8(n);
    __riscv_vse8(y, __riscv_vle8_v_u8m8(x, vl), vl);
  }
}

// The bytes of the i64 indices, or i32, of as many rows as fill eight registers.
TENON_INLINE vuint64m8_t offsets(const int64_t* index, ptrdiff_t stride, size_t vl) {
  return __riscv_vreinterpret_v_i64m8_u64m8(
      __riscv_vmul(__riscv_vle64_v_i64m8(index, vl), stride, vl));
}
TENON_INLINE vuint64m8_t offsets(const int32_t* index, ptrdiff_t stride, size_t vl) {
  const auto wide = __riscv_vsext_vf2(__riscv_vle32_v_i32m4(index, vl), vl);
  return __riscv_vreinterpret_v_i64m8_u64m8(__riscv_vmul(wide, stride, vl));
}

// `group` is what elements of `size` bits fill beside 64-bit offsets in eight registers.
#define ELEMENTS(size, group)                                                            \
  TENON_INLINE void copy_elements(size_t n, const uint##size##_t* x, ptrdiff_t x_stride, \
                                  uint##size##_t* y, ptrdiff_t y_stride) {               \
    for (size_t vl; n > 0; n -= vl) {                                                    \
      vl = __riscv_vsetvl_e##size##m8(n);                                                \
      const auto v = __riscv_vlse##size##_v_u##size##m8(x, x_stride, vl);                \
      y_stride == sizeof *y ? __riscv_vse##size(y, v, vl)                                \
                            : __riscv_vsse##size(y, y_stride, v, vl);                    \
      x = byte_offset(x, static_cast<ptrdiff_t>(vl) * x_stride);                         \
      y = byte_offset(y, static_cast<ptrdiff_t>(vl) * y_stride);                         \
    }                                                                                    \
  }                                                                                      \
  template <class Index>                                                                 \
  TENON_INLINE void pick_elements(size_t n, const Index* index, const uint##size##_t* x, \
                                  ptrdiff_t stride, uint##size##_t* y) {                 \
    for (size_t vl; n > 0; n -= vl, index += vl, y += vl) {                              \
      vl = __riscv_vsetvl_e64m8(n);                                                      \
      const auto at = offsets(index, stride, vl);                                        \
      __riscv_vse##size(y, __riscv_vluxei64_v_u##size##group(x, at, vl), vl);            \
    }                                                                                    \
  }
ELEMENTS(16, m2)
ELEMENTS(32, m4)
ELEMENTS(64, m8)
#undef ELEMENTS

// f(T{}) with the unsigned type of one element where `bytes` is its size and `address`, the bits of
// all pointers and strides, shows that every row is aligned; whether there is one.
template <class F>
TENON_INLINE bool with_element(size_t bytes, uint64_t address, F f) {
  if (address % bytes != 0) return false;
  if (bytes == 2) return f(uint16_t{}), true;
  if (bytes == 4) return f(uint32_t{}), true;
  if (bytes == 8) return f(uint64_t{}), true;
  return false;
}

TENON_INLINE uint64_t bits(const void* p) { return reinterpret_cast<uintptr_t>(p); }
TENON_INLINE uint64_t bits(ptrdiff_t stride) { return static_cast<uint64_t>(stride); }

template <class Index>
TENON_INLINE void gather(size_t rows, size_t bytes, const Index* index, const void* x,
                         ptrdiff_t stride, void* y) {
  if (bytes == 0) return;
  if (with_element(bytes, bits(x) | bits(stride) | bits(y), [&](auto element) {
        using T = decltype(element);
        pick_elements(rows, index, static_cast<const T*>(x), stride, static_cast<T*>(y));
      }))
    return;
  auto* to = static_cast<uint8_t*>(y);
  for (size_t r = 0; r < rows; ++r, to += bytes)
    copy_bytes(static_cast<const uint8_t*>(x) + index[r] * stride, to, bytes);
}

}  // namespace

void TENON_KERNEL(copy_rows_b8)(size_t rows, size_t bytes, const void* x, ptrdiff_t x_stride,
                                void* y, ptrdiff_t y_stride) noexcept {
  const auto* from = static_cast<const uint8_t*>(x);
  auto* to = static_cast<uint8_t*>(y);
  const auto touching = static_cast<ptrdiff_t>(bytes);
  if (x_stride == touching && y_stride == touching) return copy_bytes(from, to, rows * bytes);
  if (bytes == 0) return;
  if (with_element(bytes, bits(x) | bits(x_stride) | bits(y) | bits(y_stride), [&](auto element) {
        using T = decltype(element);
        copy_elements(rows, static_cast<const T*>(x), x_stride, static_cast<T*>(y), y_stride);
      }))
    return;
  for (size_t r = 0; r < rows; ++r, from += x_stride, to += y_stride) copy_bytes(from, to, bytes);
}

void TENON_KERNEL(gather_b8_i64)(size_t rows, size_t bytes, const void* index, const void* x,
                                 ptrdiff_t x_stride, void* y) noexcept {
  gather(rows, bytes, static_cast<const int64_t*>(index), x, x_stride, y);
}
void TENON_KERNEL(gather_b8_i32)(size_t rows, size_t bytes, const void* index, const void* x,
                                 ptrdiff_t x_stride, void* y) noexcept {
  gather(rows, bytes, static_cast<const int32_t*>(index), x, x_stride, y);
}

}  // namespace tenon
