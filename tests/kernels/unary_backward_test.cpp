// Every row of the table unary_backward against double: all sizes around the vector, both guard
// pages, in place over either operand, special values, and the same bits as the reference row.
#include "isa/unary_backward.h"

#include <cmath>
#include <map>
#include <string>

#include "dispatch/tables.h"
#include "tests/support/effort.h"
#include "tests/support/elementwise.h"
#include "tests/support/rows.h"

namespace tenon::test {
namespace {

class UnaryBackwardTest : public ::testing::TestWithParam<Kernel<UnaryBackward>> {};

// The two terms of a derivative: their sum is its value, their magnitudes the scale of its error.
struct Terms {
  double a, b;
};

Terms of_sigmoid(double y) { return {(1 - y) * y, 0}; }
Terms of_tanh(double y) { return {1 - y * y, 0}; }

// s + x s (1 - s) w' of a sigmoid s of w(x).
Terms of_sigmoid_product(double x, double w, double slope) {
  const double e = std::exp(-std::fabs(w)), s = (w < 0 ? e : 1) / (1 + e);
  return {s, x * e / (1 + e) / (1 + e) * slope};
}
Terms of_silu(double x) { return of_sigmoid_product(x, x, 1); }
Terms of_gelu_tanh(double x) {
  const double c = std::sqrt(8 / M_PI), near = std::fabs(x) > 100 ? std::copysign(100, x) : x;
  const double w = c * (near + 0.044715 * near * near * near);
  return of_sigmoid_product(x, w, c * (1 + 3 * 0.044715 * near * near));
}
Terms of_gelu(double x) {
  return {std::erfc(-x * std::sqrt(0.5)) / 2, x * std::exp(-x * x / 2) / std::sqrt(2 * M_PI)};
}

struct Function {
  Terms (*terms)(double saved);
  double ulp;
  bool from_result;  // saved is a result, of magnitude 1 at most
};

const std::map<std::string, Terms (*)(double)> kTerms = {
    {"relu_backward", [](double x) { return Terms{x <= 0 ? 0.0 : 1.0, 0}; }},
    {"sigmoid_backward", of_sigmoid},
    {"tanh_backward", of_tanh},
    {"silu_backward", of_silu},
    {"gelu_backward", of_gelu},
    {"gelu_tanh_backward", of_gelu_tanh},
};

Function function_of(const std::string& name) {
#define UNARY_BACKWARD(f, ulp, saved, ...) \
  if (name == #f) return {kTerms.at(#f), ulp, #saved[0] == 'y'};
#include "isa/unary_backward.inc"
#undef UNARY_BACKWARD
  ADD_FAILURE() << "no function " << name;
  return {};
}

template <class T>
void expect_close(const std::string& name, const Function& f, T dy, T saved, T dx) {
  const double d = to_f32(dy), s = to_f32(saved);
  if (name == "relu_backward") {  // chooses and does not multiply
    ASSERT_TRUE(same_bits(dx, s <= 0 ? from_f32<T>(0) : dy)) << d << ", " << s;
    return;
  }
  const Terms t = f.terms(s);
  const double want = d * (t.a + t.b);
  if (std::isinf(d) && std::fabs(t.a + t.b) < kUnaryBackwardFloor) return;  // may have become 0
  if (!std::isfinite(want)) {
    ASSERT_EQ(std::isnan(to_f32(dx)), std::isnan(want)) << d << ", " << s;
    return;
  }
  const double most = std::is_same_v<T, f16> ? 65000 : 3.36e38;
  if (std::fabs(want) > most) {  // may have become infinity
    ASSERT_GE(std::copysign(1, want) * to_f32(dx), most) << d << ", " << s;
    return;
  }
  const double scale =
      std::fabs(d) * std::max(std::fabs(t.a) + std::fabs(t.b), kUnaryBackwardFloor);
  ASSERT_LE(ulp_error(dx, want), storage_ulp<T>(f.ulp, want, scale))
      << d << ", " << s << " gave " << to_f32(dx) << ", not " << want;
}

template <class T>
void fill_saved(const Function& f, Guarded<T>& saved, size_t n) {
  fill_anything(saved, n + 1);
  if (!f.from_result) return;
  auto rng = make_rng(n);
  std::uniform_real_distribution<float> within(-1, 1);
  for (size_t i = 0; i < n; ++i)
    if (std::fabs(to_f32(saved[i])) > 1) saved[i] = from_f32<T>(within(rng));
}

template <class T>
void check(const Kernel<UnaryBackward>& k, const std::string& name, size_t n, Flush flush) {
  SCOPED_TRACE(n);
  const Function f = function_of(name);
  Guarded<T> dy(n, flush), saved(n, flush), dx(n, flush), z(n, flush);
  fill_anything(dy, n);
  fill_saved(f, saved, n);
  k.run(n, dy.data(), saved.data(), dx.data());
  pick(kUnaryBackward, k.op, Cpu{})->run(n, dy.data(), saved.data(), z.data());
  for (size_t i = 0; i < n; ++i) {
    ASSERT_NO_FATAL_FAILURE(expect_close(name, f, dy[i], saved[i], dx[i]));
    ASSERT_TRUE(same_bits(dx[i], z[i])) << to_f32(dx[i]) << ", reference " << to_f32(z[i]);
  }
  k.run(n, dy.data(), saved.data(), saved.data());
  ASSERT_TRUE(same_bits(saved, dx)) << "over what was saved";
  fill_saved(f, saved, n);
  k.run(n, dy.data(), saved.data(), dy.data());
  ASSERT_TRUE(same_bits(dy, dx)) << "in place";
}

template <class T>
void check_sizes(const Kernel<UnaryBackward>& k, const std::string& name) {
  for (size_t n = 0; n < 40; ++n) {
    ASSERT_NO_FATAL_FAILURE(check<T>(k, name, n, Flush::kEnd));
    ASSERT_NO_FATAL_FAILURE(check<T>(k, name, n, Flush::kBegin));
  }
  ASSERT_NO_FATAL_FAILURE(check<T>(k, name, fewer(30000, 6000), Flush::kEnd));
}

TEST_P(UnaryBackwardTest, MatchesDoubleAndReference) {
  const Kernel<UnaryBackward>& k = GetParam();
  TENON_SKIP_UNLESS_RUNNABLE(k);
  with_storage_type(k.op, [&](auto zero) { check_sizes<decltype(zero)>(k, function_name(k.op)); });
}

TENON_TEST_ROWS(UnaryBackwardTest, kUnaryBackward);

}  // namespace
}  // namespace tenon::test
