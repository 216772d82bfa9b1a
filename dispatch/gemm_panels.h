// Matrix products with both sides long, on packed panels (isa/gemm_panels.h).
#pragma once
#include "dispatch/gemm.h"

namespace tenon {

// True where panels are faster than the dot form and give its bits. dot_need: what the dot form's
// kernel needs, which says how many lanes its sums have.
bool panels_take(const GemmProblem& p, uint64_t dot_need);

// Runs an f32, bf16 or f16 problem whose y has contiguous rows.
void run_gemm_panels(const GemmProblem& p);

}  // namespace tenon
