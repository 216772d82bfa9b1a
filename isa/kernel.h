// One microkernel as the rest of the library sees it. Data only; choosing is dispatch/'s job.
#pragma once
#include <cstdint>

#include "isa/cpu.h"

namespace tenon {

template <class Fn>
struct Kernel {
  const char* op;     // what it computes: "relu_f32"
  const char* name;   // the symbol's own name: what logs, tests, benches and plans print
  uint64_t need;      // Feature bits the machine must have, all of them
  uint32_t min_vlen;  // bits; 0 on fixed-width ISAs
  Fn* run;            // null where this build does not compile the row's architecture

  constexpr bool fits(const Cpu& cpu) const { return cpu.has(need) && cpu.vlen >= min_vlen; }
};

}  // namespace tenon

// A table row as a Kernel. `op` and `isa` joined by "_" are the symbol, the row's name, and for
// kernels that have a file to themselves the file's stem.
#define TENON_ROW(op, arch, isa, need, min_vlen) \
  {#op, #op "_" #isa, need, min_vlen, TENON_IF_##arch(&op##_##isa)},
// The same row as a declaration of type Fn.
#define TENON_DECLARE(Fn, op, isa) Fn op##_##isa;

// One per architecture, and the only #if the tables ever need.
#define TENON_IF_REF(p) p
#if defined(__x86_64__)
#define TENON_IF_X86(p) p
#else
#define TENON_IF_X86(p) nullptr
#endif
#if defined(__riscv)
#define TENON_IF_RISCV(p) p
#else
#define TENON_IF_RISCV(p) nullptr
#endif
#if defined(TENON_HAS_ZVFBFWMA)  // GCC 14 lacks both
#define TENON_IF_ZVFBFMIN(p) p
#define TENON_IF_ZVFBFWMA(p) p
#else
#define TENON_IF_ZVFBFMIN(p) nullptr
#define TENON_IF_ZVFBFWMA(p) nullptr
#endif
#if defined(__aarch64__)
#define TENON_IF_ARM(p) p
#else
#define TENON_IF_ARM(p) nullptr
#endif
