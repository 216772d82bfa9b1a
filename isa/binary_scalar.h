// Element-wise functions of a tensor and a number.
//
// Operation: y[i] = f(a[i], s), 0 <= i < n; isa/binary_scalar.inc has every f. bf16 and f16
// operands are widened to f32, and the result is rounded once, to nearest even; s is an f32. Any n,
// any alignment; y may equal a, nothing else overlaps. Error bound: half a unit in the last place
// of f32, and half a unit of the storage type where that is narrower. The same bits on every ISA,
// but for the payload of a NaN.
#pragma once
#include <cstddef>

namespace tenon {

constexpr double kBinaryScalarUlp = 0.5;

// a and y: n elements of the kernel's storage type (the last part of its name).
using BinaryScalar = void(size_t n, float s, const void* a, void* y) noexcept;

}  // namespace tenon
