// Every row of the dot table: against double within the header's bound, the reference's bits, both
// guard pages, and special values.
#include "isa/dot.h"

#include <cmath>
#include <limits>

#include "dispatch/tables.h"
#include "tests/support/guarded.h"
#include "tests/support/rows.h"
#include "tests/support/storage.h"
#include "tests/support/values.h"

namespace tenon::test {
namespace {

class DotTest : public ::testing::TestWithParam<Kernel<Dot>> {};

template <class T>
void fill(Guarded<T>& x, std::mt19937_64& rng) {
  std::uniform_real_distribution<float> real(-2, 2);
  for (T& v : x) v = from_f32<T>(real(rng));
}

template <class T>
void check(const Kernel<Dot>& kernel, const Kernel<Dot>& reference, size_t n, Flush flush) {
  Guarded<T> x(n, flush), y(n, flush);
  auto rng = make_rng(n);
  fill(x, rng), fill(y, rng);
  double want = 0, scale = 0;
  for (size_t i = 0; i < n; ++i) {
    const double product = double{to_f32(x[i])} * to_f32(y[i]);
    want += product, scale += std::fabs(product);
  }
  const float got = kernel.run(n, x.data(), y.data());
  ASSERT_LE(std::fabs(got - want), (static_cast<double>(n) / 64 + 8) * kDotUnit * scale)
      << kernel.name << " n " << n;
  const float same = reference.run(n, x.data(), y.data());
  ASSERT_TRUE(same_bits(&got, &same, 1)) << kernel.name << " n " << n;
}

TEST_P(DotTest, MatchesDoubleAndTheReferencesBits) {
  TENON_SKIP_UNLESS_RUNNABLE(GetParam());
  const Kernel<Dot>& reference = *pick(kDot, GetParam().op, Cpu{});
  with_storage(GetParam().op, [&](auto storage) {
    using T = decltype(storage);
    for (const Flush flush : {Flush::kEnd, Flush::kBegin}) {
      for (size_t n = 0; n < 200; ++n) check<T>(GetParam(), reference, n, flush);
      for (size_t n : {1000, 4096, 10007}) check<T>(GetParam(), reference, n, flush);
    }
  });
}

TEST_P(DotTest, HandsOnSpecialValues) {
  TENON_SKIP_UNLESS_RUNNABLE(GetParam());
  with_storage(GetParam().op, [&](auto storage) {
    using T = decltype(storage);
    for (size_t at : {0, 5, 63, 64, 99}) {
      Guarded<T> x(100), y(100);
      for (size_t i = 0; i < 100; ++i) x[i] = y[i] = from_f32<T>(1.0f);
      x[at] = from_f32<T>(std::numeric_limits<float>::infinity());
      EXPECT_EQ(GetParam().run(100, x.data(), y.data()), std::numeric_limits<float>::infinity());
      y[at] = from_f32<T>(0.0f);
      EXPECT_TRUE(std::isnan(GetParam().run(100, x.data(), y.data())));
    }
  });
}

// A sum of negative zeros: the filled-up round makes it +0 on every ISA.
TEST_P(DotTest, SignOfZero) {
  TENON_SKIP_UNLESS_RUNNABLE(GetParam());
  with_storage(GetParam().op, [&](auto storage) {
    using T = decltype(storage);
    for (size_t n : {1, 12, 64, 70}) {
      Guarded<T> x(n), y(n);
      for (size_t i = 0; i < n; ++i) x[i] = from_f32<T>(-0.0f), y[i] = from_f32<T>(1.0f);
      EXPECT_EQ(bits_of(GetParam().run(n, x.data(), y.data())), 0u);
    }
  });
}

TENON_TEST_ROWS(DotTest, kDot);

}  // namespace
}  // namespace tenon::test
