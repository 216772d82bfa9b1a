// Matrix products on tiles: rates beside the machine's measured AMX peak. Operands lie as a linear
// layer has them (A m x k, the weight n x k), and each run takes the next of several weights, as
// many as are needed for the weight to come from memory ("/cold") or one ("/warm").
#include <benchmark/benchmark.h>

#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "bench/peaks.h"
#include "dispatch/tables.h"

namespace tenon {
namespace {

constexpr size_t kColdBytes = size_t{512} << 20;

struct Shape {
  size_t m, n, k;
};
constexpr Shape kF32Shapes[] = {{1024, 1024, 1024}, {512, 1536, 384}, {128, 4096, 4096}};
constexpr Shape kBf16Shapes[] = {{16, 4096, 4096}, {128, 4096, 4096}, {1024, 7168, 7168}};
constexpr Shape kInt8Shapes[] = {{1024, 1024, 1024}, {128, 4096, 4096}};

double peak(const std::string& name) {
  static const std::map<std::string, double> peaks = [] {
    std::map<std::string, double> all;
    for (const bench::Peak& p : bench::measure_peaks(1)) all[p.name] = p.value;
    return all;
  }();
  const auto found = peaks.find(name);
  return found != peaks.end() ? found->second : 0;
}

// Random numbers in (-1, 1), or random bytes.
std::vector<char> random_matrix(size_t count, size_t element) {
  std::vector<char> bytes(count * element);
  std::mt19937 rng(7);
  for (size_t i = 0; i < count; ++i) {
    const float x = static_cast<float>(static_cast<int32_t>(rng())) * 0x1p-31f;
    const bf16 narrow = to_bf16(x);
    const int8_t byte = static_cast<int8_t>(rng());
    const void* value = element == 4   ? static_cast<const void*>(&x)
                        : element == 2 ? static_cast<const void*>(&narrow)
                                       : &byte;
    std::memcpy(&bytes[i * element], value, element);
  }
  return bytes;
}

void run(benchmark::State& state, const Kernel<TileMm>& kernel, Shape s, size_t element,
         int products, bool weight_by_rows, bool cold) {
  const std::vector<char> a = random_matrix(s.m * s.k, element);
  const size_t one = s.n * s.k * element, copies = cold ? kColdBytes / one + 1 : 1;
  std::vector<char> b = random_matrix(s.n * s.k, element);
  b.resize(one * copies);
  for (size_t i = 1; i < copies; ++i) std::memcpy(&b[i * one], b.data(), one);
  std::vector<char> c(s.m * s.n * 4);
  std::vector<char> workspace(tile_mm_workspace(s.m, s.n, s.k, element) + 64);
  const ptrdiff_t size = static_cast<ptrdiff_t>(element);
  TileRange range;
  TileMmArgs args{};
  args.m = s.m, args.n = s.n, args.k = s.k;
  args.a = a.data(), args.a_row = static_cast<ptrdiff_t>(s.k) * size, args.a_col = size;
  args.b_row = weight_by_rows ? size : static_cast<ptrdiff_t>(s.n) * size;
  args.b_col = weight_by_rows ? static_cast<ptrdiff_t>(s.k) * size : size;
  args.c = c.data(), args.c_row = static_cast<ptrdiff_t>(s.n) * (element == 1 ? 4 : size);
  args.products = products, args.range = &range;
  args.workspace = reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(workspace.data()) + 63) &
                                           ~uintptr_t{63});
  size_t turn = 0;
  for (auto _ : state) {
    args.b = &b[turn++ % copies * one];
    kernel.run(args);
    benchmark::ClobberMemory();
  }
  const double operations = 2.0 * static_cast<double>(s.m * s.n) * static_cast<double>(s.k);
  const double top = peak(element == 1 ? "amx_int8" : "amx_bf16") / products;
  state.counters["op/s"] =
      benchmark::Counter(operations, benchmark::Counter::kIsIterationInvariantRate);
  if (top > 0)
    state.counters["of_peak"] =
        benchmark::Counter(operations / top, benchmark::Counter::kIsIterationInvariantRate);
}

void add(const Kernel<TileMm>& kernel, Shape s, size_t element, int products) {
  for (bool by_rows : {true, false})
    for (bool cold : {false, true}) {
      const std::string name = std::string(kernel.name) + "/" + std::to_string(s.m) + "x" +
                               std::to_string(s.n) + "x" + std::to_string(s.k) +
                               (element == 4 ? "/products:" + std::to_string(products) : "") +
                               (by_rows ? "/nk" : "/kn") + (cold ? "/cold" : "/warm");
      benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
        run(state, kernel, s, element, products, by_rows, cold);
      })->Unit(benchmark::kMicrosecond);
    }
}

[[maybe_unused]] const int registered = [] {
  for (const Kernel<TileMm>& k : kTileMm) {
    // The reference would take minutes.
    if (k.run == nullptr || k.need == kNone || !k.fits(host_cpu())) continue;
    const std::string_view op = k.op;
    if (op == "mm_f32")
      for (Shape s : kF32Shapes)
        for (int products : {6, 3, 1}) add(k, s, 4, products);
    if (op == "mm_bf16")
      for (Shape s : kBf16Shapes) add(k, s, 2, 1);
    if (op == "mm_i32_i8_i8")
      for (Shape s : kInt8Shapes) add(k, s, 1, 1);
  }
  return 0;
}();

}  // namespace
}  // namespace tenon
