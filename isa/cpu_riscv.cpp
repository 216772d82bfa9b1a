// Detection on RISC-V. V: riscv_hwprobe, or on kernels before 6.4 AT_HWCAP and a look at vtype.
// What is built on V: riscv_hwprobe, or where the kernel is older than the bit the instruction
// itself, run once with SIGILL caught. VLEN: vlenb.
#include <pthread.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstring>

#include "isa/cpu.h"

namespace tenon {
namespace {

// asm/hwprobe.h and linux/prctl.h of Linux 6.16; older headers lack some.
constexpr long kSysHwprobe = 258;
constexpr int64_t kKeyImaExt0 = 4, kKeyZicbomBlockSize = 12;
constexpr uint64_t kExtV = 1ull << 2, kExtZvbb = 1ull << 17, kExtZvfh = 1ull << 30;
constexpr uint64_t kExtZvfhmin = 1ull << 31, kExtZvfbfmin = 1ull << 53, kExtZvfbfwma = 1ull << 54;
constexpr uint64_t kExtZicbop = 1ull << 60;
constexpr int kPrVGetControl = 70, kVstateCurrentMask = 3, kVstateOff = 1;
constexpr unsigned long kHwcapV = 1ul << ('V' - 'A');

struct HwprobePair {
  int64_t key;
  uint64_t value;
};

// The kernel's view of what every hart has.
struct Hwprobe {
  bool known = false;     // it has the system call
  uint64_t ext0 = 0;      // RISCV_HWPROBE_KEY_IMA_EXT_0
  bool complete = false;  // it is new enough for every bit above: that key came after them
};

Hwprobe ask_kernel() {
  HwprobePair pairs[] = {{kKeyImaExt0, 0}, {kKeyZicbomBlockSize, 0}};
  if (syscall(kSysHwprobe, pairs, 2, 0, nullptr, 0) != 0 || pairs[0].key != kKeyImaExt0) return {};
  return {true, pairs[0].value, pairs[1].key == kKeyZicbomBlockSize};
}

// AT_HWCAP's V is also set by vendors' kernels for RVV 0.7.1, where the tail- and mask-agnostic
// bits of vtype do not exist: that machine answers with vill, the sign of vtype.
bool vtype_is_legal() {
  long vtype;
  __asm__ volatile(
      ".option push\n.option arch, +v\n"
      "vsetvli x0, x0, e8, m1, ta, ma\n"
      "csrr %0, vtype\n"
      ".option pop"
      : "=r"(vtype));
  return vtype >= 0;
}

uint32_t read_vlen() {
  unsigned long vlenb;
  __asm__ volatile(".option push\n.option arch, +v\ncsrr %0, vlenb\n.option pop" : "=r"(vlenb));
  return static_cast<uint32_t>(vlenb * 8);
}

// Null where there is RVV 1.0, else the reason.
const char* why_no_vector(const Hwprobe& probe) {
  const int control = prctl(kPrVGetControl, 0, 0, 0, 0);
  if (control >= 0 && (control & kVstateCurrentMask) == kVstateOff)
    return "the vector unit is switched off for this process (prctl)";
  if (probe.known) return (probe.ext0 & kExtV) != 0 ? nullptr : "this kernel reports no V";
  if ((getauxval(AT_HWCAP) & kHwcapV) == 0) return "this machine has no V";
  return vtype_is_legal() ? nullptr : "the vector unit is older than RVV 1.0";
}

// The low 32 bits of v10 after `instruction`, which reads one 16-bit element of v8 and writes v10;
// 0 where it is illegal and the handler below skips it.
template <uint32_t instruction>
uint32_t result_of(uint32_t element) {
  uint32_t result;
  __asm__ volatile(
      ".option push\n.option arch, +v\n"
      "vsetivli x0, 1, e32, m1, tu, mu\n"
      "vmv.v.i v10, 0\n"
      "vsetivli x0, 1, e16, m1, tu, mu\n"
      "vmv.v.x v8, %1\n"
      ".4byte %2\n"
      "vsetivli x0, 1, e32, m1, tu, mu\n"
      "vmv.x.s %0, v10\n"
      ".option pop"
      : "=r"(result)
      : "r"(element), "i"(instruction));
  return result;
}

// An instruction of an extension, and what it makes of an element. Words, because assemblers older
// than the extension know neither.
struct Trial {
  uint64_t feature, ext0;
  uint32_t instruction;
  uint32_t (*result_of)(uint32_t);
  uint32_t element, result;
};

#define TENON_TRIAL(feature, ext0, instruction, element, result) \
  {feature, ext0, instruction, result_of<instruction>, element, result}
constexpr Trial kTrials[] = {
    // vfwcvt.f.f.v v10, v8: 1.5
    TENON_TRIAL(kZvfhmin, kExtZvfhmin, 0x4a861557, 0x3e00, 0x3fc00000),
    // vfadd.vv v10, v8, v8: 1.5 + 1.5
    TENON_TRIAL(kZvfh, kExtZvfh, 0x02841557, 0x3e00, 0x4200),
    // vfwcvtbf16.f.f.v v10, v8: 1.5
    TENON_TRIAL(kZvfbfmin, kExtZvfbfmin, 0x4a869557, 0x3fc0, 0x3fc00000),
    // vfwmaccbf16.vv v10, v8, v8: 1.5 * 1.5
    TENON_TRIAL(kZvfbfwma, kExtZvfbfwma, 0xee841557, 0x3fc0, 0x40100000),
    // vbrev.v v10, v8
    TENON_TRIAL(kZvbb, kExtZvbb, 0x4a852557, 0x0001, 0x8000),
};
#undef TENON_TRIAL

struct sigaction former;         // what SIGILL did before
volatile uint32_t on_trial = 0;  // the instruction that may be illegal

// Any other illegal instruction is left to the former handler.
void skip_illegal(int, siginfo_t*, void* context) {
  auto& pc = static_cast<ucontext_t*>(context)->uc_mcontext.__gregs[REG_PC];
  uint32_t instruction;
  std::memcpy(&instruction, reinterpret_cast<const void*>(pc), sizeof instruction);
  if (instruction == on_trial)
    pc += sizeof instruction;
  else
    sigaction(SIGILL, &former, nullptr);
}

bool passes(const Trial& trial) {
  on_trial = trial.instruction;
  return trial.result_of(trial.element) == trial.result;
}

// Where SIGILL is blocked an illegal instruction would end the process.
bool can_catch() {
  sigset_t blocked;
  return pthread_sigmask(SIG_SETMASK, nullptr, &blocked) == 0 && !sigismember(&blocked, SIGILL);
}

uint64_t try_instructions() {
  uint64_t found = kNone;
  struct sigaction action = {};
  action.sa_sigaction = skip_illegal;
  action.sa_flags = SA_SIGINFO;
  if (!can_catch() || sigaction(SIGILL, &action, &former) != 0) return kNone;
  for (const Trial& trial : kTrials)
    if (passes(trial)) found |= trial.feature;
  sigaction(SIGILL, &former, nullptr);
  return found;
}

}  // namespace

Cpu detect_cpu() noexcept {
  const Hwprobe probe = ask_kernel();
  Cpu cpu{kOwnBits, 0};
  cpu.note = why_no_vector(probe);
  if (cpu.note != nullptr) return cpu;
  cpu.features |= kRvv;
  cpu.vlen = read_vlen();
  for (const Trial& t : kTrials)
    if ((probe.ext0 & t.ext0) != 0) cpu.features |= t.feature;
  if ((probe.ext0 & kExtZicbop) != 0) cpu.features |= kZicbop;
  if (!probe.complete) cpu.features |= try_instructions();
  return cpu;
}

}  // namespace tenon
