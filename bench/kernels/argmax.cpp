// Argmax kernels: a row in and out of cache, rows, columns.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "dispatch/tables.h"

namespace tenon {
namespace {

void run(benchmark::State& state, const Kernel<Argmax>& k) {
  const size_t outer = static_cast<size_t>(state.range(0)), n = static_cast<size_t>(state.range(1)),
               inner = static_cast<size_t>(state.range(2));
  const size_t size = std::string(k.op) == "argmax_i64_f32" ? 4 : 2;
  std::mt19937 rng(1);
  std::vector<uint32_t> x((outer * n * inner * size + 3) / 4);
  for (uint32_t& w : x) w = (rng() & 0xbfffbfffu) | 0x30003000u;
  std::vector<int64_t> index(outer * inner);
  const ArgmaxArgs args{outer,
                        n,
                        inner,
                        static_cast<ptrdiff_t>(n * inner * size),
                        static_cast<ptrdiff_t>(inner * size),
                        x.data(),
                        nullptr,
                        index.data()};
  for (auto _ : state) {
    k.run(args);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(outer * n * inner));
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(outer * n * inner * size));
}

const int registered = [] {
  for (const Kernel<Argmax>& k : kArgmax)
    if (k.run != nullptr && k.fits(host_cpu()))
      benchmark::RegisterBenchmark(k.name, [&k](benchmark::State& s) { run(s, k); })
          ->Args({1, 16, 1})
          ->Args({1, 1000, 1})
          ->Args({1024, 4096, 1})
          ->Args({1, 1024, 4096})
          ->Args({1, 2, 1 << 20})
          ->Args({1000, 16, 64});
  return 0;
}();

}  // namespace
}  // namespace tenon
