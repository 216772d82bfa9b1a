// What an override costs where it hands the call back: exp of a 1-element f64 tensor, which the
// gate refuses by dtype, with the overrides in the dispatcher and without.
//
//   gate PLUGIN                  ns a call, medians of paired rounds, and a stock-against-stock
//   control gate PLUGIN --calls on|off N N calls and nothing else: two runs under callgrind with
//   different N
//                                give the instructions of one call
#include <ATen/core/grad_mode.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/ones.h>
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

using Enable = void(int);

double ns_per_call(const at::Tensor& x, int calls) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) at::exp(x);
  const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
  return spent.count() / calls;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// The median over rounds of (first - second), each measured once a round in alternating order.
double paired(const at::Tensor& x, Enable* enable, int first, int second) {
  constexpr int kRounds = 101, kCalls = 4000;
  std::vector<double> differences;
  for (int round = 0; round < kRounds; ++round) {
    double spent[2];
    for (int i = 0; i < 2; ++i) {
      const int which = (i + round) % 2;
      enable(which == 0 ? first : second);
      ns_per_call(x, kCalls / 10);
      spent[which] = ns_per_call(x, kCalls);
    }
    differences.push_back(spent[0] - spent[1]);
  }
  return median(differences);
}

}  // namespace

int main(int argc, char** argv) {
  void* plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
  auto* enable =
      plugin != nullptr ? reinterpret_cast<Enable*>(dlsym(plugin, "tenon_enable")) : nullptr;
  if (enable == nullptr) {
    std::fprintf(stderr, "gate: name the plugin as first argument: %s\n", dlerror());
    return 2;
  }
  const at::NoGradGuard no_grad;
  const at::Tensor x = at::ones({1}, at::kDouble);
  if (argc == 5 && std::strcmp(argv[2], "--calls") == 0) {
    enable(std::strcmp(argv[3], "on") == 0);
    for (int i = std::atoi(argv[4]); i > 0; --i) at::exp(x);
    return 0;
  }
  enable(0);
  std::printf("stock %.1f ns, gate %+.1f ns, control %+.1f ns\n", ns_per_call(x, 100000),
              paired(x, enable, 1, 0), paired(x, enable, 0, 0));
  return 0;
}
