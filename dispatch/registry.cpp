// Walks every kernel table once and keeps the names.
#include "dispatch/registry.h"

#include "dispatch/tables.h"

namespace tenon {
namespace {

template <class Fn>
void append(std::vector<Row>& rows, Table<Fn> table) {
  for (const Kernel<Fn>& k : table)
    rows.push_back({k.op, k.name, k.need, k.min_vlen, k.run != nullptr});
}

bool fits(const Row& row, const Cpu& cpu) { return cpu.has(row.need) && cpu.vlen >= row.min_vlen; }

}  // namespace

const std::vector<Row>& all_rows() {
  static const std::vector<Row> rows = [] {
    std::vector<Row> all;
#define FAMILY(table, Fn, constant) append<Fn>(all, constant);
#include "dispatch/families.inc"
#undef FAMILY
    return all;
  }();
  return rows;
}

std::vector<Choice> plan(const Cpu& cpu) {
  std::vector<Choice> choices;
  for (const Row& row : all_rows()) {
    const bool chosen = !choices.empty() && choices.back().op == row.op;
    if (!chosen && fits(row, cpu)) choices.push_back({row.op, row.name});
  }
  return choices;
}

std::string plan_text(const Cpu& cpu) {
  std::string text;
  for (const Choice& c : plan(cpu)) text.append(c.op).append(" ").append(c.kernel).append("\n");
  return text;
}

namespace {

std::vector<Machine> x86_machines() {
  constexpr uint64_t kSkylake = kOwnBits | kAvx2 | kAvx512;
  constexpr uint64_t kIceLake = kSkylake | kAvx512Vnni | kAvx512Vbmi;
  constexpr uint64_t kZen4 = kIceLake | kAvx512Bf16;
  constexpr uint64_t kSapphireRapids = kZen4 | kAvx512Fp16 | kAmxInt8 | kAmxBf16;
  return {
      {"nehalem", "x86-64 without AVX2", {kOwnBits, 0}},
      {"haswell", "AVX2: Haswell to Coffee Lake, Zen 1 to 3", {kOwnBits | kAvx2, 0}},
      {"skx", "Skylake-SP: AVX-512", {kSkylake, 0}},
      {"icx", "Ice Lake-SP: AVX-512 with VNNI", {kIceLake, 0}},
      {"zen4", "Zen 4: AVX-512 with VNNI and BF16", {kZen4, 0}},
      {"zen5", "Zen 5: AVX-512 with VNNI and BF16", {kZen4, 0}},
      {"spr", "Sapphire Rapids: AMX", {kSapphireRapids, 0}},
      {"gnr", "Granite Rapids: AMX with FP16", {kSapphireRapids | kAmxFp16, 0}},
  };
}

std::vector<Machine> riscv_machines() {
  constexpr uint64_t kV = kOwnBits | kRvv;
  constexpr uint64_t kF16 = kZvfhmin | kZvfh, kBf16 = kZvfbfmin | kZvfbfwma;
  constexpr uint64_t kX60 = kV | kF16 | kZicbop;
  return {
      {"rv64gc", "RISC-V without a vector unit, or with one older than 1.0", {kOwnBits, 0}},
      {"sg2044", "Sophgo SG2044: C920v2, 128 bits, f16 and bf16", {kV | kF16 | kBf16, 128}},
      {"p670", "SiFive P670: 128 bits", {kV | kZvbb | kZicbop, 128}},
      {"k1", "SpacemiT K1: X60, 256 bits, f16", {kX60, 256}},
      {"k3-x100", "SpacemiT K3, its X100 cores: 256 bits, f16", {kX60 | kZvbb, 256}},
      {"k3-a100", "SpacemiT K3, its A100 cores: 1024 bits, f16", {kX60 | kZvbb, 1024}},
      {"ascalon",
       "Tenstorrent Ascalon: 256 bits, f16 and bf16",
       {kV | kF16 | kBf16 | kZvbb | kZicbop, 256}},
  };
}

std::vector<Machine> arm_machines() {
  constexpr uint64_t kArmv8 = kOwnBits | kNeon;
  constexpr uint64_t kN1 = kArmv8 | kDotProd | kArmFp16;
  constexpr uint64_t kV1 = kN1 | kArmFhm | kI8mm | kArmBf16 | kSve;
  return {
      {"cortex-a53", "Armv8.0: NEON alone", {kArmv8, 0}},
      {"graviton2", "Neoverse N1, Cortex-A76: dotprod and fp16", {kN1, 0}},
      {"graviton3", "Neoverse V1: i8mm, bf16, SVE of 256 bits", {kV1, 256}},
      {"graviton4", "Neoverse V2: i8mm, bf16, SVE2 of 128 bits", {kV1 | kSve2, 128}},
  };
}

}  // namespace

const std::vector<Machine>& known_machines() {
  static const std::vector<Machine> machines = [] {
    std::vector<Machine> all = x86_machines();
    for (const auto& more : {riscv_machines(), arm_machines()})
      all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  return machines;
}

}  // namespace tenon
