// What this machine does at most, measured: the roof that kernels are compared with.
#pragma once
#include <string>
#include <vector>

namespace tenon::bench {

struct Peak {
  std::string name;
  double value;  // bytes or operations a second, all threads together
};

// Only instructions this CPU has are used, and peaks of others are left out. Takes about a second.
// Names: read_gbs and read_huge_gbs (memory out of cache, on ordinary and on huge pages), fma_f32,
// bf16_dot (vdpbf16ps), int8_dot (vpdpbusd), amx_bf16, amx_int8. A fused multiply-add is two
// operations.
std::vector<Peak> measure_peaks(int threads);

}  // namespace tenon::bench
