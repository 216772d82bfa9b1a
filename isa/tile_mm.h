// Matrix products on a tile unit (AMX), a block of the result at a time.
//
// Operation: C = alpha * A B + beta * D, with A m x k, B k x n, C and D m x n.
//   mm_f32         f32 operands and result. AMX has no f32 product: each operand is split into
//   three
//                  bf16 planes, x = x0 + x1 + x2, and `products` of the nine products of planes are
//                  added in f32: 6 (all above 2^-24 of |a||b|), 3 ("the sum of two bfloat16") or
//                  1 (bfloat16).
//   mm_bf16        bf16 operands, sums in f32, one rounding to the bf16 result.
//   mm_i32_i8_i8   i8 operands, i32 sums that wrap. alpha, beta and d are ignored.
//
// Preconditions: tile_mm_takes(args, size of A's element). C overlaps nothing; D may be null.
// The workspace holds tile_mm_workspace() bytes, 64-byte aligned; nothing in it outlives the call.
// Callers that call often keep it per thread.
//
// Threads split m and n, never k: the bits of C[i][j] depend on row i of A, column j of B, D[i][j]
// and k alone. The tile configuration is set and released inside.
//
// mm_f32 raises range.a and range.b to the bits of the largest |x| it met. Once every block of a
// product is done, and the ranges of its blocks are joined by max, C is valid if
// tile_mm_f32_in_range(); otherwise (infinities, NaN, sums that might overflow, operands that lose
// low planes to underflow) C's content is unspecified and the caller computes it another way.
//
// Error bound of mm_f32, s = sum over p of |A[i][p]| |B[p][j]|:
//   |error| <= tile_mm_f32_error(k, products) * s + k * 2^-126 * max(|A|, |B|, 1)
// Operands that are integers of up to 16 bits give exact sums (6 products) below 2^24.
// Error bound of mm_bf16: tile_mm_bf16_error(k) * s, and half a unit of bf16 in the result.
#pragma once
#include <cstddef>
#include <cstdint>

#include "isa/types.h"

namespace tenon {

struct TileRange {
  uint32_t a = 0, b = 0;  // bits of |x| as f32: they order as the numbers do
};

// Strides are bytes: A[i][p] lies at a + i * a_row + p * a_col, and so on. C's rows are contiguous.
struct TileMmArgs {
  size_t m, n, k;
  const void* a;
  ptrdiff_t a_row, a_col;
  const void* b;
  ptrdiff_t b_row, b_col;
  void* c;
  ptrdiff_t c_row;
  const void* d =
      nullptr;  // of C's type; a stride of 0 repeats a row or a column, d_col is 0 or a size
  ptrdiff_t d_row = 0, d_col = 0;
  float alpha = 1, beta = 1;
  int products = 6;
  void* workspace = nullptr;
  TileRange* range = nullptr;  // mm_f32 only, never null there
};

using TileMm = void(const TileMmArgs& args) noexcept;

// Each operand is contiguous along its rows or along its columns.
TENON_INLINE bool tile_mm_takes(const TileMmArgs& args, size_t element) {
  const ptrdiff_t size = static_cast<ptrdiff_t>(element);
  return (args.a_row == size || args.a_col == size) && (args.b_row == size || args.b_col == size);
}

// Blocks of mm_f32: B's planes (k_block x n_block) stay in L2 beside a panel of A's.
constexpr size_t kTileF32M = 1024, kTileF32N = 256, kTileF32K = 384;
// Blocks of the other two: k_block in bytes, columns of the packed operand, rows of the streamed
// one.
constexpr size_t kTileCols = 512, kTileRows = 256, kTileKBytes = 1024;

constexpr size_t tile_round_up(size_t x, size_t unit) { return (x + unit - 1) / unit * unit; }
constexpr size_t tile_least(size_t x, size_t y) { return x < y ? x : y; }

// Bytes of workspace for a product of m x n x k; `element` is the size of A's element: 4, 2 or 1.
constexpr size_t tile_mm_workspace(size_t m, size_t n, size_t k, size_t element) {
  constexpr size_t kScratch = 4 * 4096;
  if (element == 4) {
    const size_t rows =
        tile_round_up(tile_least(m, kTileF32M), 32) + tile_round_up(tile_least(n, kTileF32N), 32);
    return kScratch + rows * tile_round_up(tile_least(k + 1, kTileF32K), 32) * 6;
  }
  const size_t larger = m > n ? m : n;
  const size_t cols = tile_round_up(tile_least(larger, kTileCols), 32);
  const size_t rows = tile_round_up(tile_least(larger, kTileRows), 32);
  return kScratch + cols * tile_round_up(k * element + 1, 64) + cols * rows * 4 + 32 * kTileKBytes;
}

// The first plane of these magnitudes is no longer finite.
constexpr uint32_t kRoundsToInfinity = 0x7f7f8000u;

// Whether an mm_f32 whose operands have these largest magnitudes is as exact as the contract says.
TENON_INLINE bool tile_mm_f32_in_range(TileRange range, size_t k) {
  constexpr float kSmallest = 0x1p-60f;
  if (range.a >= kRoundsToInfinity || range.b >= kRoundsToInfinity) return false;
  const float a = float_of(range.a), b = float_of(range.b);
  if ((range.a != 0 && a < kSmallest) || (range.b != 0 && b < kSmallest)) return false;
  return static_cast<double>(a) * b * static_cast<double>(k) < 0x1p127;
}

// Roundings a term meets: 16 in a tile product's chain and 2 after it, `products` per 32 terms in
// the accumulator, one per block of k, 3 in alpha and beta. Then what the products left out.
constexpr double tile_mm_f32_error(size_t k, int products) {
  const double steps = static_cast<double>(tile_least(k, kTileF32K) / 32 + 1);
  const double blocks = static_cast<double>(k / kTileF32K + 1);
  const double dropped = products == 6 ? 0x1p-24 : products == 3 ? 0x1p-15 : 0x1.01p-7;
  return 1.01 * (0x1p-24 * (21 + products * steps + blocks) + dropped);
}
constexpr double tile_mm_bf16_error(size_t k) {
  return 1.01 * 0x1p-24 * (21 + static_cast<double>(k / 32 + 1));
}

}  // namespace tenon
