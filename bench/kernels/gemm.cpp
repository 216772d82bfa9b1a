// The kernels of matrix products: products in dot form, by columns and on panels, packing, endings,
// and inner products. Operands lie in L2 or close by; bench/ops has what comes from memory.
#include <benchmark/benchmark.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "dispatch/tables.h"

namespace tenon {
namespace {

// The buffers of "gemm_f32_f32_bf16" by size: 4, 4, 2.
std::vector<size_t> sizes_of(std::string_view op) {
  std::vector<size_t> sizes;
  for (size_t at = 0; at < op.size();) {
    const size_t end = op.find('_', at) == op.npos ? op.size() : op.find('_', at);
    const std::string_view word = op.substr(at, end - at);
    if (word == "f32" || word == "i32") sizes.push_back(4);
    if (word == "bf16" || word == "f16" || word == "i16") sizes.push_back(2);
    if (word == "i8" || word == "u8") sizes.push_back(1);
    at = end + 1;
  }
  return sizes;
}

// Random numbers whose bits are finite and neither tiny nor huge in every type: exponents near 0.
struct Memory {
  std::vector<uint64_t> words;

  explicit Memory(size_t bytes) : words(bytes / 8 + 8) {
    std::mt19937_64 rng(bytes);
    for (uint64_t& w : words) w = (rng() & 0x83ff83ff83ff83ffu) | 0x3c003c003c003c00u;
  }
  void* get() {  // aligned to a cache line
    const auto at = reinterpret_cast<uintptr_t>(words.data());
    return reinterpret_cast<void*>((at + 63) & ~uintptr_t{63});
  }
};

void rate(benchmark::State& state, const char* what, double each) {
  state.counters[what] = benchmark::Counter(each, benchmark::Counter::kIsIterationInvariantRate);
}

ptrdiff_t bytes(size_t count, size_t size) { return static_cast<ptrdiff_t>(count * size); }

template <class Fn>
void multiply(benchmark::State& state, const Kernel<Fn>& kernel, bool columns) {
  const auto m = static_cast<size_t>(state.range(0)), n = static_cast<size_t>(state.range(1));
  const auto k = static_cast<size_t>(state.range(2));
  const std::vector<size_t> size = sizes_of(kernel.op);
  Memory y(m * n * size[0]), a(m * k * size[1]), b(n * k * size[2]);
  const GemmArgs args{m,
                      n,
                      k,
                      a.get(),
                      bytes(k, size[1]),
                      b.get(),
                      bytes(columns ? n : k, size[2]),
                      y.get(),
                      bytes(n, size[0]),
                      bytes(1, size[0])};
  for (auto _ : state) {
    kernel.run(args);
    benchmark::ClobberMemory();
  }
  rate(state, "op/s", 2.0 * static_cast<double>(m * n) * static_cast<double>(k));
}

void multiply_panels(benchmark::State& state, const Kernel<GemmPanels>& kernel) {
  const size_t m = kPanelsRows, n = kPanelsColumns, k = static_cast<size_t>(state.range(0));
  const PanelShape shape = panel_shape(kernel.need);
  const PanelLayout a{shape.lanes, shape.rows}, b{shape.lanes, shape.columns};
  Memory y(m * n * 4), left(m / a.width * a.size(k) * 4), right(n / b.width * b.size(k) * 4);
  const GemmPanelsArgs args{m,
                            n,
                            k,
                            static_cast<float*>(left.get()),
                            static_cast<float*>(right.get()),
                            static_cast<float*>(y.get()),
                            bytes(n, 4)};
  for (auto _ : state) {
    kernel.run(args);
    benchmark::ClobberMemory();
  }
  rate(state, "op/s", 2.0 * static_cast<double>(m * n) * static_cast<double>(k));
}

constexpr size_t kPackRows = 96, kPackDepth = 1024;

void pack(benchmark::State& state, const Kernel<GemmPack>& kernel) {
  const bool by_rows = state.range(0) == 0;
  const std::vector<size_t> size = sizes_of(kernel.op);
  Memory x(kPackRows * kPackDepth * size[1]), y(kPackRows * kPackDepth * size[0]);
  const GemmPackArgs args{kPackRows,
                          kPackDepth,
                          x.get(),
                          bytes(by_rows ? kPackDepth : 1, size[1]),
                          bytes(by_rows ? 1 : kPackRows, size[1]),
                          y.get(),
                          bytes(kPackDepth, size[0])};
  for (auto _ : state) {
    kernel.run(args);
    benchmark::ClobberMemory();
  }
  rate(state, "elements/s", static_cast<double>(kPackRows * kPackDepth));
}

void pack_panels(benchmark::State& state, const Kernel<GemmPanelPack>& kernel) {
  const bool by_rows = state.range(0) == 0;
  const size_t size = sizes_of(kernel.op)[1];
  const PanelShape shape = panel_shape(kernel.need);
  const PanelLayout layout{shape.lanes, state.range(1) == 0 ? shape.rows : shape.columns};
  Memory x(kPackRows * kPackDepth * size);
  Memory y(kPackRows / layout.width * layout.size(kPackDepth) * 4);
  const GemmPanelPackArgs args{kPackRows,
                               kPackDepth,
                               x.get(),
                               bytes(by_rows ? kPackDepth : 1, size),
                               bytes(by_rows ? 1 : kPackRows, size),
                               layout,
                               static_cast<float*>(y.get())};
  for (auto _ : state) {
    kernel.run(args);
    benchmark::ClobberMemory();
  }
  rate(state, "elements/s", static_cast<double>(kPackRows * kPackDepth));
}

void end(benchmark::State& state, const Kernel<GemmEnd>& kernel) {
  const auto n = static_cast<size_t>(state.range(0));
  const size_t size = sizes_of(kernel.op)[0];
  Memory x(n * 4), c(n * size), y(n * size);
  for (auto _ : state) {
    kernel.run({n, 0.75f, 1.0f, static_cast<float*>(x.get()), c.get(), 1, y.get()});
    benchmark::ClobberMemory();
  }
  rate(state, "elements/s", static_cast<double>(n));
}

void dot(benchmark::State& state, const Kernel<Dot>& kernel) {
  const auto n = static_cast<size_t>(state.range(0));
  const size_t size = sizes_of(kernel.op)[0];
  Memory x(n * size), y(n * size);
  for (auto _ : state) benchmark::DoNotOptimize(kernel.run(n, x.get(), y.get()));
  rate(state, "bytes/s", 2.0 * static_cast<double>(n * size));
}

// f(row, its benchmark) for every row of a table that this machine can run.
template <class Fn, class Run, class Sizes>
void add(Table<Fn> table, Run run, Sizes sizes) {
  for (const Kernel<Fn>& k : table)
    if (k.run != nullptr && k.fits(host_cpu()))
      sizes(benchmark::RegisterBenchmark(k.name, [&k, run](benchmark::State& s) { run(s, k); }));
}

[[maybe_unused]] const int registered = [] {
  const auto products = [](benchmark::internal::Benchmark* b) {
    b->Args({1, 96, 1024})->Args({4, 96, 1024})->Args({48, 96, 128})->Args({48, 96, 1024});
  };
  const auto few = [](benchmark::internal::Benchmark* b) {
    b->Args({1, 96, 1024})->Args({4, 96, 1024})->Args({8, 96, 1024});
  };
  const auto layouts = [](benchmark::internal::Benchmark* b) { b->Arg(0)->Arg(1); };
  add(kGemm, [](auto& s, const auto& k) { multiply(s, k, false); }, products);
  add(kGemmColumns, [](auto& s, const auto& k) { multiply(s, k, true); }, few);
  add(kGemmPanels, multiply_panels, [](auto* b) { b->Arg(128)->Arg(1024)->Arg(4096); });
  add(kGemmPack, pack, layouts);
  add(kGemmPanelPack, pack_panels, [](auto* b) { b->ArgsProduct({{0, 1}, {0, 1}}); });
  add(kGemmEnd, end, [](auto* b) { b->Arg(96)->Arg(4608); });
  add(kDot, dot, [](auto* b) { b->Arg(16)->Arg(1000)->Arg(1 << 20); });
  return 0;
}();

}  // namespace
}  // namespace tenon
