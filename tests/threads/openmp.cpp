// The OpenMP runtime of builds with a sanitizer: the entry points that dispatch/parallel.cpp looks
// for, over threads whose start and end the thread sanitizer understands. libgomp's barriers it
// would take for races.
#include <thread>
#include <vector>

namespace {

constexpr int kThreads = 3;
thread_local int thread_num = 0, num_threads = 1;

void work(void (*body)(void*), void* data, int thread, int threads) {
  thread_num = thread, num_threads = threads;
  body(data);
  thread_num = 0, num_threads = 1;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void GOMP_parallel(void (*body)(void*), void* data, unsigned threads, unsigned) {
  const int count = threads == 0 ? kThreads : static_cast<int>(threads);
  std::vector<std::thread> others;
  for (int t = 1; t < count; ++t) others.emplace_back(work, body, data, t, count);
  work(body, data, 0, count);
  for (std::thread& t : others) t.join();
}

int omp_get_max_threads() { return kThreads; }
int omp_get_num_threads() { return num_threads; }
int omp_get_thread_num() { return thread_num; }
int omp_in_parallel() { return num_threads > 1; }

}  // extern "C"
#pragma GCC visibility pop
