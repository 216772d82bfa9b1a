// Every row of the cast table against C++'s conversions, exactly: all sizes around the vector, both
// guard pages, every 16-bit pattern, values no i64 holds, integers no f32 holds.
#include <cmath>
#include <string>
#include <vector>

#include "dispatch/tables.h"
#include "tests/support/effort.h"
#include "tests/support/elementwise.h"
#include "tests/support/rows.h"

namespace tenon::test {
namespace {

class CastTest : public ::testing::TestWithParam<Kernel<Cast>> {};

template <class X>
std::vector<X> operands(size_t n) {
  if constexpr (std::is_same_v<X, i64>) {
    std::vector<X> x = {{0},
                        {-1},
                        {INT64_MIN},
                        {INT64_MAX},
                        {INT32_MIN},
                        {INT32_MAX},
                        {INT64_C(1) << 31},
                        {(INT64_C(1) << 24) + 1},
                        {-(INT64_C(1) << 40) - 3}};
    auto rng = make_rng(n);
    while (x.size() < n) x.push_back({static_cast<int64_t>(rng()) >> (rng() % 64)});
    std::shuffle(x.begin(), x.end(), rng);
    x.resize(n);
    return x;
  } else {
    return anything<X>(n, n);
  }
}

float widened(i64 x) { return static_cast<float>(x.value); }
template <class X>
float widened(X x) {
  return to_f32(x);
}

template <class Y>
bool is_conversion(float x, Y y) {
  if constexpr (std::is_same_v<Y, i64>)
    return y.value == (std::fabs(x) < 0x1p63f ? static_cast<int64_t>(x) : INT64_MIN);
  else
    return same_bits(y, from_f32<Y>(x));
}

template <class Y, class X>
void check(const Kernel<Cast>& k, const std::vector<X>& values, Flush flush) {
  const size_t n = values.size();
  Guarded<X> x(n, flush);
  Guarded<Y> y(n, flush);
  std::copy(values.begin(), values.end(), x.begin());
  k.run(n, x.data(), y.data());
  for (size_t i = 0; i < n; ++i)
    ASSERT_TRUE(is_conversion(widened(x[i]), y[i])) << n << " elements, " << widened(x[i]);
}

template <class Y, class X>
void check_sizes(const Kernel<Cast>& k) {
  for (size_t n = 0; n < 70; ++n)
    for (Flush flush : {Flush::kBegin, Flush::kEnd})
      ASSERT_NO_FATAL_FAILURE((check<Y>(k, operands<X>(n), flush)));
  ASSERT_NO_FATAL_FAILURE((check<Y>(k, operands<X>(fewer(100000, 20000)), Flush::kEnd)));
  // Vectors that all fit in 32 bits, and vectors of which one element does not.
  std::vector<X> small(4096);
  for (size_t i = 0; i < small.size(); ++i) {
    if constexpr (std::is_same_v<X, i64>)
      small[i].value = static_cast<int64_t>(i) - 2048;
    else
      small[i] = from_f32<X>(static_cast<float>(i) - 2047.5f);
  }
  ASSERT_NO_FATAL_FAILURE((check<Y>(k, small, Flush::kEnd)));
  if constexpr (sizeof(X) == 2) {
    std::vector<X> all(1 << 16);
    for (size_t i = 0; i < all.size(); ++i) all[i].bits = static_cast<uint16_t>(i);
    ASSERT_NO_FATAL_FAILURE((check<Y>(k, all, Flush::kEnd)));
  }
}

TEST_P(CastTest, IsConversion) {
  TENON_SKIP_UNLESS_RUNNABLE(GetParam());
  const std::string op = GetParam().op;
#define CAST(name, Y, X) \
  if (op == #name) return check_sizes<Y, X>(GetParam());
#include "isa/cast.inc"
  FAIL() << "no types for " << op;
}

TENON_TEST_ROWS(CastTest, kCast);

}  // namespace
}  // namespace tenon::test
