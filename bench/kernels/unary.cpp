// Unary element-wise kernels in and out of cache.
#include <benchmark/benchmark.h>

#include <vector>

#include "dispatch/tables.h"

namespace tenon {
namespace {

void run(benchmark::State& state, const Kernel<Unary>& k) {
  const size_t n = static_cast<size_t>(state.range(0));
  std::vector<float> x(n, 0.5f), y(n);
  for (auto _ : state) {
    k.run(n, x.data(), y.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

const int registered = [] {
  for (const Kernel<Unary>& k : kUnary)
    if (k.run != nullptr && k.fits(host_cpu()))
      benchmark::RegisterBenchmark(k.name, [&k](benchmark::State& s) { run(s, k); })
          ->Arg(1000)
          ->Arg(1 << 20);
  return 0;
}();

}  // namespace
}  // namespace tenon
