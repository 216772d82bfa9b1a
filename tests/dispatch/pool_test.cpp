// Pooling of planes against its definition: padding, windows that stand out, NaN and infinity,
// every storage type, with unreadable pages around the input and the output.
#include "dispatch/pool.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "dispatch/tables.h"
#include "tests/support/rows.h"
#include "tests/support/stored.h"
#include "tests/support/values.h"

namespace tenon::test {
namespace {

const char* const kTypes[] = {"f32", "bf16", "f16"};
constexpr double kUnits[] = {0, 0x1p-8, 0x1p-11};  // half a unit of the type

// `more`: what ceil_mode adds to the outputs.
Axis axis(int64_t in, int64_t taps, int64_t stride, int64_t padding = 0, int64_t more = 0) {
  return {in, (in + 2 * padding - taps) / stride + 1 + more, taps, stride, padding, 1};
}

struct Shape {
  int64_t planes;
  Axis height, width;

  size_t inputs() const { return static_cast<size_t>(height.in * width.in); }
  size_t outputs() const { return static_cast<size_t>(height.out * width.out); }
};

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all = {
      {3, axis(8, 2, 2), axis(10, 2, 2)},
      {2, axis(9, 3, 2, 1), axis(70, 3, 2, 1)},
      {2, axis(7, 3, 1, 1), axis(40, 3, 1, 1)},
      {1, axis(8, 3, 2, 0, 1), axis(6, 3, 2, 0, 1)},  // the last windows stand out
      {1, axis(7, 2, 2, 1), axis(9, 5, 3, 2)},
      {2, axis(5, 1, 1), axis(35, 1, 1)},
      {2, axis(5, 1, 3), axis(35, 2, 4)},
      {1, axis(14, 7, 7), axis(21, 7, 7)},
  };
  return all;
}

// f(row, column) for each element of window (r, c) that lies in the plane, in order.
template <class F>
void each_element(const Shape& s, int64_t r, int64_t c, F f) {
  for (int64_t i = 0; i < s.height.taps; ++i)
    for (int64_t j = 0; j < s.width.taps; ++j) {
      const int64_t row = r * s.height.stride - s.height.padding + i;
      const int64_t column = c * s.width.stride - s.width.padding + j;
      if (row >= 0 && row < s.height.in && column >= 0 && column < s.width.in) f(row, column);
    }
}

void fill(Stored& x, bool special) {
  auto rng = make_rng(x.size());
  std::uniform_int_distribution<int> number(-40, 40);
  for (size_t i = 0; i < x.size(); ++i) {
    const int n = number(rng);
    const double odd = n % 3 == 0 ? NAN : n % 3 == 1 ? INFINITY : -INFINITY;
    x.set(i, special && n > 20 ? odd : special && n > 0 ? -INFINITY : n / 4.0);
  }
}

void check_max(const Shape& s, int type, const Stored& x) {
  Stored y(kTypes[type], static_cast<size_t>(s.planes) * s.outputs(), Flush::kBegin);
  Guarded<int64_t> index(y.size());
  run_max_pool({type, s.planes, s.height, s.width, x.at(0), y.at(0)}, index.data());
  for (size_t at = 0; at < y.size(); ++at) {
    const size_t plane = at / s.outputs(), place = at % s.outputs();
    double value = -INFINITY;
    int64_t where = -1;
    each_element(s, static_cast<int64_t>(place) / s.width.out,
                 static_cast<int64_t>(place) % s.width.out, [&](int64_t row, int64_t column) {
                   const int64_t i = row * s.width.in + column;
                   const double e = x[plane * s.inputs() + static_cast<size_t>(i)];
                   if (where < 0) where = i;
                   if (e > value || std::isnan(e)) value = e, where = i;
                 });
    ASSERT_EQ(index[at], where) << kTypes[type] << " at " << at;
    ASSERT_TRUE(y[at] == value || (std::isnan(y[at]) && std::isnan(value))) << kTypes[type] << at;
  }
}

void check_avg(const Shape& s, int type, const Stored& x, const PoolDivisor& divisor) {
  Stored y(kTypes[type], static_cast<size_t>(s.planes) * s.outputs(), Flush::kBegin);
  run_avg_pool({type, s.planes, s.height, s.width, x.at(0), y.at(0)}, divisor);
  for (size_t at = 0; at < y.size(); ++at) {
    const size_t plane = at / s.outputs();
    const auto place = static_cast<int64_t>(at % s.outputs());
    const int64_t r = place / s.width.out, c = place % s.width.out;
    double sum = 0, magnitude = 0, counted = 0;
    each_element(s, r, c, [&](int64_t row, int64_t column) {
      const double e = x[plane * s.inputs() + static_cast<size_t>(row * s.width.in + column)];
      sum += e, magnitude += std::fabs(e), counted += 1;
    });
    const auto padded = [](const Axis& a, int64_t i) {
      return std::min(a.taps, a.in + a.padding - (i * a.stride - a.padding));
    };
    if (divisor.count_padding)
      counted = static_cast<double>(padded(s.height, r) * padded(s.width, c));
    if (divisor.given != 0) counted = static_cast<double>(divisor.given);
    const double want = sum / counted;
    const double taps = static_cast<double>(s.height.taps * s.width.taps);
    ASSERT_LE(std::fabs(y[at] - want),
              (taps + 1) * 0x1p-24 * magnitude / counted + kUnits[type] * std::fabs(want) * 1.01)
        << kTypes[type] << " at " << at;
  }
}

TEST(Pool, TheLargestOfEachWindow) {
  for (const Shape& s : shapes())
    for (int type : {0, 1, 2}) {
      Stored x(kTypes[type], static_cast<size_t>(s.planes) * s.inputs());
      for (bool special : {false, true}) {
        fill(x, special);
        check_max(s, type, x);
      }
    }
}

TEST(Pool, TheMeanOfEachWindow) {
  for (const Shape& s : shapes())
    for (int type : {0, 1, 2}) {
      Stored x(kTypes[type], static_cast<size_t>(s.planes) * s.inputs());
      fill(x, false);
      for (const PoolDivisor& d : {PoolDivisor{true, 0}, {false, 0}, {true, 3}})
        check_avg(s, type, x, d);
    }
}

class MaxPoolTest : public ::testing::TestWithParam<Kernel<MaxPool>> {};
class AvgPoolTest : public ::testing::TestWithParam<Kernel<AvgPool>> {};

// Three rows of windows of any length, against the reference's bits.
template <class Args, class Run>
void compare(const char* op, const Run& run, const Run& reference, size_t n, size_t step) {
  const size_t rows = 3, height = 2, width = 3, row = (n - 1) * step + width, all = rows * n;
  Guarded<float> x(((rows - 1) * step + height) * row), divisor(all);
  auto rng = make_rng(n);
  fill_uniform(x.data(), x.size(), rng);
  x[x.size() / 2] = NAN, x[0] = -INFINITY;
  const std::string type = buffer_types(op)[0];
  Stored y(type, all), same(type, all);
  Guarded<int64_t> index(all), same_index(all), first(all);
  for (size_t i = 0; i < all; ++i) {
    divisor[i] = static_cast<float>(i % 5 + 1);
    index[i] = same_index[i] = first[i] = static_cast<int64_t>(i) - 9;
  }
  const auto call = [&](const Run& f, Stored& to, Guarded<int64_t>& places) {
    if constexpr (std::is_same_v<Args, MaxPoolArgs>)
      f({rows, n, height, width, step, step, x.data(), row, -7, 1000, first.data(), to.at(0),
         places.data()});
    else
      f({rows, n, height, width, step, step, x.data(), row, divisor.data(), to.at(0)});
  };
  call(run, y, index), call(reference, same, same_index);
  for (size_t i = 0; i < all; ++i) {
    ASSERT_EQ(index[i], same_index[i]) << n << " step " << step << " at " << i;
    ASSERT_TRUE(y[i] == same[i] || (std::isnan(y[i]) && std::isnan(same[i]))) << n << " at " << i;
  }
}

template <class Args, class Fn>
void compare_all(const Kernel<Fn>& k, Table<Fn> table) {
  const Kernel<Fn>* reference = pick(table, k.op, Cpu{});
  for (size_t n : {1, 3, 15, 16, 17, 33, 64, 200})
    for (size_t step : {1, 2, 3}) compare<Args, Fn*>(k.op, k.run, reference->run, n, step);
}

TEST_P(MaxPoolTest, HasTheReferencesBits) {
  TENON_SKIP_UNLESS_RUNNABLE(GetParam());
  compare_all<MaxPoolArgs>(GetParam(), kMaxPool);
}
TEST_P(AvgPoolTest, HasTheReferencesBits) {
  TENON_SKIP_UNLESS_RUNNABLE(GetParam());
  compare_all<AvgPoolArgs>(GetParam(), kAvgPool);
}

TENON_TEST_ROWS(MaxPoolTest, kMaxPool);
TENON_TEST_ROWS(AvgPoolTest, kAvgPool);

}  // namespace
}  // namespace tenon::test
