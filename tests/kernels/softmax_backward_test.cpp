// Every softmax gradient row against double: sizes around the vector, the strip and the block,
// guard pages, in place; the same bits as the reference and for a vector as a row or as a column.
#include <cmath>
#include <string>
#include <vector>

#include "dispatch/tables.h"
#include "isa/sum_order.h"
#include "tests/support/guarded.h"
#include "tests/support/rows.h"
#include "tests/support/storage.h"
#include "tests/support/values.h"

namespace tenon::test {
namespace {

class SoftmaxBackwardTest : public ::testing::TestWithParam<Kernel<SoftmaxBackward>> {
 protected:
  std::string_view op() const { return GetParam().op; }
  bool log() const { return op().starts_with("log_"); }
  bool columns() const { return op().find("columns") != op().npos; }
};

template <class T>
struct Operands {
  size_t rows, columns, pitch;
  Guarded<T> dy, y, dx;

  Operands(size_t r, size_t c, size_t gap, bool log, Flush flush)
      : rows(r),
        columns(c),
        pitch(c + gap),
        dy(span(), flush),
        y(span(), flush),
        dx(span(), flush) {
    auto rng = make_rng(r * 1000 + c);
    fill_uniform(dy.data(), span(), rng);
    fill_uniform(y.data(), span(), rng, log ? -6 : 0, log ? 0 : 1);
    fill_uniform(dx.data(), span(), rng);
  }
  size_t span() const { return rows * columns == 0 ? 0 : (rows - 1) * pitch + columns; }
  ptrdiff_t stride() const { return static_cast<ptrdiff_t>(pitch * sizeof(T)); }
  void run(const Kernel<SoftmaxBackward>& k) {
    k.run(rows, columns, stride(), dy.data(), y.data(), dx.data());
  }
};

template <class T>
void expect_exact(const Operands<T>& o, bool log, bool columns) {
  const size_t count = columns ? o.columns : o.rows, n = columns ? o.rows : o.columns;
  for (size_t v = 0; v < count; ++v) {
    const auto at = [&](size_t i) { return columns ? i * o.pitch + v : v * o.pitch + i; };
    double sum = 0, size = 0;
    for (size_t i = 0; i < n; ++i) {
      const double term = to_f32(o.dy[at(i)]) * (log ? 1.0 : to_f32(o.y[at(i)]));
      sum += term, size += std::fabs(term);
    }
    for (size_t i = 0; i < n; ++i) {
      const double g = to_f32(o.dy[at(i)]), y = to_f32(o.y[at(i)]);
      const double want = log ? g - std::exp(y) * sum : (g - sum) * y;
      const double terms = log ? std::fabs(g) + std::exp(y) * size : (std::fabs(g) + size) * y;
      const double rounding = std::is_same_v<T, float> ? 0 : ulp_at<T>(want) / 2;
      ASSERT_LE(std::fabs(to_f32(o.dx[at(i)]) - want),
                kSoftmaxBackwardUlp * 0x1p-23 * terms + rounding)
          << "vector " << v << ", element " << i;
    }
  }
}

template <class T>
void check(const Kernel<SoftmaxBackward>& k, bool log, bool columns, size_t rows, size_t cols,
           size_t gap, Flush flush) {
  SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(cols));
  Operands<T> o(rows, cols, gap, log, flush), same(rows, cols, gap, log, flush);
  o.run(k);
  expect_exact(o, log, columns);
  same.run(*pick(kSoftmaxBackward, k.op, Cpu{}));
  ASSERT_TRUE(same_bits(o.dx.data(), same.dx.data(), o.span())) << "not the reference's bits";
  k.run(rows, cols, o.stride(), same.dy.data(), same.y.data(), same.y.data());
  for (size_t r = 0; r < rows; ++r)
    ASSERT_TRUE(same_bits(o.dx.data() + r * o.pitch, same.y.data() + r * o.pitch, cols));
}

TEST_P(SoftmaxBackwardTest, MatchesDoubleAndReference) {
  TENON_SKIP_UNLESS_RUNNABLE(GetParam());
  with_storage(op(), [&](auto zero) {
    using T = decltype(zero);
    const auto both = [&](size_t vectors, size_t n, size_t gap, Flush flush) {
      if (columns())
        check<T>(GetParam(), log(), true, n, vectors, gap, flush);
      else
        check<T>(GetParam(), log(), false, vectors, n, gap, flush);
    };
    for (const size_t n : {0, 1, 2, 7, 8, 9, 16, 17, 63, 64, 65, 100, 129})
      for (const size_t vectors : {0, 1, 3, 19}) {
        both(vectors, n, 0, Flush::kEnd);
        both(vectors, n, 3, Flush::kBegin);
      }
    for (const size_t vectors : {255, 256, 300}) both(vectors, 70, 1, Flush::kEnd);
    both(2, 2 * kSumBlock + 77, 0, Flush::kEnd);
  });
}

TEST_P(SoftmaxBackwardTest, SameBitsAsRowAndAsColumn) {
  TENON_SKIP_UNLESS_RUNNABLE(GetParam());
  if (columns()) return;
  const std::string down = std::string(op()).insert(op().find("_backward"), "_columns");
  with_storage(op(), [&](auto zero) {
    using T = decltype(zero);
    Operands<T> rows(9, kSumBlock + 300, 0, log(), Flush::kEnd);
    Operands<T> columns(kSumBlock + 300, 9, 0, log(), Flush::kEnd);
    for (size_t r = 0; r < rows.rows; ++r)
      for (size_t c = 0; c < rows.columns; ++c) {
        columns.dy[c * 9 + r] = rows.dy[r * rows.pitch + c];
        columns.y[c * 9 + r] = rows.y[r * rows.pitch + c];
      }
    rows.run(GetParam());
    columns.run(*pick(kSoftmaxBackward, down, host_cpu()));
    for (size_t r = 0; r < rows.rows; ++r)
      for (size_t c = 0; c < rows.columns; ++c)
        ASSERT_TRUE(same_bits(&columns.dx[c * 9 + r], &rows.dx[r * rows.pitch + c], 1));
  });
}

TENON_TEST_ROWS(SoftmaxBackwardTest, kSoftmaxBackward);

}  // namespace
}  // namespace tenon::test
