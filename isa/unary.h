// Element-wise functions of one operand.
//
// Operation: y[i] = f(x[i]), 0 <= i < n. bf16 and f16 operands are widened to f32, and the result is
// rounded once, to nearest even. Any n, any alignment; y may equal x, nothing else overlaps.
// NaN in gives NaN out.
// Error bound: kUnaryUlp units in the last place of f32, and half a unit of the storage type where
// that is narrower.
#pragma once
#include <cstddef>

namespace tenon {

constexpr double kUnaryUlp = 1.0;

// x and y: n elements of the kernel's storage type (the last part of its name).
using Unary = void(size_t n, const void* x, void* y) noexcept;

}  // namespace tenon
