// What an override costs where it hands the call back: 1-element tensors that the gate refuses,
// with the overrides in the dispatcher and without.
//
//   gate PLUGIN                    each case: ns a call, medians of paired rounds, and a
//                                  stock-against-stock control
//   gate PLUGIN --calls CASE on|off N
//                                  N calls and nothing else: two runs under callgrind with
//                                  different N give the instructions of one call
#include <ATen/core/grad_mode.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/dot.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/mv.h>
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

struct Operands {
  at::Tensor vector, matrix, batch;
};

// Tensors with `side` elements along each dimension.
struct Case {
  const char* name;
  at::ScalarType type;
  int64_t side;
  at::Tensor (*call)(const Operands& x);
};
at::Tensor mm(const Operands& x) { return at::mm(x.matrix, x.matrix); }
at::Tensor addmm(const Operands& x) { return at::addmm(x.vector, x.matrix, x.matrix); }
at::Tensor bmm(const Operands& x) { return at::bmm(x.batch, x.batch); }
at::Tensor mv(const Operands& x) { return at::mv(x.matrix, x.vector); }
at::Tensor linear(const Operands& x) { return at::linear(x.matrix, x.matrix); }
at::Tensor dot(const Operands& x) { return at::dot(x.vector, x.vector); }

constexpr Case kCases[] = {
    // Refused: by dtype where f64 is said, else by size.
    {"exp_f64", at::kDouble, 1, [](const Operands& x) { return at::exp(x.vector); }},
    {"mm_f64", at::kDouble, 1, mm},
    {"mv_f64", at::kDouble, 1, mv},
    {"dot_f64", at::kDouble, 1, dot},
    {"mm_5", at::kFloat, 5, mm},
    {"addmm_5", at::kFloat, 5, addmm},
    {"bmm_2", at::kFloat, 2, bmm},
    {"linear_5", at::kFloat, 5, linear},
    // Taken.
    {"mm", at::kFloat, 1, mm},
    {"mm_2", at::kFloat, 2, mm},
    {"mm_4", at::kFloat, 4, mm},
    {"addmm_2", at::kFloat, 2, addmm},
    {"addmm", at::kFloat, 1, addmm},
    {"mv", at::kFloat, 1, mv},
    {"linear", at::kFloat, 1, linear},
    {"dot", at::kFloat, 1, dot},
};

Operands operands(const Case& c) {
  const int64_t n = c.side;
  return {at::ones({n}, c.type), at::ones({n, n}, c.type), at::ones({n, n, n}, c.type)};
}

double ns_per_call(const Case& c, const Operands& x, int calls) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) c.call(x);
  const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
  return spent.count() / calls;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// The median over rounds of (first - second), each measured once a round in alternating order.
double paired(const Case& c, const Operands& x, Enable* enable, int first, int second) {
  constexpr int kRounds = 201, kCalls = 1000;
  std::vector<double> differences;
  for (int round = 0; round < kRounds; ++round) {
    double spent[2];
    for (int i = 0; i < 2; ++i) {
      const int which = (i + round) % 2;
      enable(which == 0 ? first : second);
      ns_per_call(c, x, kCalls / 10);
      spent[which] = ns_per_call(c, x, kCalls);
    }
    differences.push_back(spent[0] - spent[1]);
  }
  return median(differences);
}

int calls(Enable* enable, const char* name, bool on, int n) {
  enable(on);
  for (const Case& c : kCases) {
    if (std::strcmp(c.name, name) != 0) continue;
    const Operands x = operands(c);
    for (int i = 0; i < n; ++i) c.call(x);
    return 0;
  }
  std::fprintf(stderr, "gate: there is no case %s\n", name);
  return 2;
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
  if (argc == 6 && std::strcmp(argv[2], "--calls") == 0)
    return calls(enable, argv[3], std::strcmp(argv[4], "on") == 0, std::atoi(argv[5]));
  for (const Case& c : kCases) {
    const Operands x = operands(c);
    enable(0);
    const double stock = ns_per_call(c, x, 20000);
    std::printf("%-12s stock %6.1f ns, gate %+6.1f ns, control %+6.1f ns\n", c.name, stock,
                paired(c, x, enable, 1, 0), paired(c, x, enable, 0, 0));
  }
  return 0;
}
