// Masked fill for RVV: isa/masked_fill.h says what it computes.
#include "isa/masked_fill.h"

#include "isa/rvv/vec.h"

namespace tenon {

// A mask of one byte an element and its elements fill register groups of equal counts.
#define MASKED_FILL(size, group, mask_group)                                                      \
  void TENON_KERNEL(masked_fill_b##size)(size_t n, uint64_t bits, const uint8_t* mask,            \
                                         const void* x, void* y) noexcept {                       \
    const auto* from = static_cast<const uint##size##_t*>(x);                                     \
    auto* to = static_cast<uint##size##_t*>(y);                                                   \
    for (size_t vl; n > 0; n -= vl, mask += vl, from += vl, to += vl) {                           \
      vl = __riscv_vsetvl_e##size##group(n);                                                      \
      const auto set = __riscv_vmsne(__riscv_vle8_v_u8##mask_group(mask, vl), 0, vl);             \
      const auto old = __riscv_vle##size##_v_u##size##group(from, vl);                            \
      __riscv_vse##size(to, __riscv_vmerge(old, static_cast<uint##size##_t>(bits), set, vl), vl); \
    }                                                                                             \
  }

MASKED_FILL(8, m8, m8)
MASKED_FILL(16, m8, m4)
MASKED_FILL(32, m8, m2)
MASKED_FILL(64, m8, m1)

}  // namespace tenon
