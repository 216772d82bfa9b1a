// Softmax kernels and their gradients over the rows and columns of a matrix.
#include "isa/softmax.h"

#include <benchmark/benchmark.h>

#include <random>
#include <string_view>
#include <vector>

#include "dispatch/tables.h"

namespace tenon {
namespace {

size_t element_size(std::string_view op) { return op.ends_with("_f32") ? 4 : 2; }

// Random bits with a middling exponent in every float type.
std::vector<uint32_t> random_words(size_t n) {
  std::mt19937 rng(1);
  std::vector<uint32_t> words(n);
  for (uint32_t& w : words) w = (rng() & 0xbfffbfffu) | 0x30003000u;
  return words;
}

template <class Call>
void run(benchmark::State& state, std::string_view op, Call call) {
  const size_t rows = static_cast<size_t>(state.range(0));
  const size_t columns = static_cast<size_t>(state.range(1)), size = element_size(op);
  const std::vector<uint32_t> x = random_words((rows * columns * size + 3) / 4);
  std::vector<uint32_t> y(x.size());
  for (auto _ : state) {
    call(rows, columns, static_cast<ptrdiff_t>(columns * size), x.data(), y.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0) * state.range(1));
}

template <class Call>
void add(const char* name, Call call) {
  benchmark::RegisterBenchmark(name, call)->Args({1, 1000})->Args({64, 64})->Args({1024, 4096});
}

const int registered = [] {
  for (const Kernel<Softmax>& k : kSoftmax)
    if (k.run != nullptr && k.fits(host_cpu()))
      add(k.name, [&k](benchmark::State& s) { run(s, k.op, k.run); });
  for (const Kernel<SoftmaxBackward>& k : kSoftmaxBackward)
    if (k.run != nullptr && k.fits(host_cpu()))
      add(k.name, [&k](benchmark::State& s) {
        run(s, k.op, [&k](size_t rows, size_t columns, ptrdiff_t stride, const void* x, void* y) {
          k.run(rows, columns, stride, x, x, y);
        });
      });
  return 0;
}();

}  // namespace
}  // namespace tenon
