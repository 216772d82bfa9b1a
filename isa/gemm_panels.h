// Matrix products of packed operands: where both sides are long, vectors run along the columns of
// the result, and a panel of each operand lies in the order in which the kernel reads it.
//
// Operation: y[i][j] = sum over p < k of a[i][p] * b[p][j]; i < m <= kPanelsRows, j < n <=
// kPanelsColumns. y[i][j] lies at y + i * y_row + j elements and overlaps no operand. The order of
// the sum is that of isa/gemm.h: y has the same bits as that kernel of the same ISA gives.
//
// Panels: `width` rows of a (columns of b), `rows` or `columns` of the kernel's PanelShape; the
// last one is filled up with zeros. Within a panel stands one lane of the sum after another, L of
// them, PanelLayout::lane(k) elements apart; within a lane its steps p = l, l + L, l + 2L, ...,
// `width` elements each, zeros from k on. Panels lie PanelLayout::size(k) elements apart, aligned
// to 64 bytes.
#pragma once
#include <cstddef>
#include <cstdint>

#include "isa/cpu.h"
#include "isa/gemm.h"

namespace tenon {

constexpr size_t kPanelsRows = 48, kPanelsColumns = 96;

struct PanelShape {
  size_t lanes, rows, columns;
};

// The shape of a kernel of this family, from what its row needs. On AVX2 a tile of 6 x 2 vectors
// takes 12 registers as accumulators, 2 for b and 1 for a; AVX-512 has twice as many. RVV's panels
// are as wide on every machine, of which one may have cores of several VLENs. NEON: 8 x 3 vectors,
// so that 5 loads feed 24 multiply-adds.
constexpr PanelShape panel_shape(uint64_t need) {
  if ((need & kAvx512) != 0) return {16, 12, 32};
  if ((need & kRvv) != 0) return {16, 6, 64};
  if ((need & kNeon) != 0) return {4, 8, 12};
  return {(need & kAvx2) != 0 ? size_t{8} : size_t{1}, 6, 16};
}

struct PanelLayout {
  size_t lanes, width;

  constexpr size_t steps(size_t k) const { return (k + lanes - 1) / lanes; }
  // Whole cache lines, an odd number of them, so that lanes do not fall into one cache set.
  constexpr size_t lane(size_t k) const { return ((steps(k) * width + 15) / 16 | 1) * 16; }
  constexpr size_t size(size_t k) const { return lanes * lane(k); }
};

// Strides in bytes.
struct GemmPanelsArgs {
  size_t m, n, k;
  const float* a;
  const float* b;
  float* y;
  ptrdiff_t y_row;
};
using GemmPanels = void(const GemmPanelsArgs& args) noexcept;

}  // namespace tenon
