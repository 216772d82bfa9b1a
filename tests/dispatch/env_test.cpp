// TENON_ISA narrows and never widens; unknown words name the known ones.
#include "dispatch/env.h"

#include <gtest/gtest.h>

namespace tenon::test {
namespace {

constexpr uint64_t kEverything =
    kOwnBits | kAvx2 | kAvx512 | kAvx512Vnni | kAvx512Bf16 | kAmxInt8 | kAmxBf16;

uint64_t narrowed(const char* isa, uint64_t features) {
  Cpu cpu{features, 0};
  std::string error;
  EXPECT_TRUE(narrow(isa, cpu, error)) << error;
  return cpu.features;
}

TEST(Narrow, LevelsCap) {
  EXPECT_EQ(narrowed("", kEverything), kEverything);
  EXPECT_EQ(narrowed("baseline", kEverything), kOwnBits);
  EXPECT_EQ(narrowed("avx2", kEverything), kOwnBits | kAvx2);
  EXPECT_EQ(narrowed("avx512", kEverything),
            kOwnBits | kAvx2 | kAvx512 | kAvx512Vnni | kAvx512Bf16);
}

TEST(Narrow, NeverWidens) {
  EXPECT_EQ(narrowed("avx512", kAvx2), uint64_t{kAvx2});
  EXPECT_EQ(narrowed("amx", kNone), uint64_t{kNone});
}

TEST(Narrow, RemovesAFeatureAndWhatIsBuiltOnIt) {
  EXPECT_EQ(narrowed("-amx", kEverything), kEverything & ~uint64_t{kAmxInt8 | kAmxBf16});
  EXPECT_EQ(narrowed("-avx512", kEverything), kOwnBits | kAvx2);
  EXPECT_EQ(narrowed("avx512,-vnni -bf16", kEverything), kOwnBits | kAvx2 | kAvx512);
}

TEST(Narrow, EveryArchitectureHasItsLevel) {
  constexpr uint64_t kBoard = kOwnBits | kRvv | kZvfhmin | kZvfh | kZvfbfmin | kZvfbfwma | kZvbb;
  constexpr uint64_t kServer = kOwnBits | kNeon | kDotProd | kArmFp16 | kArmBf16 | kSve;
  EXPECT_EQ(narrowed("rvv", kBoard), kBoard);
  EXPECT_EQ(narrowed("-rvv", kBoard), kOwnBits);
  EXPECT_EQ(narrowed("-zvfhmin", kBoard), kBoard & ~(kZvfhmin | kZvfh));
  EXPECT_EQ(narrowed("-zvfbfwma", kBoard), kBoard & ~kZvfbfwma);
  EXPECT_EQ(narrowed("neon", kServer), kServer & ~kSve);
  EXPECT_EQ(narrowed("sve,-bf16", kServer), kServer & ~kArmBf16);
  EXPECT_EQ(narrowed("rvv", kServer), kOwnBits);
}

TEST(Narrow, UnknownWordIsAnErrorThatListsTheKnownOnes) {
  for (const char* word : {"sse9", "-sse9", "avx2,AVX512", "-"}) {
    Cpu cpu{kEverything, 0};
    std::string error;
    EXPECT_FALSE(narrow(word, cpu, error)) << word;
    for (const char* known : {"baseline", "avx2", "avx512", "-amx", "-vnni"})
      EXPECT_NE(error.find(known), std::string::npos) << error;
  }
}

TEST(OperatorWord, IsTheOperatorOfAllForms) {
  EXPECT_EQ(operator_word("add.Tensor"), "add");
  EXPECT_EQ(operator_word("add_.Scalar"), "add");
  EXPECT_EQ(operator_word("_softmax.out"), "_softmax");
  EXPECT_EQ(operator_word("exp_"), "exp");
}

TEST(HostCpu, IsNoWiderThanTheHardware) { EXPECT_TRUE(detect_cpu().has(host_cpu().features)); }

}  // namespace
}  // namespace tenon::test
