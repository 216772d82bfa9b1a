// What the user asked for in the environment, read once.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "isa/cpu.h"

namespace tenon {

// TENON_ISA, TENON_OPS, TENON_DISABLE, TENON_VERBOSE, TENON_CHECK, TENON_REPRODUCIBLE.
struct Environment {
  std::string isa;                   // TENON_ISA as given
  std::vector<std::string> only;     // TENON_OPS: the ATen operators to override; empty: all
  std::vector<std::string> disable;  // TENON_DISABLE: ATen operators, kernels or operations
  bool off = false;                  // TENON_DISABLE=1 or all, TENON_OPS=none
  bool verbose = false;
  bool check = false;
  bool reproducible = false;
  std::string error;  // empty, or one line that names a bad value and the known ones
};

const Environment& environment();

// `cpu` narrowed by a TENON_ISA value, never widened. A word is a level that caps what is used
// (baseline; avx2, avx512, amx; rvv; neon, sve) or "-" and a feature to leave out. On an unknown
// word returns false and says in `error` what the known ones are.
bool narrow(std::string_view isa, Cpu& cpu, std::string& error);

// The machine this process runs on, narrowed by TENON_ISA and TENON_REPRODUCIBLE. Detected once.
const Cpu& host_cpu();

// False for a kernel that TENON_DISABLE names, by its own name, its operation's, or a prefix of
// either that ends before an underscore (mm_f32_amx).
bool kernel_enabled(std::string_view op, std::string_view name);

// The word for an operator and all its forms: "add" for "add.Tensor", "add_.Tensor", "add.out".
std::string_view operator_word(std::string_view schema);

// True when TENON_OPS and TENON_DISABLE, which take such words and whole schema names, leave the
// override of `schema` on.
bool operator_enabled(std::string_view schema);

}  // namespace tenon
