// The end of a matrix product, whatever kernel computed it.
#include "dispatch/gemm_parts.h"

#include "dispatch/tables.h"

namespace tenon {
namespace {

Slot<GemmEnd> ends[] = {
    {kGemmEnd, "gemm_end_f32"}, {kGemmEnd, "gemm_end_bf16"}, {kGemmEnd, "gemm_end_f16"}};

}  // namespace

bool plain_end(const GemmProblem& p) {
  return p.type == GemmType::kI8 ||
         (p.type == GemmType::kF32 && p.alpha == 1 && p.c.data == nullptr);
}

void finish(const GemmProblem& p, int64_t b, int64_t i, int64_t j, int64_t m, int64_t n,
            const float* tile) {
  const auto size = static_cast<ptrdiff_t>(gemm_size(p.type));
  const Kernel<GemmEnd>& end = ends[static_cast<size_t>(p.type)].get();
  const char* c = static_cast<const char*>(p.c.data);
  if (c != nullptr) c += b * p.c.batch + i * p.c.row + j * p.c.column;
  char* y = static_cast<char*>(p.y) + b * p.y_batch + i * p.y_row + j * p.y_column;
  if (c != nullptr && p.c.column != size &&
      p.c.column != 0) {  // c transposed: an element at a time
    for (int64_t r = 0; r < m; ++r)
      for (int64_t q = 0; q < n; ++q)
        end.run({1, p.alpha, p.beta, tile + r * n + q, c + r * p.c.row + q * p.c.column, 0,
                 y + r * p.y_row + q * size});
    return;
  }
  const bool one_run =
      p.y_row == n * size && (c == nullptr || (p.c.row == n * size && p.c.column == size));
  const size_t step = p.c.column != 0;
  if (one_run || m == 1)
    return end.run({static_cast<size_t>(m * n), p.alpha, p.beta, tile, c, step, y});
  for (int64_t r = 0; r < m; ++r)
    end.run({static_cast<size_t>(n), p.alpha, p.beta, tile + r * n,
             c == nullptr ? nullptr : c + r * p.c.row, step, y + r * p.y_row});
}

}  // namespace tenon
