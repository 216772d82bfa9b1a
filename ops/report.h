// What was taken and what fell back, for people and for programs.
#pragma once
#include <string>

namespace tenon::ops {

// {"version", "isa", "operators": [{"schema", "state", "takes", "hits", "fallbacks": {reason: n},
// "kernels": [name]}]}
std::string report_json();

void reset_counters();

}  // namespace tenon::ops

// The C entry points that the Python package, the tests and the benches use.
extern "C" {
// The report as JSON; valid until the next call from any thread.
__attribute__((visibility("default"))) const char* tenon_report();
__attribute__((visibility("default"))) void tenon_reset();
// Takes the overrides out of the dispatcher (0) or puts them back (1). Not while operators run.
__attribute__((visibility("default"))) void tenon_enable(int enabled);
}
