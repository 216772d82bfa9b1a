// Kernels that move bytes: masked fill, copies of rows, gathers.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "dispatch/tables.h"

namespace tenon {
namespace {

std::vector<uint8_t> random_bytes(size_t n) {
  std::mt19937 rng(1);
  std::vector<uint8_t> bytes(n);
  for (uint8_t& b : bytes) b = static_cast<uint8_t>(rng());
  return bytes;
}

void fill(benchmark::State& state, const Kernel<MaskedFill>& k) {
  const size_t n = static_cast<size_t>(state.range(0));
  std::vector<uint8_t> mask = random_bytes(n), x = random_bytes(8 * n);
  for (uint8_t& m : mask) m &= 1;
  for (auto _ : state) {
    k.run(n, 0, mask.data(), x.data(), x.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void copy(benchmark::State& state, const Kernel<CopyRows>& k) {
  const size_t rows = static_cast<size_t>(state.range(0));
  const size_t bytes = static_cast<size_t>(state.range(1));
  const std::vector<uint8_t> x = random_bytes(rows * bytes);
  std::vector<uint8_t> y(2 * rows * bytes);
  for (auto _ : state) {
    k.run(rows, bytes, x.data(), state.range(1), y.data(), 2 * state.range(1));
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * state.range(1));
}

void gather(benchmark::State& state, const Kernel<Gather>& k) {
  const size_t rows = static_cast<size_t>(state.range(0));
  const size_t bytes = static_cast<size_t>(state.range(1)), table = 40000;
  const std::vector<uint8_t> x = random_bytes(table * bytes);
  std::mt19937 rng(2);
  std::vector<uint32_t> index(2 * rows);  // serves both types: int64 in the low halves
  const bool narrow = std::string(k.op) == "gather_b8_i32";
  for (size_t r = 0; r < rows; ++r) index[narrow ? r : 2 * r] = rng() % table;
  std::vector<uint8_t> y(rows * bytes);
  for (auto _ : state) {
    k.run(rows, bytes, index.data(), x.data(), state.range(1), y.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * state.range(1));
}

const int registered = [] {
  for (const Kernel<MaskedFill>& k : kMaskedFill)
    if (k.run != nullptr && k.fits(host_cpu()))
      benchmark::RegisterBenchmark(k.name, [&k](benchmark::State& s) { fill(s, k); })
          ->Arg(16)
          ->Arg(1000)
          ->Arg(1 << 22);
  for (const Kernel<CopyRows>& k : kCopyRows)
    if (k.run != nullptr && k.fits(host_cpu()))
      benchmark::RegisterBenchmark(k.name, [&k](benchmark::State& s) { copy(s, k); })
          ->Args({1, 4})
          ->Args({1000, 4})
          ->Args({1000, 128})
          ->Args({1000, 1000})
          ->Args({1000, 4096});
  for (const Kernel<Gather>& k : kGather)
    if (k.run != nullptr && k.fits(host_cpu()))
      benchmark::RegisterBenchmark(k.name, [&k](benchmark::State& s) { gather(s, k); })
          ->Args({1, 4})
          ->Args({1000, 4})
          ->Args({1000, 256})
          ->Args({1000, 2304});
  return 0;
}();

}  // namespace
}  // namespace tenon
