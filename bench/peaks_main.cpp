// peaks [THREADS...]: this machine's measured peaks as JSON, for each number of threads (1 and 2
// unless given). "read_gbs" and "read_huge_gbs": GB/s of memory on ordinary and on huge pages.
// "gflops": the most a product of that storage type can do here, each by its best instruction; f32
// by multiply-adds or, six products to one, by AMX's bf16. "units": each instruction's own rate.
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "bench/peaks.h"

namespace {

using Rates = std::map<std::string, std::map<int, double>>;  // name, threads: G operations a second

std::string json(const Rates& rates) {
  std::string text;
  for (const auto& [name, by_threads] : rates) {
    std::string inner;
    for (const auto& [threads, rate] : by_threads)
      inner += fmt::format("{}\"{}\": {:.4g}", inner.empty() ? "" : ", ", threads, rate);
    text += fmt::format("{}\"{}\": {{{}}}", text.empty() ? "" : ", ", name, inner);
  }
  return text;
}

// What a product of each storage type can reach with these units.
std::map<std::string, double> best_rates(const std::map<std::string, double>& unit) {
  const auto rate = [&](const char* name) {
    const auto found = unit.find(name);
    return found != unit.end() ? found->second : 0.0;
  };
  const double fma = rate("fma_f32");
  return {{"f32", std::max(fma, rate("amx_bf16") / 6)},
          {"bf16", std::max({fma, rate("bf16_dot"), rate("amx_bf16")})},
          {"f16", fma},
          {"int8", std::max({fma, rate("int8_dot"), rate("amx_int8")})}};
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<int> threads;
  for (int i = 1; i < argc; ++i) {
    char* end = nullptr;
    const long t = std::strtol(argv[i], &end, 10);
    if (*end != '\0' || t < 1 || t > 1024) {
      fmt::print(stderr, "peaks: {}: a number of threads is from 1 to 1024\n", argv[i]);
      return 2;
    }
    threads.push_back(static_cast<int>(t));
  }
  if (threads.empty()) threads = {1, 2};
  Rates read, gflops, units;
  for (int t : threads) {
    std::map<std::string, double> unit;
    for (const tenon::bench::Peak& p : tenon::bench::measure_peaks(t)) {
      const bool memory = p.name.rfind("read", 0) == 0;
      (memory ? read : units)[p.name][t] = unit[p.name] = p.value / 1e9;
    }
    for (const auto& [type, rate] : best_rates(unit)) gflops[type][t] = rate;
  }
  fmt::print("{{{}, \"gflops\": {{{}}}, \"units\": {{{}}}}}\n", json(read), json(gflops),
             json(units));
  return 0;
}
