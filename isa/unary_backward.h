// Backward of the activations, element by element.
//
// Operation: dx[i] = dy[i] f'(...), 0 <= i < n, from what the forward saved: its operand x or its
// result y; isa/unary_backward.inc has every formula. bf16 and f16 operands are widened to f32, and
// the result is rounded once, to nearest even. Any n, any alignment; dx may equal dy or saved,
// nothing else overlaps. Error bound: the function's, in units of the last place in f32 of dy times
// the sum of the magnitudes of the terms of f', or of dy times kUnaryBackwardFloor where that is
// larger; and half a unit of the storage type where that is narrower. The same bits on every ISA,
// but for the payload of a NaN.
#pragma once
#include <cstddef>

namespace tenon {

constexpr double kUnaryBackwardFloor = 0x1p-100;
constexpr double kReluBackwardUlp = 0.0;
constexpr double kSigmoidBackwardUlp = 3.0;
constexpr double kTanhBackwardUlp = 2.0;
constexpr double kSiluBackwardUlp = 4.0;
constexpr double kGeluBackwardUlp = 4.0;
constexpr double kGeluTanhBackwardUlp = 4.0;

// dy, saved and dx: n elements of the kernel's storage type (the last part of its name).
using UnaryBackward = void(size_t n, const void* dy, const void* saved, void* dx) noexcept;

}  // namespace tenon
