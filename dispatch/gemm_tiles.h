// Matrix products on a tile unit (AMX), over threads and batches.
#pragma once
#include "dispatch/gemm.h"
#include "isa/kernel.h"
#include "isa/tile_mm.h"

namespace tenon {

// Runs the problem, whose y has contiguous rows. False where the tiles do not take its strides, or
// where an f32 product turned out to be beyond what the split into bf16 planes can represent: y's
// content is then unspecified and another engine has to compute it. So an f32 y must not be c.
bool run_gemm_tiles(const GemmProblem& p);

const Kernel<TileMm>& gemm_tiles_kernel(GemmType type);

}  // namespace tenon
