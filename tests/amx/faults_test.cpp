// The faults that AMX instructions must raise, and tiles of several threads; on silicon the
// hardware raises them, elsewhere the signal handler.
#include <gtest/gtest.h>
#include <immintrin.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "dispatch/env.h"
#include "tests/amx/tiles.h"
#include "tests/support/guarded.h"

namespace tenon::test {
namespace {

uint8_t g_buffer[2048];

long ask_permission() { return syscall(SYS_arch_prctl, 0x1023, 18); }

void configure(int rows, int row_bytes) {
  TileConfig config = {};
  config.palette = 1;
  for (int i = 0; i < 8; ++i) set_tile(config, i, rows, row_bytes);
  load_tile_config(config);
}

// What ends a child process that asks for permission and runs `body`.
template <class F>
void expect_death(int signal_number, F body) {
  EXPECT_EXIT((ask_permission(), body(), std::_Exit(0)), ::testing::KilledBySignal(signal_number),
              "");
}

class AmxFaults : public ::testing::Test {
 protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "fast");
    if (!detect_cpu().has(kAvx2 | kAmxBf16)) GTEST_SKIP() << "neither AMX nor AVX2 to emulate it";
  }
};

TEST_F(AmxFaults, NothingWrong) {
  EXPECT_EXIT(
      {
        ask_permission();
        configure(16, 64);
        _tile_loadd(0, g_buffer, 64);
        std::_Exit(0);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST_F(AmxFaults, NotConfigured) {
  expect_death(SIGILL, [] { _tile_loadd(0, g_buffer, 64); });
}

TEST_F(AmxFaults, ConfiguredAndReleased) {
  expect_death(SIGILL, [] {
    configure(16, 64);
    _tile_release();
    _tile_zero(0);
  });
}

TEST_F(AmxFaults, SeventeenRows) {
  expect_death(SIGSEGV, [] { configure(17, 64); });
}

TEST_F(AmxFaults, DepthsThatDiffer) {
  expect_death(SIGILL, [] {
    configure(8, 64);
    _tile_dpbssd(0, 1, 2);
  });
}

TEST_F(AmxFaults, SumThatIsAnOperand) {
  expect_death(SIGILL, [] {
    configure(16, 64);
    __asm__ volatile(
        ".byte 0xc4,0xe2,0x6b,0x5e,0xc0");  // tdpbssd tmm0,tmm0,tmm2: no assembler will
  });
}

TEST_F(AmxFaults, LoadFromAnUnmappedPage) {
  expect_death(SIGSEGV, [] {
    signal(SIGSEGV, SIG_DFL);  // a sanitizer may have its own handler
    Guarded<uint8_t> half(512);
    configure(16, 64);
    _tile_loadd(0, half.data(), 64);
  });
}

// Loads a pattern of its own and stores it again while other threads run in between.
bool tiles_survive(int pattern) {
  alignas(64) uint8_t in[1024], out[1024];
  std::memset(in, pattern, sizeof in);
  configure(16, 64);
  bool same = true;
  for (int i = 0; i < 200; ++i) {
    _tile_zero(0);
    order_memory();
    _tile_loadd(1, in, 64);
    std::this_thread::yield();
    _tile_stored(1, out, 64);
    order_memory();
    same = same && std::memcmp(in, out, sizeof in) == 0;
  }
  _tile_release();
  return same;
}

TEST_F(AmxFaults, ThreadsHaveTheirOwnTiles) {
  std::atomic<int> intact{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) threads.emplace_back([&, t] { intact += tiles_survive(t + 1); });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(intact, 8);
}

}  // namespace
}  // namespace tenon::test
