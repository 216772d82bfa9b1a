// Without the kernel's permission the first use of a tile is SIGILL. A program of its own, because
// permission, once asked for, lasts as long as the process. Exit status 77: nothing to test here.
#include <immintrin.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "isa/cpu.h"
#include "tests/amx/tiles.h"

namespace {

void use_tile() {
  tenon::test::TileConfig config = {};
  config.palette = 1;
  tenon::test::set_tile(config, 0, 16, 64);
  load_tile_config(config);
  _tile_zero(0);
}

// How a child that runs `body` ends: the number of the signal, 0 for an ordinary exit.
int ending_of(void (*body)()) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

}  // namespace

int main() {
  const int refused = ending_of(use_tile);  // before detect_cpu asks
  if (!tenon::detect_cpu().has(tenon::kAvx2 | tenon::kAmxBf16)) return 77;
  const int granted = ending_of(use_tile);
  std::printf("without permission: signal %d, with it: signal %d\n", refused, granted);
  return refused == SIGILL && granted == 0 ? 0 : 1;
}
