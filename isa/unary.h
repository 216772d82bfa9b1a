// Element-wise functions of one operand.
//
// Operation: y[i] = f(x[i]), 0 <= i < n; isa/unary.inc has every f. bf16 and f16 operands are
// widened to f32, and the result is rounded once, to nearest even. Any n, any alignment; y may
// equal x, nothing else overlaps. NaN in gives NaN out. Error bound: the function's, in units of
// the result's last place in f32 over every f32 operand, or of kUnaryFloor's last place where the
// result is smaller; and half a unit of the storage type where that is narrower. The same bits on
// every ISA, but for the payload of a NaN.
#pragma once
#include <cstddef>

namespace tenon {

constexpr double kUnaryFloor = 0x1p-120;
constexpr double kExpUlp = 1.0;
constexpr double kLogUlp = 1.0;
constexpr double kSigmoidUlp = 2.5;
constexpr double kTanhUlp = 1.5;
constexpr double kSiluUlp = 3.5;
constexpr double kGeluUlp = 4.5;
constexpr double kGeluTanhUlp = 3.5;
constexpr double kReluUlp = 0.0;
constexpr double kSqrtUlp = 0.5;
constexpr double kRsqrtUlp = 1.5;
constexpr double kReciprocalUlp = 0.5;
constexpr double kSquareUlp = 0.5;
constexpr double kCubeUlp = 1.5;
constexpr double kSquareReciprocalUlp = 2.5;

// x and y: n elements of the kernel's storage type (the last part of its name).
using Unary = void(size_t n, const void* x, void* y) noexcept;

}  // namespace tenon
