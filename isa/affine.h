// One scale and one offset for a run of elements: what batch_norm is in inference, a channel at a
// time.
//
// Operation: y[i] = x[i] * scale + offset, 0 <= i < n, by one fused multiply-add in f32. Any n, any
// alignment; y may equal x, nothing else overlaps. Error bound: exact, in that every ISA gives the
// same bits, but for the payload of a NaN.
#pragma once
#include <cstddef>

namespace tenon {

// x and y: n elements of the storage type in the kernel's name.
using Affine = void(size_t n, float scale, float offset, const void* x, void* y) noexcept;

}  // namespace tenon
