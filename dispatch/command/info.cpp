// `tenon info`: what would run here.
#include "dispatch/command/info.h"

#include <fmt/core.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "dispatch/command/run.h"
#include "dispatch/env.h"
#include "dispatch/registry.h"

namespace tenon {
namespace {

// The line of /proc/cpuinfo that says most, by architecture.
std::string processor() {
  for (const char* key : {"model name", "uarch", "isa", "CPU part"}) {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
      if (line.rfind(key, 0) == 0) return line.substr(line.find(':') + 2);
  }
  return "unknown processor";
}

std::string feature_words(const Cpu& cpu) {
  std::string words;
  for (const FeatureName& f : kFeatureNames)
    if (cpu.has(f.bit)) words.append(" ").append(f.name);
  if (words.empty()) words = " baseline";
  return cpu.vlen != 0 ? fmt::format("{}, vectors of {} bits", words, cpu.vlen) : words;
}

// The first line that a Python prints about its torch; empty: it has none.
std::string torch_of(const std::string& python) {
  const std::string ask = "'" + python +
                          "' -c 'import torch, os; print(torch.__version__, \"in\", "
                          "os.path.dirname(torch.__file__))' 2>/dev/null";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(ask.c_str(), "r"), pclose);
  std::array<char, 4096> line{};
  if (!pipe || std::fgets(line.data(), line.size(), pipe.get()) == nullptr) return "";
  return line.data();
}

// The torch of the Python on PATH, or else of the environment that ci/run made beside this build.
std::string active_torch() {
  for (const std::string& python : {std::string("python3"), own_folder() + "/../venv/bin/python"})
    if (std::string torch = torch_of(python); !torch.empty()) return torch;
  return "none: the python3 on PATH has no torch\n";
}

void print_plugins() {
  for (const auto& entry : std::filesystem::directory_iterator(own_folder())) {
    const std::string name = entry.path().filename().string();
    if (name.rfind("libtenon_aten.", 0) == 0) fmt::print("plugin     {}\n", name);
  }
}

}  // namespace

int info() {
  if (!environment().error.empty()) {
    fmt::print(stderr, "tenon: {}\n", environment().error);
    return 2;
  }
  fmt::print("machine    {}\n", processor());
  fmt::print("hardware  {}\n", feature_words(detect_cpu()));
  if (detect_cpu().note != nullptr) fmt::print("           {}\n", detect_cpu().note);
  fmt::print("used      {}\n", feature_words(host_cpu()));
  fmt::print("torch      {}", active_torch());
  print_plugins();
  fmt::print("\n{:<34} kernel\n", "operation");
  for (const Choice& c : plan(host_cpu())) fmt::print("{:<34} {}\n", c.op, c.kernel);
  return 0;
}

}  // namespace tenon
