// Element-wise functions of two operands.
//
// Operation: y[i] = f(a[i], b[i], s), 0 <= i < n; isa/binary.inc has every f. bf16 and f16 operands
// are widened to f32, and the result is rounded once, to nearest even; s is an f32. Any n, any
// alignment; y may equal a or b or both, nothing else overlaps.
// Error bound: half a unit in the last place of f32 (the product with s is not rounded before the
// sum), and half a unit of the storage type where that is narrower. The same bits on every ISA, but
// for the payload of a NaN.
#pragma once
#include <cstddef>

namespace tenon {

constexpr double kBinaryUlp = 0.5;

// a, b and y: n elements of the kernel's storage type (the last part of its name).
using Binary = void(size_t n, float s, const void* a, const void* b, void* y) noexcept;

}  // namespace tenon
