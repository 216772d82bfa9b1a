// Every row of the unary table against libm in double: all sizes around the vector, both guard
// pages, in place, special values, and the same bits as the reference row.
#include <cmath>
#include <map>
#include <string>

#include "dispatch/tables.h"
#include "tests/support/effort.h"
#include "tests/support/elementwise.h"
#include "tests/support/rows.h"

namespace tenon::test {
namespace {

class UnaryTest : public ::testing::TestWithParam<Kernel<Unary>> {};

double gelu(double x) { return x * 0.5 * std::erfc(-x * std::sqrt(0.5)); }
double gelu_tanh(double x) {
  const double u = std::sqrt(8 / M_PI) * (x + 0.044715 * x * x * x);
  return x / (1 + std::exp(-u));
}

struct Function {
  double (*in_double)(double);
  double ulp;
};

const std::map<std::string, double (*)(double)> kInDouble = {
    {"relu", [](double x) { return x < 0 ? 0 : x; }},
    {"exp", [](double x) { return std::exp(x); }},
    {"log", [](double x) { return std::log(x); }},
    {"tanh", [](double x) { return std::tanh(x); }},
    {"sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
    {"silu", [](double x) { return x / (1 + std::exp(-x)); }},
    {"gelu", gelu},
    {"gelu_tanh", gelu_tanh},
    {"sqrt", [](double x) { return std::sqrt(x); }},
    {"rsqrt", [](double x) { return 1 / std::sqrt(x); }},
    {"reciprocal", [](double x) { return 1 / x; }},
    {"square", [](double x) { return x * x; }},
    {"cube", [](double x) { return x * x * x; }},
    {"square_reciprocal", [](double x) { return 1 / (x * x); }},
};

Function function_of(const std::string& name) {
#define UNARY(f, ulp, ...) \
  if (name == #f) return {kInDouble.at(#f), ulp};
#include "isa/unary.inc"
#undef UNARY
  ADD_FAILURE() << "no function " << name;
  return {};
}

template <class T>
void expect_close(const Function& f, T x, T y) {
  const double want = f.in_double(to_f32(x));
  if (want == 0 && to_f32(x) == 0) {
    ASSERT_EQ(std::signbit(to_f32(y)), std::signbit(want)) << "at " << to_f32(x);
  }
  ASSERT_LE(ulp_error(y, want), storage_ulp<T>(f.ulp, want, kUnaryFloor))
      << to_f32(x) << " gave " << to_f32(y) << ", not " << want;
}

template <class T>
void check(const Kernel<Unary>& k, const Function& f, size_t n, Flush flush) {
  SCOPED_TRACE(n);
  const Kernel<Unary>& reference = *pick(kUnary, k.op, Cpu{});
  Guarded<T> x(n, flush), y(n, flush), z(n, flush);
  fill_anything(x, n);
  k.run(n, x.data(), y.data());
  reference.run(n, x.data(), z.data());
  for (size_t i = 0; i < n; ++i) {
    ASSERT_NO_FATAL_FAILURE(expect_close(f, x[i], y[i]));
    ASSERT_TRUE(same_bits(y[i], z[i]))
        << to_f32(x[i]) << ": " << to_f32(y[i]) << ", reference " << to_f32(z[i]);
  }
  k.run(n, x.data(), x.data());
  ASSERT_TRUE(same_bits(y, x)) << "in place";
}

template <class T>
void check_sizes(const Kernel<Unary>& k, const std::string& name) {
  const Function f = function_of(name);
  for (size_t n = 0; n < 70; ++n) {
    ASSERT_NO_FATAL_FAILURE(check<T>(k, f, n, Flush::kEnd));
    ASSERT_NO_FATAL_FAILURE(check<T>(k, f, n, Flush::kBegin));
  }
  ASSERT_NO_FATAL_FAILURE(check<T>(k, f, fewer(30000, 6000), Flush::kEnd));
}

TEST_P(UnaryTest, MatchesDoubleAndReference) {
  const Kernel<Unary>& k = GetParam();
  TENON_SKIP_UNLESS_RUNNABLE(k);
  with_storage_type(k.op, [&](auto zero) { check_sizes<decltype(zero)>(k, function_name(k.op)); });
}

// The bounds of isa/unary.h, over all 2^32 operands; minutes a function, so not part of a run:
// --gtest_also_run_disabled_tests --gtest_filter='*EveryOperand*tanh_f32_ref'.
TEST_P(UnaryTest, DISABLED_EveryOperandInF32) {
  const Kernel<Unary>& k = GetParam();
  TENON_SKIP_UNLESS_RUNNABLE(k);
  const std::string op = k.op;
  if (!op.ends_with("_f32")) GTEST_SKIP() << "one rounding away from f32";
  const Function f = function_of(function_name(op));
  std::vector<float> x(1 << 16), y(x.size());
  for (uint64_t first = 0; first < uint64_t{1} << 32; first += x.size()) {
    for (size_t i = 0; i < x.size(); ++i) x[i] = float_of(static_cast<uint32_t>(first + i));
    k.run(x.size(), x.data(), y.data());
    for (size_t i = 0; i < x.size(); ++i) ASSERT_NO_FATAL_FAILURE(expect_close(f, x[i], y[i]));
  }
}

TENON_TEST_ROWS(UnaryTest, kUnary);

}  // namespace
}  // namespace tenon::test
