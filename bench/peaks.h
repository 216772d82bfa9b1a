// What this machine does at most, measured: the roof that kernels are compared with.
#pragma once
#include <string>
#include <vector>

namespace tenon::bench {

struct Peak {
  std::string name;  // a key of the JSON that the program `peaks` prints
  double value;      // bytes, floating-point or integer operations a second, all threads together
};

// Only instructions this CPU has are used, and peaks of others are left out. Takes about a second.
//   read_bytes_per_s, read_huge_bytes_per_s    memory out of cache, on ordinary and on huge pages
//   fma_f32_flop_per_s, bf16_dot_flop_per_s (vdpbf16ps), int8_dot_op_per_s (vpdpbusd),
//   amx_bf16_flop_per_s, amx_int8_op_per_s     a fused multiply-add counts as two operations
std::vector<Peak> measure_peaks(int threads);

}  // namespace tenon::bench
