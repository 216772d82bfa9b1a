// Which engine runs a matrix product. Boundaries are measured break-evens against the stock kernel.
#include "dispatch/gemm.h"

namespace tenon {

GemmShape shape_of(const GemmProblem& p) {
  const auto size = static_cast<ptrdiff_t>(gemm_size(p.type));
  const ptrdiff_t along_k = p.m > p.n ? p.a.column : p.b.row;
  return {p.type, p.batch, p.m, p.n, p.k, along_k != size};
}

GemmEngine plan_gemm(const GemmShape& shape, const Cpu& cpu) {
  if (shape.type == GemmType::kI8) return GemmEngine::kStock;
  if (!cpu.has(kAvx2)) return GemmEngine::kStock;
  return GemmEngine::kF32;
}

}  // namespace tenon
