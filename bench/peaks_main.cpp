// peaks [THREADS]: this machine's measured peaks (bench/peaks.h) as one JSON object.
#include <cstdio>
#include <cstdlib>

#include "bench/peaks.h"

int main(int argc, char** argv) {
  char* end = nullptr;
  const long threads = argc > 1 ? std::strtol(argv[1], &end, 10) : 1;
  if (argc > 2 || (end != nullptr && *end != '\0') || threads < 1 || threads > 1024) {
    std::fprintf(stderr, "usage: peaks [THREADS]\n");
    return 2;
  }
  std::printf("{\"threads\": %ld", threads);
  for (const tenon::bench::Peak& p : tenon::bench::measure_peaks(static_cast<int>(threads)))
    std::printf(", \"%s\": %.4g", p.name.c_str(), p.value);
  std::printf("}\n");
  return 0;
}
