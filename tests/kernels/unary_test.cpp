// Every row of the unary table against libm in double: all sizes around the vector, both guard
// pages, in place, special values, and the same bits as the reference row.
#include <cmath>
#include <string_view>
#include <vector>

#include "dispatch/tables.h"
#include "tests/support/guarded.h"
#include "tests/support/rows.h"
#include "tests/support/values.h"

namespace tenon::test {
namespace {

class UnaryTest : public ::testing::TestWithParam<Kernel<Unary>> {};

double in_double(std::string_view op, double x) {
  if (op == "exp_f32") return std::exp(x);
  if (op == "log_f32") return std::log(x);
  ADD_FAILURE() << "no double reference for " << op;
  return 0;
}

const Kernel<Unary>& reference(const Kernel<Unary>& k) { return *pick(kUnary, k.op, Cpu{}); }

std::vector<float> inputs(size_t n) {
  std::vector<float> x = special_values();
  auto rng = make_rng(n);
  std::uniform_real_distribution<float> narrow(-20, 20), wide(-110, 100);
  while (x.size() < n) x.push_back(x.size() % 2 ? narrow(rng) : wide(rng));
  x.resize(n);
  return x;
}

void check(const Kernel<Unary>& k, size_t n, Flush flush) {
  const std::vector<float> values = inputs(n);
  Guarded<float> x(n, flush), y(n, flush), z(n, flush);
  std::copy(values.begin(), values.end(), x.begin());
  k.run(n, x.data(), y.data());
  for (size_t i = 0; i < n; ++i)
    ASSERT_LE(ulp_error(y[i], in_double(k.op, x[i])), kUnaryUlp) << x[i] << " gave " << y[i];
  reference(k).run(n, x.data(), z.data());
  ASSERT_TRUE(n == 0 || std::memcmp(y.data(), z.data(), n * sizeof y[0]) == 0);
  k.run(n, x.data(), x.data());
  ASSERT_TRUE(n == 0 || std::memcmp(y.data(), x.data(), n * sizeof y[0]) == 0) << "in place";
}

TEST_P(UnaryTest, MatchesDoubleAndReference) {
  TENON_SKIP_UNLESS_RUNNABLE(GetParam());
  for (size_t n = 0; n < 140; ++n) {
    check(GetParam(), n, Flush::kEnd);
    check(GetParam(), n, Flush::kBegin);
  }
  check(GetParam(), 100000, Flush::kEnd);
}

TENON_TEST_ROWS(UnaryTest, kUnary);

}  // namespace
}  // namespace tenon::test
