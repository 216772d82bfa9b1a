// Matrix products whose right operand lies contiguous along its columns, for a few rows of a.
//
// Operation: y[i][j] = sum over p < k of a[i][p] * b[p][j]; i < m <= kGemmColumnsMost, j < n.
// b[p][j] lies at b + p * b_row + j elements; everything else as in isa/gemm.h, and y has the same
// bits as that kernel of the same ISA gives on b transposed.
#pragma once
#include "isa/gemm.h"

namespace tenon {

constexpr size_t kGemmColumnsMost = 8;

using GemmColumns = void(const GemmArgs& args) noexcept;

}  // namespace tenon
