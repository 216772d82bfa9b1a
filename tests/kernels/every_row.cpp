// Every row that this CPU can run is executed by some test, or the run fails. A breakpoint on the
// first instruction of each kernel tells: the first call hits it and takes it away. AMX rows are
// executed with emulated tiles on any CPU with AVX2.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdint>

#include "dispatch/registry.h"
#include "dispatch/tables.h"
#include "tests/support/rows.h"

namespace tenon::test {
namespace {

// The breakpoint instruction, and how far behind it the trap finds the program.
#if defined(__x86_64__)
using Unit = unsigned char;
constexpr Unit kBreakpoint = 0xcc;  // int3
constexpr uintptr_t kBehind = 1;
auto& next_instruction(ucontext_t& context) { return context.uc_mcontext.gregs[REG_RIP]; }
#elif defined(__riscv)
using Unit = uint16_t;
constexpr Unit kBreakpoint = 0x9002;  // c.ebreak
constexpr uintptr_t kBehind = 0;
auto& next_instruction(ucontext_t& context) { return context.uc_mcontext.__gregs[REG_PC]; }
#elif defined(__aarch64__)
using Unit = uint32_t;
constexpr Unit kBreakpoint = 0xd4200000;  // brk #0
constexpr uintptr_t kBehind = 0;
auto& next_instruction(ucontext_t& context) { return context.uc_mcontext.pc; }
#endif

struct Watched {
  const char* name;
  volatile Unit* entry;
  Unit first;  // what stands there without the breakpoint
  volatile bool executed;

  void write(Unit unit) const {
    *entry = unit;
    auto* begin = reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(entry));
    __builtin___clear_cache(begin, begin + sizeof unit);
  }
};

std::vector<Watched>& watched_rows() {
  static std::vector<Watched> rows;
  return rows;
}

template <class Fn>
void collect(Table<Fn> table) {
  for (const Kernel<Fn>& k : table) {
    if (!runnable(k)) continue;
    auto* entry = reinterpret_cast<volatile Unit*>(k.run);
    watched_rows().push_back({k.name, entry, *entry, false});
  }
}

// Threads that meet the same breakpoint at once write the same.
void on_trap(int, siginfo_t*, void* context) {
  auto& next = next_instruction(*static_cast<ucontext_t*>(context));
  const uintptr_t entry = static_cast<uintptr_t>(next) - kBehind;
  for (Watched& row : watched_rows())
    if (reinterpret_cast<uintptr_t>(row.entry) == entry) {
      row.write(row.first);
      row.executed = true;
      next -= kBehind;
      return;
    }
  signal(SIGTRAP, SIG_DFL);  // not one of ours
}

bool set_breakpoints() {
  struct sigaction action = {};
  action.sa_sigaction = on_trap;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &action, nullptr);
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  for (const Watched& row : watched_rows()) {
    void* start = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(row.entry) & ~(page - 1));
    if (mprotect(start, page, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return false;
    row.write(kBreakpoint);
  }
  return true;
}

class EveryRow : public ::testing::Environment {
 public:
  void SetUp() override {
    if (only_some_tests()) return;
#define FAMILY(table, Fn, constant) collect<Fn>(constant);
#include "dispatch/families.inc"
#undef FAMILY
    if (!set_breakpoints()) {
      watched_rows().clear();
      ADD_FAILURE() << "this machine does not let a program change its own code";
    }
  }

  void TearDown() override {
    for (const Watched& row : watched_rows())
      EXPECT_TRUE(row.executed) << row.name << ": no test executed this row";
#if defined(TENON_AMX_SHIM)
    if (only_some_tests() || !host_cpu().has(kAvx2)) return;
    for (const Row& row : all_rows())
      EXPECT_TRUE(!on_tiles(row) || executed_in_another_form().count(row.name))
          << row.name << ": no test executed this row on emulated tiles";
#endif
  }

 private:
  static bool on_tiles(const Row& row) { return row.need & (kAmxInt8 | kAmxBf16 | kAmxFp16); }
  static bool only_some_tests() { return ::testing::GTEST_FLAG(filter) != "*"; }
};

const auto* const registered = ::testing::AddGlobalTestEnvironment(new EveryRow);

}  // namespace
}  // namespace tenon::test
