// One value written where a mask is set.
//
// Operation: y[i] = mask[i] != 0 ? value : x[i], 0 <= i < n. Elements are 1, 2, 4 or 8 bytes (the
// number in the kernel's name is bits); value is the low bytes of `bits`. Any n, any alignment; y
// may equal x, nothing else overlaps. Exact: x is moved, not interpreted.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tenon {

using MaskedFill = void(size_t n, uint64_t bits, const uint8_t* mask, const void* x,
                        void* y) noexcept;

}  // namespace tenon
