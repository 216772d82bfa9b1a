// Every softmax row against double: sizes around the vector, the strip and the block, both guard
// pages, in place, strides, special values; the same bits as the reference, and for a vector as a
// row, as a column, alone or among others.
#include "isa/softmax.h"

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "dispatch/tables.h"
#include "isa/sum_order.h"
#include "tests/support/guarded.h"
#include "tests/support/rows.h"
#include "tests/support/storage.h"
#include "tests/support/values.h"

namespace tenon::test {
namespace {

class SoftmaxTest : public ::testing::TestWithParam<Kernel<Softmax>> {
 protected:
  std::string_view op() const { return GetParam().op; }
  bool log() const { return op().starts_with("log_"); }
  bool columns() const { return op().find("columns") != op().npos; }
};

const Kernel<Softmax>& reference(std::string_view op) { return *pick(kSoftmax, op, Cpu{}); }

struct Exact {
  double y, bound;  // bound: in f32 units at 1 (log_softmax) or relative to y (softmax)
};

std::vector<Exact> in_double(const std::vector<float>& v, bool log) {
  double top = -INFINITY, sum = 0;
  for (const float x : v) top = x > top ? x : top;
  for (const float x : v) sum += std::exp(x - top);
  std::vector<Exact> y;
  for (const float x : v) {
    const double fall = x - top;
    if (log) {
      const double value = fall - std::log(sum);
      y.push_back({value, kLogSoftmaxUlp * std::max(1.0, std::fabs(value))});
    } else {
      y.push_back({std::exp(fall) / sum, kSoftmaxUlp + std::fabs(fall)});
    }
  }
  return y;
}

template <class T>
void expect_close(T got, Exact want, bool log) {
  const float nearest = to_f32(from_f32<T>(static_cast<float>(want.y)));
  if (!std::isfinite(nearest)) {  // beyond the type's range, too
    ASSERT_TRUE(std::isnan(nearest) ? std::isnan(to_f32(got)) : to_f32(got) == nearest)
        << to_f32(got) << " for " << want.y;
    return;
  }
  const double unit = log ? 0x1p-23 : ulp_at<float>(want.y);
  const double rounding = 0x1p-126 + (std::is_same_v<T, float> ? 0 : ulp_at<T>(want.y) / 2);
  ASSERT_LE(std::fabs(to_f32(got) - want.y), want.bound * unit + rounding)
      << to_f32(got) << " for " << want.y;
}

// A rows x columns matrix with `gap` unused elements after each row.
template <class T>
struct Matrix {
  size_t rows, columns, pitch;
  Guarded<T> x, y;

  Matrix(size_t r, size_t c, size_t gap, Flush flush)
      : rows(r), columns(c), pitch(c + gap), x(span(), flush), y(span(), flush) {}
  size_t span() const { return rows * columns == 0 ? 0 : (rows - 1) * pitch + columns; }
  ptrdiff_t stride() const { return static_cast<ptrdiff_t>(pitch * sizeof(T)); }
  void run(const Kernel<Softmax>& k) { k.run(rows, columns, stride(), x.data(), y.data()); }
};

template <class T>
void fill(Matrix<T>& m, float spread) {
  auto rng = make_rng(m.rows * 1000 + m.columns);
  fill_uniform(m.x.data(), m.span(), rng, -spread, spread);
  fill_uniform(m.y.data(), m.span(), rng);
}

template <class T>
void expect_exact(const Matrix<T>& m, bool log, bool columns) {
  const size_t count = columns ? m.columns : m.rows, n = columns ? m.rows : m.columns;
  const auto at = [&](size_t v, size_t i) { return columns ? i * m.pitch + v : v * m.pitch + i; };
  for (size_t v = 0; v < count; ++v) {
    std::vector<float> x(n);
    for (size_t i = 0; i < n; ++i) x[i] = to_f32(m.x[at(v, i)]);
    const std::vector<Exact> want = in_double(x, log);
    for (size_t i = 0; i < n; ++i) expect_close(m.y[at(v, i)], want[i], log);
  }
}

template <class T>
void check(const Kernel<Softmax>& k, bool log, bool columns, size_t rows, size_t cols, size_t gap,
           Flush flush) {
  SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(cols));
  Matrix<T> m(rows, cols, gap, flush), same(rows, cols, gap, flush);
  fill(m, 12);
  fill(same, 12);
  m.run(k);
  expect_exact(m, log, columns);
  same.run(reference(k.op));
  ASSERT_TRUE(same_bits(m.y.data(), same.y.data(), m.span())) << "not the reference's bits";
  k.run(rows, cols, m.stride(), same.x.data(), same.x.data());
  for (size_t r = 0; r < rows; ++r)
    ASSERT_TRUE(same_bits(m.y.data() + r * m.pitch, same.x.data() + r * m.pitch, cols));
}

TEST_P(SoftmaxTest, MatchesDoubleAndReference) {
  TENON_SKIP_UNLESS_RUNNABLE(GetParam());
  with_storage(op(), [&](auto zero) {
    using T = decltype(zero);
    const auto both = [&](size_t vectors, size_t n, size_t gap, Flush flush) {
      if (columns())
        check<T>(GetParam(), log(), true, n, vectors, gap, flush);
      else
        check<T>(GetParam(), log(), false, vectors, n, gap, flush);
    };
    for (const size_t n : {0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 100, 127, 129, 200})
      for (const size_t vectors : {0, 1, 3, 19}) {
        both(vectors, n, 0, Flush::kEnd);
        both(vectors, n, 3, Flush::kBegin);
      }
    for (const size_t vectors : {255, 256, 300}) both(vectors, 70, 1, Flush::kEnd);
    both(3, kSumBlock + 1, 0, Flush::kEnd);
    both(1, 3 * kSumBlock + 77, 0, Flush::kEnd);
  });
}

TEST_P(SoftmaxTest, SpecialValues) {
  TENON_SKIP_UNLESS_RUNNABLE(GetParam());
  with_storage(op(), [&](auto zero) {
    using T = decltype(zero);
    const float inf = INFINITY;
    const std::vector<std::vector<float>> heads = {
        {-inf, -inf, -inf},     {inf, 1, 2},          {NAN, 1, 2},   {-inf, 0, 3},
        {60000, -60000, 60000}, {-0.0f, 0.0f, -0.0f}, {-80, 0, -95}, {-inf, -inf, 5}};
    for (const auto& head : heads)
      for (const size_t n : {3, 11, 70, 200})
        for (const size_t place : {size_t{0}, n - 3}) {
          std::vector<float> v(n, head[0] == -inf && head[2] == -inf ? -inf : -2.5f);
          std::copy(head.begin(), head.end(), v.begin() + static_cast<ptrdiff_t>(place));
          Guarded<T> x(n), y(n);
          for (size_t i = 0; i < n; ++i) x[i] = from_f32<T>(v[i]), v[i] = to_f32(x[i]);
          GetParam().run(columns() ? n : 1, columns() ? 1 : n, sizeof(T), x.data(), y.data());
          const std::vector<Exact> want = in_double(v, log());
          for (size_t i = 0; i < n; ++i) expect_close(y[i], want[i], log());
        }
  });
}

// A vector's bits do not depend on what lies beside it, nor on lying along a row or a column.
TEST_P(SoftmaxTest, AloneOrInABatch) {
  TENON_SKIP_UNLESS_RUNNABLE(GetParam());
  if (columns()) return;
  const std::string down = std::string(op()).insert(op().rfind('_'), "_columns");
  const Kernel<Softmax>& vertical = *pick(kSoftmax, down, host_cpu());
  with_storage(op(), [&](auto zero) {
    using T = decltype(zero);
    Matrix<T> rows(21, kSumBlock + 300, 0, Flush::kEnd),
        columns(kSumBlock + 300, 21, 0, Flush::kEnd);
    fill(rows, 20);
    for (size_t r = 0; r < rows.rows; ++r)
      for (size_t c = 0; c < rows.columns; ++c) columns.x[c * 21 + r] = rows.x[r * rows.pitch + c];
    rows.run(GetParam());
    columns.run(vertical);
    Guarded<T> alone(rows.columns);
    for (size_t r = 0; r < rows.rows; ++r) {
      const T* batch = rows.y.data() + r * rows.pitch;
      GetParam().run(1, rows.columns, 0, rows.x.data() + r * rows.pitch, alone.data());
      ASSERT_TRUE(same_bits(alone.data(), batch, rows.columns)) << "row " << r;
      for (size_t c = 0; c < rows.columns; ++c)
        ASSERT_TRUE(same_bits(&columns.y[c * 21 + r], batch + c, 1)) << r << ", " << c;
    }
  });
}

TENON_TEST_ROWS(SoftmaxTest, kSoftmax);

}  // namespace
}  // namespace tenon::test
