// Ranges of parallel_for: disjoint, complete, and on the OpenMP runtime of the process if it has
// one.
#include "dispatch/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace tenon::test {
namespace {

TEST(ParallelFor, CoversEveryIndexOnce) {
  for (const int64_t n : {0, 1, 2, 7, 1000, 4097})
    for (const int64_t grain : {1, 3, 1000, 100000}) {
      std::vector<std::atomic<int>> seen(static_cast<size_t>(n));
      parallel_for(n, grain, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) ++seen[static_cast<size_t>(i)];
      });
      for (const auto& count : seen) ASSERT_EQ(count, 1) << n << " by " << grain;
    }
}

TEST(ParallelFor, InsideARegionIsSerial) {
  std::atomic<int64_t> total{0};
  parallel_for(8, 1, [&](int64_t begin, int64_t end) {
    int ranges = 0;
    parallel_for(end - begin, 1, [&](int64_t, int64_t) { ++ranges; });
    EXPECT_EQ(ranges, 1);
    total += end - begin;
  });
  EXPECT_EQ(total, 8);
}

TEST(RunOnThreads, CallsEveryThreadOnce) {
  std::vector<std::atomic<int>> calls(256);
  run_on_threads(
      [](void* context, int thread, int threads) {
        ASSERT_LT(thread, threads);
        ++(*static_cast<std::vector<std::atomic<int>>*>(context))[static_cast<size_t>(thread)];
      },
      &calls);
  for (int t = 0; t < 256; ++t) EXPECT_EQ(calls[static_cast<size_t>(t)], t < max_threads()) << t;
}

}  // namespace
}  // namespace tenon::test
