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

const std::vector<Machine>& known_machines() {
  constexpr uint64_t kSkylake = kOwnBits | kAvx2 | kAvx512;
  constexpr uint64_t kIceLake = kSkylake | kAvx512Vnni | kAvx512Vbmi;
  constexpr uint64_t kZen4 = kIceLake | kAvx512Bf16;
  constexpr uint64_t kSapphireRapids = kZen4 | kAvx512Fp16 | kAmxInt8 | kAmxBf16;
  static const std::vector<Machine> machines = {
      {"nehalem", "x86-64 without AVX2", {kOwnBits, 0}},
      {"haswell", "AVX2: Haswell to Coffee Lake, Zen 1 to 3", {kOwnBits | kAvx2, 0}},
      {"skx", "Skylake-SP: AVX-512", {kSkylake, 0}},
      {"icx", "Ice Lake-SP: AVX-512 with VNNI", {kIceLake, 0}},
      {"zen4", "Zen 4: AVX-512 with VNNI and BF16", {kZen4, 0}},
      {"zen5", "Zen 5: AVX-512 with VNNI and BF16", {kZen4, 0}},
      {"spr", "Sapphire Rapids: AMX", {kSapphireRapids, 0}},
      {"gnr", "Granite Rapids: AMX with FP16", {kSapphireRapids | kAmxFp16, 0}},
  };
  return machines;
}

}  // namespace tenon
