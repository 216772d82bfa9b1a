// The inner product of two vectors.
//
// Operation: the sum over i < n of x[i] * y[i] in f32, both contiguous and of the storage type in
// the kernel's name; the caller rounds it. Any n including 0 (which gives +0), any alignment.
//
// Order, the same on every ISA: lane i mod kDotLanes adds the products of its elements in turn by
// fused multiply-add, starting from +0; the last, incomplete round is filled up with products of
// zeros; lanes fold in halves (64 to 32 ... to 1).
// Error bound: (n / 64 + 8) * kDotUnit * sum |x[i] * y[i]|, away from underflow.
#pragma once
#include <cstddef>

namespace tenon {

constexpr size_t kDotLanes = 64;
constexpr double kDotUnit = 0x1p-24;

using Dot = float(size_t n, const void* x, const void* y) noexcept;

}  // namespace tenon
