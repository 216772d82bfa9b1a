// Matrix products on the tile kernels of isa/tile_mm.h: which problems they take, how those are
// split over threads, and their workspaces.
#pragma once
#include "dispatch/gemm.h"
#include "isa/kernel.h"
#include "isa/tile_mm.h"

namespace tenon {

// This host's kernel for operands of `type`; its `need` is kNone where there are no tiles. There is
// none for f16.
const Kernel<TileMm>& tile_kernel(GemmType type);

// Whether the kernels can read and write the problem as it lies: operands and y contiguous along
// rows or columns, c along y's rows or repeated. An f32 problem may not have c in y's place, as y
// is void when run_tile_gemm gives up. Pure.
bool tile_gemm_takes(const GemmProblem& p);

// How a product is cut for threads: so many parts of m, so many of n, never of k. Pure.
struct TileParts {
  int64_t rows, columns;
};
TileParts tile_parts(int64_t m, int64_t n, int64_t k, int64_t threads);

// Runs a problem that tile_gemm_takes. `products`: of planes, for f32 (6, 3 or 1). False: operands
// out of range for f32 on tiles (infinities, NaN, ...); y is void and must be computed otherwise.
// The bits of y depend on neither threads nor batch. Throws std::bad_alloc.
bool run_tile_gemm(const Kernel<TileMm>& kernel, const GemmProblem& p, int products);

}  // namespace tenon
