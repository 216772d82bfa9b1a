// Conversion between storage types.
//
// Operation: y[i] = x[i] in y's type, 0 <= i < n. To a narrower float: rounded to nearest even,
// from i64 through f32 (two roundings, as ATen's). From a float to i64: truncated towards zero; NaN
// and what i64 cannot hold give its minimum. Any n, any alignment; x and y don't overlap. Error
// bound: exact, in that every ISA gives the same bits, but for the payload of a NaN.
#pragma once
#include <cstddef>

namespace tenon {

// x and y: n elements; the kernel's name has y's type, then x's: cast_bf16_f32.
using Cast = void(size_t n, const void* x, void* y) noexcept;

}  // namespace tenon
