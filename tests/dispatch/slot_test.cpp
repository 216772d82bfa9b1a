// A Slot's choice is made once, whichever threads ask first; what is not allowed is not chosen.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "dispatch/tables.h"

namespace tenon::test {
namespace {

TEST(Slot, ThreadsThatRaceGetTheSameRow) {
  Slot<Unary> slot{kUnary, "exp_f32"};
  std::vector<const Kernel<Unary>*> seen(8);
  std::vector<std::thread> threads;
  for (auto& s : seen) threads.emplace_back([&slot, &s] { s = &slot.get(); });
  for (std::thread& t : threads) t.join();
  for (const Kernel<Unary>* k : seen) EXPECT_EQ(k, &slot.get());
}

TEST(Pick, TakesTheFirstRowThatFitsAndIsAllowed) {
  const Cpu skylake{kAvx2 | kAvx512, 0}, haswell{kAvx2, 0};
  EXPECT_STREQ(pick(kUnary, "exp_f32", skylake)->name, "exp_f32_avx512");
  EXPECT_STREQ(pick(kUnary, "exp_f32", haswell)->name, "exp_f32_avx2");
  EXPECT_STREQ(pick(kUnary, "exp_f32", Cpu{})->name, "exp_f32_ref");
  const auto none = [](const Kernel<Unary>&) { return false; };
  EXPECT_STREQ(pick(kUnary, "exp_f32", skylake, none)->name, "exp_f32_ref");
  EXPECT_EQ(pick(kUnary, "no_such_operation", skylake), nullptr);
}

}  // namespace
}  // namespace tenon::test
