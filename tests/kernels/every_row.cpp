// Every row that this CPU can run is executed by some test, or the run fails. A breakpoint on the
// first instruction of each kernel tells: the first call hits it and takes it away. AMX rows are
// executed with emulated tiles on any CPU with AVX2.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

#include "dispatch/registry.h"
#include "dispatch/tables.h"
#include "tests/support/rows.h"

#if defined(__x86_64__)
#include <ucontext.h>
#endif

namespace tenon::test {
namespace {

using Byte = volatile unsigned char;

struct Watched {
  const char* name;
  Byte* entry;
  unsigned char first;  // what stands there without the breakpoint
  volatile bool executed;
};

std::vector<Watched>& watched_rows() {
  static std::vector<Watched> rows;
  return rows;
}

template <class Fn>
void collect(Table<Fn> table) {
  for (const Kernel<Fn>& k : table) {
    if (!runnable(k)) continue;
    auto* entry = reinterpret_cast<Byte*>(k.run);
    watched_rows().push_back({k.name, entry, *entry, false});
  }
}

#if defined(__x86_64__)

constexpr unsigned char kBreakpoint = 0xcc;  // int3, which leaves the address behind it in rip

// Threads that meet the same breakpoint at once write the same byte.
void on_trap(int, siginfo_t*, void* context) {
  greg_t& next = static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP];
  for (Watched& row : watched_rows())
    if (reinterpret_cast<greg_t>(row.entry) == next - 1) {
      *row.entry = row.first;
      row.executed = true;
      next -= 1;
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
    *row.entry = kBreakpoint;
  }
  return true;
}

#else

// Not written yet; then no row counts as watched.
bool set_breakpoints() {
  watched_rows().clear();
  return true;
}

#endif

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
