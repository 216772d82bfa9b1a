// Reduction kernels: a row in and out of cache, rows, columns.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "dispatch/tables.h"

namespace tenon {
namespace {

size_t element_size(const std::string& op) {
  const std::string type = op.substr(op.rfind('_') + 1);
  if (type == "b8" || type == "u8") return 1;
  return type == "f32" || type == "i32" ? 4 : 2;
}

// Random bits with a middling exponent in every float type, and any bytes for the integers.
std::vector<uint32_t> random_words(size_t n) {
  std::mt19937 rng(1);
  std::vector<uint32_t> words(n);
  for (uint32_t& w : words) w = (rng() & 0xbfffbfffu) | 0x30003000u;
  return words;
}

void run(benchmark::State& state, const Kernel<Reduce>& k) {
  const size_t outer = static_cast<size_t>(state.range(0)), n = static_cast<size_t>(state.range(1)),
               inner = static_cast<size_t>(state.range(2)), size = element_size(k.op);
  const std::vector<uint32_t> x = random_words((outer * n * inner * size + 3) / 4);
  std::vector<int64_t> y(outer * inner);
  const ReduceArgs args{outer,
                        n,
                        inner,
                        static_cast<ptrdiff_t>(n * inner * size),
                        static_cast<ptrdiff_t>(inner * size),
                        1.0f,
                        x.data(),
                        y.data()};
  for (auto _ : state) {
    k.run(args);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(outer * n * inner));
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(outer * n * inner * size));
}

const int registered = [] {
  for (const Kernel<Reduce>& k : kReduce)
    if (k.run != nullptr && k.fits(host_cpu()))
      benchmark::RegisterBenchmark(k.name, [&k](benchmark::State& s) { run(s, k); })
          ->Args({1, 1, 1})
          ->Args({1, 16, 1})
          ->Args({1, 1000, 1})
          ->Args({1, 1 << 16, 1})
          ->Args({64, 1 << 16, 1})
          ->Args({1000, 16, 1})
          ->Args({1024, 4096, 1})
          ->Args({1, 1024, 4096})
          ->Args({2, 1024, 1024})
          ->Args({1, 2, 1 << 20})
          ->Args({1000, 16, 64})
          ->Args({1, 10000, 4});
  return 0;
}();

}  // namespace
}  // namespace tenon
