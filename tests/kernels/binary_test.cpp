// Every row of the tables binary and binary_scalar against double: all sizes around the vector,
// both guard pages, in place, special values, and the same bits as the reference row.
#include <cmath>
#include <map>
#include <string>

#include "dispatch/tables.h"
#include "tests/support/elementwise.h"
#include "tests/support/rows.h"

namespace tenon::test {
namespace {

class BinaryTest : public ::testing::TestWithParam<Kernel<Binary>> {};
class BinaryScalarTest : public ::testing::TestWithParam<Kernel<BinaryScalar>> {};

using InDouble = double (*)(double a, double b, double s);

const std::map<std::string, InDouble> kInDouble = {
    {"add", [](double a, double b, double s) { return std::fma(b, s, a); }},
    {"mul", [](double a, double b, double) { return a * b; }},
    {"div", [](double a, double b, double) { return a / b; }},
    {"add_scalar", [](double a, double, double s) { return a + s; }},
    {"mul_scalar", [](double a, double, double s) { return a * s; }},
    {"div_scalar", [](double a, double, double s) { return a / s; }},
    {"rsub_scalar", [](double a, double, double s) { return s - a; }},
    {"rdiv_scalar", [](double a, double, double s) { return s / a; }},
};

template <class T>
void call(const Kernel<Binary>& k, size_t n, float s, const T* a, const T* b, T* y) {
  k.run(n, s, a, b, y);
}
template <class T>
void call(const Kernel<BinaryScalar>& k, size_t n, float s, const T* a, const T*, T* y) {
  k.run(n, s, a, y);
}

template <class T>
void check_values(InDouble f, float s, Guarded<T>& a, Guarded<T>& b, Guarded<T>& y, Guarded<T>& z) {
  for (size_t i = 0; i < y.size(); ++i) {
    const double want = f(to_f32(a[i]), to_f32(b[i]), s);
    ASSERT_LE(ulp_error(y[i], want), storage_ulp<T>(kBinaryUlp, want))
        << to_f32(a[i]) << ", " << to_f32(b[i]) << " gave " << to_f32(y[i]) << ", not " << want;
    ASSERT_TRUE(same_bits(y[i], z[i])) << to_f32(y[i]) << ", reference " << to_f32(z[i]);
  }
}

template <class T, class Fn>
void check(Table<Fn> table, const Kernel<Fn>& k, size_t n, float s, Flush flush) {
  SCOPED_TRACE(::testing::Message() << n << " elements, scalar " << s);
  const std::string op = k.op;
  Guarded<T> a(n, flush), b(n, flush), y(n, flush), z(n, flush);
  fill_anything(a, n);
  fill_anything(b, n + 1);
  call(k, n, s, a.data(), b.data(), y.data());
  call(*pick(table, op, Cpu{}), n, s, a.data(), b.data(), z.data());
  check_values(kInDouble.at(function_name(op)), s, a, b, y, z);
  if constexpr (std::is_same_v<Fn, Binary>) {
    call(k, n, s, a.data(), b.data(), b.data());
    EXPECT_TRUE(same_bits(b, y)) << "into b";
    fill_anything(b, n + 1);
  }
  call(k, n, s, a.data(), b.data(), a.data());
  EXPECT_TRUE(same_bits(a, y)) << "in place";
}

template <class T, class Fn>
void check_sizes(Table<Fn> table, const Kernel<Fn>& k) {
  for (size_t n = 0; n < 40; ++n) {
    ASSERT_NO_FATAL_FAILURE(check<T>(table, k, n, 1, Flush::kEnd));
    ASSERT_NO_FATAL_FAILURE(check<T>(table, k, n, -0.3f, Flush::kBegin));
  }
  for (float s : {1.0f, -1.0f, 0.0f, 1e30f, std::numeric_limits<float>::infinity()})
    ASSERT_NO_FATAL_FAILURE(check<T>(table, k, 3000, s, Flush::kEnd));
}

template <class Fn>
void check_types(Table<Fn> table, const Kernel<Fn>& k) {
  with_storage_type(k.op, [&](auto zero) { check_sizes<decltype(zero)>(table, k); });
}

TEST_P(BinaryTest, MatchesDoubleAndReference) {
  TENON_SKIP_UNLESS_RUNNABLE(GetParam());
  check_types(kBinary, GetParam());
}

TEST_P(BinaryScalarTest, MatchesDoubleAndReference) {
  TENON_SKIP_UNLESS_RUNNABLE(GetParam());
  check_types(kBinaryScalar, GetParam());
}

TENON_TEST_ROWS(BinaryTest, kBinary);
TENON_TEST_ROWS(BinaryScalarTest, kBinaryScalar);

}  // namespace
}  // namespace tenon::test
