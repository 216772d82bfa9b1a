// An unmodified LibTorch program: exp of a tensor, in a forked child as well when asked.
#include <ATen/ops/exp.h>
#include <ATen/ops/ones.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstring>

namespace {

bool right() {
  const at::Tensor y = at::exp(at::ones({1000}));
  return std::fabs(static_cast<const float*>(y.const_data_ptr())[999] - std::exp(1.0f)) < 1e-6f;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "fork") == 0) {
    const pid_t child = fork();
    if (child == 0) _exit(right() ? 0 : 1);
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return 2;
  }
  if (!right()) return 1;
  std::puts("right");
  return 0;
}
