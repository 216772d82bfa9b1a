// AMX instructions on a CPU that lacks them: each raises SIGILL, and the handler here decodes it,
// has emulator.cpp carry it out, and goes on with the AMX instructions that follow it. On a CPU
// that has AMX nothing is installed.
//
// CPUID and XGETBV do not trap: isa/cpu_x86.cpp asks for the symbol amxemu_active instead. The
// kernel's permission is faked by standing in for libc's syscall().
#include <cpuid.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "tests/amx/emulator.h"

namespace tenon::amx {
namespace {

bool g_permitted;
struct sigaction g_before;

// A VEX-coded AMX instruction taken apart.
struct Instruction {
  int opcode, prefix, vvvv, mod, reg, rm;
  uint64_t address = 0;
  int64_t stride = 0;
  bool sib = false;
  const uint8_t* end;
};

uint64_t register_value(const greg_t* g, int n) {
  static constexpr int kOrder[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                     REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                     REG_R12, REG_R13, REG_R14, REG_R15};
  return static_cast<uint64_t>(g[kOrder[n]]);
}

// ModRM's memory operand with its SIB byte and displacement.
void decode_memory(const greg_t* g, int index_high, int base_high, Instruction& i) {
  const uint8_t* q = i.end;
  int base = i.rm;
  const bool relative = (i.rm & 7) == 5 && i.mod == 0;
  bool no_base = false;
  if ((i.rm & 7) == 4) {
    const uint8_t sib = *q++;
    const int index = (sib >> 3 & 7) | index_high;
    i.sib = true;
    if (index != 4) i.stride = static_cast<int64_t>(register_value(g, index) << (sib >> 6));
    base = (sib & 7) | base_high;
    no_base = (sib & 7) == 5 && i.mod == 0;
  }
  int32_t displacement = 0;
  if (i.mod == 1) {
    displacement = static_cast<int8_t>(*q++);
  } else if (i.mod == 2 || no_base || relative) {
    std::memcpy(&displacement, q, 4);
    q += 4;
  }
  i.end = q;
  const uint64_t origin = relative  ? reinterpret_cast<uint64_t>(q)
                          : no_base ? 0
                                    : register_value(g, base);
  i.address = origin + static_cast<uint64_t>(int64_t{displacement});
}

constexpr int kConfigure = 0x49, kMove = 0x4b, kDotBf16 = 0x5c, kDotInt8 = 0x5e;

// False where the bytes at RIP are no AMX instruction: VEX in three bytes, map 0F38, W = L = 0.
bool decode(const greg_t* g, Instruction& i) {
  const auto* p = reinterpret_cast<const uint8_t*>(g[REG_RIP]);
  if (p[0] != 0xc4 || (p[1] & 0x1f) != 2 || (p[2] & 0x84) != 0) return false;
  i.opcode = p[3];
  const bool dots = i.opcode == kDotBf16 || i.opcode == kDotInt8;
  if (!dots && i.opcode != kConfigure && i.opcode != kMove) return false;
  const auto high = [&](int mask) { return (p[1] & mask) == 0 ? 8 : 0; };
  i.prefix = p[2] & 3;
  i.vvvv = ~p[2] >> 3 & 15;
  i.mod = p[4] >> 6;
  i.reg = (p[4] >> 3 & 7) | high(0x80);
  i.rm = (p[4] & 7) | high(0x20);
  i.end = p + 5;
  if (i.mod != 3) decode_memory(g, high(0x40), high(0x20), i);
  return !dots || i.mod == 3;
}

Outcome configure(const Instruction& i) {
  void* memory = reinterpret_cast<void*>(i.address + static_cast<uint64_t>(i.stride));
  const bool in_memory = i.mod != 3;
  if (i.vvvv != 0) return {Fault::kUndefined, "VEX.vvvv is not 1111b"};
  if (in_memory && i.reg == 0 && i.prefix == 0) return load_config(memory);
  if (in_memory && i.reg == 0 && i.prefix == 1) return store_config(memory);
  if (!in_memory && i.reg == 0 && i.prefix == 0 && i.rm % 8 == 0) return release();
  if (!in_memory && i.prefix == 3 && i.rm % 8 == 0) return zero(i.reg);
  return {Fault::kNotAmx};
}

Outcome move(const Instruction& i) {
  void* memory = reinterpret_cast<void*>(i.address);
  if (i.vvvv != 0) return {Fault::kUndefined, "VEX.vvvv is not 1111b"};
  if (i.mod == 3 || !i.sib || i.prefix == 0)
    return {Fault::kUndefined, "tile load and store need a SIB byte"};
  return i.prefix == 2 ? store(i.reg, memory, i.stride) : load(i.reg, memory, i.stride);
}

Outcome execute(const Instruction& i) {
  if (!g_permitted) return {Fault::kUndefined, "AMX without arch_prctl(ARCH_REQ_XCOMP_PERM)"};
  if (i.opcode == kConfigure) return configure(i);
  if (i.opcode == kMove) return move(i);
  if (i.opcode == kDotBf16)
    return i.prefix == 2 ? dot(Dot::kBf16, i.reg, i.rm, i.vvvv) : Outcome{Fault::kNotAmx};
  static constexpr Dot kByPrefix[4] = {Dot::kUnsignedUnsigned, Dot::kUnsignedSigned,
                                       Dot::kSignedUnsigned, Dot::kSignedSigned};
  return dot(kByPrefix[i.prefix], i.reg, i.rm, i.vvvv);
}

// Carries out instructions up to the first that is none of AMX, or faults; that one's outcome.
Outcome execute_run(greg_t* g, bool& progressed) {
  Outcome outcome;
  Instruction i;
  for (progressed = false; decode(g, i); progressed = true) {
    outcome = execute(i);
    if (!outcome.ok()) return outcome;
    g[REG_RIP] = reinterpret_cast<greg_t>(i.end);
  }
  return {Fault::kNotAmx};
}

void die_of(int signal_number) {
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

// QEMU 7.2 enters handlers with a stack that is not aligned to 16.
__attribute__((force_align_arg_pointer)) void on_illegal(int number, siginfo_t* info,
                                                         void* context) {
  const int saved_errno = errno;
  greg_t* g = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  bool progressed;
  const Outcome outcome = execute_run(g, progressed);
  errno = saved_errno;
  if (progressed) return;  // a fault comes back here as the first instruction of a run
  if (outcome.fault != Fault::kNotAmx) {
    char text[160];
    const int n = std::snprintf(text, sizeof text, "amx: at %#llx: %s\n",
                                static_cast<long long>(g[REG_RIP]), outcome.why);
    if (write(STDERR_FILENO, text, static_cast<size_t>(n)) < 0) errno = saved_errno;
    return die_of(outcome.fault == Fault::kProtection ? SIGSEGV : SIGILL);
  }
  if ((g_before.sa_flags & SA_SIGINFO) != 0) return g_before.sa_sigaction(number, info, context);
  signal(SIGILL, SIG_DFL);  // the instruction runs again, and the process ends as it would have
}

bool cpu_has_tiles() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d >> 24 & 1);  // AMX-TILE
}

__attribute__((constructor(101))) void install() {
  if (cpu_has_tiles()) return;
  struct sigaction action = {};
  action.sa_sigaction = on_illegal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigaction(SIGILL, &action, &g_before);
  amxemu_active = 1;
}

long kernel_call(long number, const long* a) {
  register long r10 __asm__("r10") = a[3];
  register long r8 __asm__("r8") = a[4];
  register long r9 __asm__("r9") = a[5];
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  if (result >= 0 || result <= -4096) return result;
  errno = static_cast<int>(-result);
  return -1;
}

}  // namespace

bool permitted() { return g_permitted; }

}  // namespace tenon::amx

extern "C" {

__attribute__((visibility("default"))) int amxemu_active = 0;

// libc's syscall(), which grants the use of tiles that only exist here.
__attribute__((visibility("default"))) long syscall(long number, ...) noexcept {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  va_list list;
  va_start(list, number);
  long a[6];
  for (long& x : a) x = va_arg(list, long);
  va_end(list);
  if (amxemu_active && number == SYS_arch_prctl && a[0] == kRequestPermission &&
      a[1] == kTileData) {
    tenon::amx::g_permitted = true;
    return 0;
  }
  return tenon::amx::kernel_call(number, a);
}

}  // extern "C"
