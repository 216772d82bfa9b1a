// Matrix products on raw memory: which engine a machine uses for a shape, and the loops, packing
// and threads around its kernels.
//
// Operation: y[b][i][j] = round(alpha * sum over p of a[b][i][p] * b[b][p][j] + beta * c[b][i][j]).
// Sums are f32 (i32 for int8, which has no alpha, beta or c). One output's bits do not depend on m,
// n, the batch, strides or threads, as isa/gemm.h says for its kernels.
#pragma once
#include <cstddef>
#include <cstdint>

#include "isa/cpu.h"

namespace tenon {

enum class GemmType : uint8_t { kF32, kBf16, kF16, kI8 };
constexpr size_t gemm_size(GemmType t) {
  return t == GemmType::kF32 ? 4 : t == GemmType::kI8 ? 1 : 2;
}

// Strides in bytes. Element [i][j] lies at data + i * row + j * column.
struct GemmMatrix {
  const void* data;
  ptrdiff_t batch, row, column;
};

struct GemmProblem {
  GemmType type;
  int64_t batch, m, n, k;
  GemmMatrix a, b;  // m x k and k x n; any strides
  GemmMatrix c;     // m x n, or data null; strides of 0 repeat a row or a column
  void* y;          // m x n; overlaps nothing but an equal c
  ptrdiff_t y_batch, y_row, y_column;
  float alpha, beta;
  int products = 6;  // f32 on tiles: how many products of bf16 planes (isa/tile_mm.h)
};

enum class GemmEngine : uint8_t {
  kStock,  // nothing here beats the stock kernel
  kF32,    // f32 multiply-add kernels; operands are widened on the way
  kBf16,   // bf16 dot instructions
  kI16,    // int8 widened to i16: exact on any vector ISA
  kVnni,   // int8 by byte dot instructions
  kTiles,  // a tile unit (AMX): f32 by bf16 planes, bf16, int8
};

// What the choice depends on, apart from the machine. `packed`: the larger operand is not
// contiguous along k, and has to be brought into that form block by block.
struct GemmShape {
  GemmType type;
  int64_t batch, m, n, k;
  bool packed;
};

// A product that costs less than stock's way to its library: up to 4 rows on one side.
constexpr bool gemm_tiny(const GemmShape& s) {
  const int64_t most = s.k < 8 && (s.m == 1 || s.n == 1) ? 64 : 512;
  return s.batch == 1 && (s.m <= 4 || s.n <= 4) && s.m * s.n * s.k <= most;
}

// True where sums of k products are too short for every engine: what plan_gemm says, at the least
// cost.
constexpr bool gemm_too_short(const GemmShape& s) {
  return s.type == GemmType::kF32 && s.k < 8 && !gemm_tiny(s);
}

// The engine for a shape on a machine. Pure: tests ask it about machines they do not own. Every
// boundary between engines is a measured break-even, and stands here with its figures.
GemmEngine plan_gemm(const GemmShape& shape, const Cpu& cpu);

// plan_gemm on this host, without the kernels that TENON_DISABLE names.
GemmEngine choose_gemm(const GemmShape& shape);

// The name of the kernel that `engine` would run on this host.
const char* gemm_kernel_name(GemmEngine engine, GemmType type);

// Runs the problem. Every size is at least 1; engine is not kStock. y must be contiguous along rows
// or columns. Takes scratch memory from the C library and throws std::bad_alloc without it.
void run_gemm(GemmEngine engine, const GemmProblem& p);

}  // namespace tenon
