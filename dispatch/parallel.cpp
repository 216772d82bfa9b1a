// Finds torch's OpenMP runtime by its C entry points at first use. A plugin linked to libgomp could
// bring a second runtime beside torch's; one with undefined GOMP_* symbols kills programs that run
// with LD_BIND_NOW. So neither: dlsym, and serial loops where there is no runtime.
#include "dispatch/parallel.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>

#include <atomic>
#include <cstring>

namespace tenon {
namespace {

// The entry points of libgomp's ABI (libgomp.map); LLVM's and Intel's runtimes export them too.
struct Runtime {
  void (*parallel)(void (*)(void*), void*, unsigned threads, unsigned flags) = nullptr;
  int (*max_threads)() = nullptr;
  int (*num_threads)() = nullptr;
  int (*thread_num)() = nullptr;
  int (*in_parallel)() = nullptr;

  bool complete() const {
    return parallel && max_threads && num_threads && thread_num && in_parallel;
  }
};

template <class Fn>
void find(void* scope, const char* name, Fn*& fn) {
  fn = reinterpret_cast<Fn*>(dlsym(scope, name));
}

Runtime entry_points(void* scope) {
  Runtime r;
  find(scope, "GOMP_parallel", r.parallel);
  find(scope, "omp_get_max_threads", r.max_threads);
  find(scope, "omp_get_num_threads", r.num_threads);
  find(scope, "omp_get_thread_num", r.thread_num);
  find(scope, "omp_in_parallel", r.in_parallel);
  return r;
}

// A handle on libtorch_cpu, whose dependencies dlsym searches breadth first: the runtime torch
// itself uses, also where something else put another one into the global scope.
int torch_handle(dl_phdr_info* info, size_t, void* handle) {
  const char* slash = std::strrchr(info->dlpi_name, '/');
  if (slash == nullptr || std::strncmp(slash, "/libtorch_cpu.so", 16) != 0) return 0;
  *static_cast<void**>(handle) = dlopen(info->dlpi_name, RTLD_NOW | RTLD_NOLOAD);
  return 1;
}

const Runtime& runtime() {
  static const Runtime r = [] {
    void* torch = nullptr;
    dl_iterate_phdr(torch_handle, &torch);
    Runtime found = torch != nullptr ? entry_points(torch) : Runtime{};
    if (!found.complete()) found = entry_points(RTLD_DEFAULT);
    return found.complete() ? found : Runtime{};
  }();
  return r;
}

// A child of fork has none of its parent's worker threads, and libgomp waits for them for ever.
// Once this process has used them, its children stay serial.
std::atomic<bool> region_entered{false};
std::atomic<bool> forked_after_region{false};

void in_child() {
  if (region_entered.load(std::memory_order_relaxed)) forked_after_region = true;
}

void (*thread_setup)() = nullptr;

struct Region {
  void (*body)(void*, int, int);
  void* context;
};

void enter(void* data) {
  const Region& region = *static_cast<Region*>(data);
  region.body(region.context, runtime().thread_num(), runtime().num_threads());
}

}  // namespace

int max_threads() {
  const Runtime& r = runtime();
  if (r.parallel == nullptr || forked_after_region.load(std::memory_order_relaxed)) return 1;
  if (r.in_parallel()) return 1;
  if (thread_setup != nullptr) thread_setup();
  return r.max_threads();
}

void set_thread_setup(void (*setup)()) { thread_setup = setup; }

void run_on_threads(void (*body)(void*, int, int), void* context) {
  if (max_threads() == 1) return body(context, 0, 1);
  static const int registered = pthread_atfork(nullptr, nullptr, in_child);
  static_cast<void>(registered);
  region_entered.store(true, std::memory_order_relaxed);
  Region region{body, context};
  runtime().parallel(enter, &region, 0, 0);  // 0 threads: as many as the runtime would take
}

}  // namespace tenon
