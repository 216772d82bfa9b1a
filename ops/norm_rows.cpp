// The gradients of the norms over threads. The weights' gradients are sums over rows: rows fall
// into chunks that depend on their number alone, each chunk's sum is its own row of a scratch
// matrix, and those rows are added in order. So the bits do not depend on the number of threads.
#include "ops/norm_rows.h"

namespace tenon::ops {
namespace {

constexpr int64_t kLeastRows = 16, kMostChunks = 32;
constexpr int64_t kFoldGrain = 1024;  // columns

constinit Slot<RowFold> fold_kernels[3] = {{kRowFold, "row_fold_f32_f32"},
                                           {kRowFold, "row_fold_bf16_f32"},
                                           {kRowFold, "row_fold_f16_f32"}};

void fold(int64_t chunks, int64_t n, const float* partial, const at::Tensor& y) {
  const Kernel<RowFold>& k = fold_kernels[float_type(y.scalar_type())].get();
  auto* to = mutable_data<char>(y);
  const int64_t size = y.element_size();
  parallel_for(n, kFoldGrain, [&](int64_t begin, int64_t end) {
    k.run(static_cast<size_t>(chunks), static_cast<size_t>(n), static_cast<size_t>(end - begin),
          partial + begin, to + begin * size);
  });
}

NormBackwardArgs rows_of(const NormBackwardArgs& all, int64_t begin, int64_t end, int64_t row_bytes,
                         int64_t stat_size) {
  const auto at = [&](const void* p, int64_t size) -> const void* {
    return p != nullptr ? static_cast<const char*>(p) + begin * size : nullptr;
  };
  NormBackwardArgs part = all;
  part.rows = static_cast<size_t>(end - begin);
  part.dy = at(all.dy, row_bytes);
  part.x = at(all.x, row_bytes);
  part.mean = at(all.mean, stat_size);
  part.rstd = at(all.rstd, stat_size);
  part.dx = const_cast<void*>(at(all.dx, row_bytes));
  return part;
}

}  // namespace

void run_norm_backward(const Kernel<NormBackward>& k, const NormShape& s,
                       const NormBackwardArgs& args, const NormSizes& sizes,
                       const NormGradients& out) {
  const bool weights = out.dgamma.defined() || out.dbeta.defined();
  const int64_t chunk = weights ? std::max(kLeastRows, (s.rows + kMostChunks - 1) / kMostChunks)
                                : std::max<int64_t>(1, kNormGrain / s.n);
  const int64_t chunks = (s.rows + chunk - 1) / chunk;
  const at::Tensor scratch = weights ? empty_cpu({2, chunks, s.n}, at::kFloat) : at::Tensor();
  float* gamma = out.dgamma.defined() ? mutable_data<float>(scratch) : nullptr;
  float* beta = out.dbeta.defined() ? mutable_data<float>(scratch) + chunks * s.n : nullptr;
  const auto row_of = [&](float* sums, int64_t c) -> float* {
    if (sums == nullptr) return nullptr;
    std::memset(sums + c * s.n, 0, static_cast<size_t>(s.n) * sizeof(float));
    return sums + c * s.n;
  };
  parallel_for(
      chunks, std::max<int64_t>(1, kNormGrain / (chunk * s.n)), [&](int64_t first, int64_t last) {
        for (int64_t c = first; c < last; ++c) {
          NormBackwardArgs part = rows_of(args, c * chunk, std::min(s.rows, (c + 1) * chunk),
                                          s.n * sizes.x, sizes.stat);
          part.dgamma = row_of(gamma, c);
          part.dbeta = row_of(beta, c);
          k.run(part);
        }
      });
  if (gamma != nullptr) fold(chunks, s.n, gamma, out.dgamma);
  if (beta != nullptr) fold(chunks, s.n, beta, out.dbeta);
}

}  // namespace tenon::ops
