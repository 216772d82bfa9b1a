// layer_norm and rms_norm kernels and their gradients.
#include "isa/norm.h"

#include <benchmark/benchmark.h>

#include <random>
#include <string_view>
#include <vector>

#include "dispatch/tables.h"

namespace tenon {
namespace {

// Random bits with a middling exponent in every float type; f32's size is room enough for any.
std::vector<uint32_t> random_words(size_t n) {
  std::mt19937 rng(1);
  std::vector<uint32_t> words(n);
  for (uint32_t& w : words) w = (rng() & 0xbfffbfffu) | 0x30003000u;
  return words;
}

struct Operands {
  size_t rows, n;
  std::vector<uint32_t> x, y, gamma, beta, mean, rstd;

  explicit Operands(const benchmark::State& state)
      : rows(static_cast<size_t>(state.range(0))),
        n(static_cast<size_t>(state.range(1))),
        x(random_words(rows * n)),
        y(rows * n),
        gamma(random_words(n)),
        beta(random_words(n)),
        mean(random_words(rows)),
        rstd(random_words(rows)) {}
};

void run(benchmark::State& state, const Kernel<Norm>& k) {
  Operands o(state);
  const bool layer = std::string_view(k.op).starts_with("layer");
  const NormArgs args{o.rows,         o.n,
                      1e-5f,          o.x.data(),
                      o.gamma.data(), layer ? o.beta.data() : nullptr,
                      o.y.data(),     layer ? o.mean.data() : nullptr,
                      o.rstd.data()};
  for (auto _ : state) {
    k.run(args);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0) * state.range(1));
}

void run_backward(benchmark::State& state, const Kernel<NormBackward>& k) {
  Operands o(state);
  std::vector<float> dgamma(o.n), dbeta(o.n);
  const bool layer = std::string_view(k.op).starts_with("layer");
  const NormBackwardArgs args{o.rows,         o.n,
                              o.x.data(),     o.x.data(),
                              o.gamma.data(), layer ? o.mean.data() : nullptr,
                              o.rstd.data(),  o.y.data(),
                              dgamma.data(),  layer ? dbeta.data() : nullptr};
  for (auto _ : state) {
    k.run(args);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0) * state.range(1));
}

const int registered = [] {
  for (const Kernel<Norm>& k : kNorm)
    if (k.run != nullptr && k.fits(host_cpu()))
      benchmark::RegisterBenchmark(k.name, [&k](benchmark::State& s) { run(s, k); })
          ->Args({1000, 16})
          ->Args({1024, 384})
          ->Args({1024, 4096});
  for (const Kernel<NormBackward>& k : kNormBackward)
    if (k.run != nullptr && k.fits(host_cpu()))
      benchmark::RegisterBenchmark(k.name, [&k](benchmark::State& s) { run_backward(s, k); })
          ->Args({1000, 16})
          ->Args({1024, 384})
          ->Args({1024, 4096});
  return 0;
}();

}  // namespace
}  // namespace tenon
