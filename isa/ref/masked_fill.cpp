// Reference masked fill: isa/masked_fill.h says what it computes.
#include "isa/masked_fill.h"

#include "isa/types.h"

namespace tenon {
namespace {

template <class T>
void masked_fill(size_t n, uint64_t bits, const uint8_t* mask, const void* x, void* y) {
  T value, old;
  std::memcpy(&value, &bits, sizeof value);
  for (size_t i = 0; i < n; ++i) {
    std::memcpy(&old, static_cast<const char*>(x) + i * sizeof old, sizeof old);
    std::memcpy(static_cast<char*>(y) + i * sizeof old, mask[i] ? &value : &old, sizeof old);
  }
}

}  // namespace

#define MASKED_FILL(op, T)                                                                       \
  void op##_ref(size_t n, uint64_t bits, const uint8_t* mask, const void* x, void* y) noexcept { \
    masked_fill<T>(n, bits, mask, x, y);                                                         \
  }

MASKED_FILL(masked_fill_b8, uint8_t)
MASKED_FILL(masked_fill_b16, uint16_t)
MASKED_FILL(masked_fill_b32, uint32_t)
MASKED_FILL(masked_fill_b64, uint64_t)

}  // namespace tenon
