// AMX carried out in software, one tile state per thread: the instructions of AMX-TILE, AMX-INT8
// and AMX-BF16 with every fault that hardware raises. signal.cpp calls it for instructions this CPU
// lacks, shim.h instead of instructions at build time.
#pragma once
#include <cstdint>

// 1 while the signal handler carries out AMX instructions. isa/cpu_x86.cpp looks for it by name.
extern "C" int amxemu_active;

namespace tenon::amx {

enum class Fault { kNone, kNotAmx, kUndefined, kProtection };  // #UD, #GP

struct Outcome {
  Fault fault = Fault::kNone;
  const char* why = "";

  bool ok() const { return fault == Fault::kNone; }
};

enum class Dot { kSignedSigned, kSignedUnsigned, kUnsignedSigned, kUnsignedUnsigned, kBf16 };

Outcome load_config(const void* config);
Outcome store_config(void* config);
Outcome release();
Outcome zero(int tile);
Outcome load(int tile, const void* p, long stride);
Outcome store(int tile, void* p, long stride);
Outcome dot(Dot op, int sum, int left, int right);

// For shim.h: ends the process with a message where hardware would fault.
void must(Outcome outcome);

// Whether arch_prctl(ARCH_REQ_XCOMP_PERM, XTILEDATA) was asked under the signal handler.
bool permitted();

}  // namespace tenon::amx
