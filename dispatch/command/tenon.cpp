// The command `tenon`: what would run here and why.
#include <fmt/core.h>

#include <CLI/CLI.hpp>

#include "dispatch/env.h"
#include "dispatch/registry.h"

namespace {

int print_plan(const std::string& machine) {
  for (const tenon::Machine& m : tenon::known_machines())
    if (machine == m.name) {
      fmt::print("{}", tenon::plan_text(m.cpu));
      return 0;
    }
  fmt::print(stderr, "tenon: --machine {}: known machines are", machine);
  for (const tenon::Machine& m : tenon::known_machines()) fmt::print(stderr, " {}", m.name);
  fmt::print(stderr, "\n");
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Tenon: CPU kernels that slot into PyTorch's dispatcher"};
  app.require_subcommand(1);
  std::string machine;
  CLI::App* plan = app.add_subcommand("plan", "Print which kernel a known machine runs per operation");
  plan->add_option("--machine", machine, "A machine of dispatch/plans")->required();
  CLI11_PARSE(app, argc, argv);
  if (plan->parsed()) return print_plan(machine);
  return 0;
}
