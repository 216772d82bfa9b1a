// Loops over threads on the OpenMP runtime that libtorch has already brought into the process,
// whatever compiler built this file. There is no second thread pool.
#pragma once
#include <cstdint>
#include <type_traits>

namespace tenon {

// How many threads a parallel region started here would have: what torch.set_num_threads says;
// 1 inside a region, in a process without an OpenMP runtime, and in a child forked after a region.
int max_threads();

// What the runtime is asked for on a thread is that thread's own number, and libtorch gives a
// thread its number before the first parallel loop there. `setup` does that, before every question;
// it is set once, at load time.
void set_thread_setup(void (*setup)());

// Calls body(context, thread, threads) once on each of max_threads() threads, or once here.
void run_on_threads(void (*body)(void* context, int thread, int threads), void* context);

// Calls f(begin, end) on disjoint ranges that cover [0, n), each at least `grain` long where n
// allows. Which range a thread gets must not change what f computes for an index.
template <class F>
void parallel_for(int64_t n, int64_t grain, F&& f) {
  const int64_t wanted = grain > 0 ? (n + grain - 1) / grain : n;
  if (wanted <= 1 || max_threads() == 1) {
    if (n > 0) f(int64_t{0}, n);
    return;
  }
  struct Loop {
    int64_t n, wanted;
    std::remove_reference_t<F>* f;
  } loop{n, wanted, &f};
  run_on_threads(
      [](void* context, int thread, int threads) {
        const Loop& l = *static_cast<Loop*>(context);
        const int64_t parts = l.wanted < threads ? l.wanted : threads;
        if (thread >= parts) return;
        const int64_t size = l.n / parts, longer = l.n % parts;
        const int64_t begin = thread * size + (thread < longer ? thread : longer);
        (*l.f)(begin, begin + size + (thread < longer ? 1 : 0));
      },
      &loop);
}

}  // namespace tenon
