// All kernel tables seen as one list of names: for `tenon info`, the plans and the environment.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "isa/cpu.h"

namespace tenon {

struct Row {
  const char* op;
  const char* name;
  uint64_t need;
  uint32_t min_vlen;
  bool built;  // this build compiles the row's architecture
};

// Every row of every table, in the order of families.inc and of the tables.
const std::vector<Row>& all_rows();

struct Choice {
  std::string_view op;
  std::string_view kernel;
};

// What `cpu` would run for every operation, in the order of all_rows(). Pure.
std::vector<Choice> plan(const Cpu& cpu);

// plan() as text, one "op kernel" line each: the content of dispatch/plans/<machine>.txt.
std::string plan_text(const Cpu& cpu);

// A machine that dispatch/plans/ has a file for.
struct Machine {
  const char* name;
  const char* description;
  Cpu cpu;
};
const std::vector<Machine>& known_machines();

}  // namespace tenon
