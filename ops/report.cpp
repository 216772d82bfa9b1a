// Counters as JSON; at exit to the file TENON_REPORT names, and as a table under TENON_VERBOSE=1.
#include "ops/report.h"

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "dispatch/env.h"
#include "ops/check.h"
#include "ops/register.h"

namespace tenon::ops {
namespace {

using nlohmann::json;

const char* state_name(State state) {
  switch (state) {
    case State::kRegistered:
      return "registered";
    case State::kAbsent:
      return "not in this torch";
    case State::kDisabled:
      return "disabled";
    case State::kMachine:
      return "stock is as good on this machine";
  }
  return "";
}

json kernels_of(const Override& o) {
  json names = json::array();
  for (const auto& kernel : o.kernels)
    if (const char* name = kernel.load()) names.push_back(name);
  return names;
}

json fallbacks_of(const Override& o) {
  json reasons = json::object();
  for (size_t i = 1; i < o.fallbacks.size(); ++i)
    if (const int64_t n = o.fallbacks[i].load()) reasons[reason_name(static_cast<Reason>(i))] = n;
  return reasons;
}

json describe(const Registration& r) {
  const Override& o = *r.override;
  return {{"schema", o.schema},    {"state", state_name(r.state)}, {"takes", o.accepts},
          {"hits", o.hits.load()}, {"kernels", kernels_of(o)},     {"fallbacks", fallbacks_of(o)}};
}

std::string features() {
  std::string words;
  for (const FeatureName& f : kFeatureNames)
    if (host_cpu().has(f.bit)) words.append(words.empty() ? "" : ",").append(f.name);
  return words.empty() ? "baseline" : words;
}

bool used(const Override& o) {
  int64_t calls = o.hits.load();
  for (const auto& n : o.fallbacks) calls += n.load();
  return calls > 0;
}

void print_table() {
  std::fprintf(stderr, "tenon: %-44s %10s %10s  reasons; kernels\n", "operator", "hits", "stock");
  for (const Registration& r : registrations()) {
    if (!used(*r.override)) continue;
    int64_t stock = 0;
    for (const auto& n : r.override->fallbacks) stock += n.load();
    std::fprintf(stderr, "tenon: %-44s %10lld %10lld  %s; %s\n", r.override->schema,
                 static_cast<long long>(r.override->hits.load()), static_cast<long long>(stock),
                 fallbacks_of(*r.override).dump().c_str(), kernels_of(*r.override).dump().c_str());
  }
}

void write_report(const char* path) {
  std::FILE* file = std::fopen(path, "w");
  if (file == nullptr) {
    std::fprintf(stderr, "tenon: TENON_REPORT=%s: cannot be written\n", path);
    return;
  }
  const std::string text = report_json();
  std::fwrite(text.data(), 1, text.size(), file);
  std::fclose(file);
}

__attribute__((destructor)) void at_exit() {
  if (!active()) return;
  if (const char* path = std::getenv("TENON_REPORT"); path != nullptr && *path) write_report(path);
  if (environment().verbose) print_table();
  if (environment().check) print_check();
}

}  // namespace

std::string report_json() {
  json operators = json::array();
  for (const Registration& r : registrations()) operators.push_back(describe(r));
  return json{{"isa", features()}, {"operators", operators}}.dump(1);
}

void reset_counters() {
  for (const Registration& r : registrations()) {
    r.override->hits = 0;
    for (auto& n : r.override->fallbacks) n = 0;
    for (auto& k : r.override->kernels) k = nullptr;
  }
}

}  // namespace tenon::ops

extern "C" {

const char* tenon_report() {
  thread_local std::string text;  // until the thread asks again
  text = tenon::ops::report_json();
  return text.c_str();
}

void tenon_reset() { tenon::ops::reset_counters(); }

void tenon_enable(int enabled) { tenon::ops::set_enabled(enabled != 0); }
}
