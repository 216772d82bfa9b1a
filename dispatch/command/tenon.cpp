// The command `tenon`: runs programs on Tenon's kernels, and says what would run where.
#include <fmt/core.h>

#include <CLI/CLI.hpp>

#include "dispatch/command/info.h"
#include "dispatch/command/run.h"
#include "dispatch/env.h"
#include "dispatch/registry.h"

namespace {

int print_plan(const std::string& machine) {
  if (machine.empty()) {
    fmt::print("{}", tenon::plan_text(tenon::host_cpu()));
    return 0;
  }
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
  std::vector<std::string> command;
  CLI::App* run = app.add_subcommand("run", "Run a program with Tenon preloaded");
  run->prefix_command();
  app.add_subcommand("info", "Print the machine, its torch, and the kernel of each operation");
  std::string machine;
  CLI::App* plan = app.add_subcommand("plan", "Print what a machine runs per operation");
  plan->add_option("--machine", machine, "A machine of dispatch/plans; this one by default");
  CLI11_PARSE(app, argc, argv);
  if (run->parsed()) {
    command = run->remaining();
    if (!command.empty()) return tenon::run(command);
    fmt::print(stderr, "tenon: run: name a program\n");
    return 2;
  }
  return plan->parsed() ? print_plan(machine) : tenon::info();
}
