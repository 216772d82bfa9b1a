// Matrix products in dot form: both operands lie contiguous along k, as a linear layer's weight
// does.
//
// Operation: y[i][j] = sum over p < k of a[i][p] * b[j][p]; i < m, j < n. An element of y lies at
// y + i * y_row + j * y_column. Any sizes including 0 (k = 0 gives zeros), any alignment; no
// operand overlaps y.
//
// Order: a kernel has L lanes; lane l adds the products with p mod L = l in ascending p by fused
// multiply-add, starting from +0, and the lanes fold in halves (l + L/2, l + L/4, ...). So one
// output's bits depend on its own row of a, its own row of b and L alone: never on m, n, strides,
// blocking, or the storage type it was widened from. L is 4 on NEON, 8 on AVX2, 16 on AVX-512 and
// RVV; the reference adds p in order. Kernels on bf16 instructions have an order of their own
// (kOwnBits). Error bound: |y - exact| <= (k + 2) * kGemmUnit * sum |a[i][p] * b[j][p]|, away from
// underflow. Integer kernels wrap modulo 2^32 and are exact: i16 operands hold bytes (-128..127), a
// u8 operand holds its value plus 128. gemm_f32_bf16_bf16 flushes subnormal operands and sums.
#pragma once
#include <cstddef>

namespace tenon {

constexpr double kGemmUnit = 0x1p-24;

// Strides in bytes. The kernel's name says the types: output, a, b.
struct GemmArgs {
  size_t m, n, k;
  const void* a;
  ptrdiff_t a_row;
  const void* b;
  ptrdiff_t b_row;
  void* y;
  ptrdiff_t y_row, y_column;
};
using Gemm = void(const GemmArgs& args) noexcept;

}  // namespace tenon
