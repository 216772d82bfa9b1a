// Every padding kernel against its definition: sizes around the vector, strides, both guard pages.
#include "isa/pad.h"

#include "dispatch/tables.h"
#include "tests/support/guarded.h"
#include "tests/support/rows.h"
#include "tests/support/stored.h"
#include "tests/support/values.h"

namespace tenon::test {
namespace {

class PadTest : public ::testing::TestWithParam<Kernel<Pad>> {};

struct Shape {
  size_t top, height, bottom, left, width, right, step;

  size_t rows() const { return top + height + bottom; }
  size_t columns() const { return left + width + right; }
  size_t row() const { return width * step + 1; }  // of x, in elements
  size_t elements() const {
    return height * width == 0 ? 0 : (height - 1) * row() + (width - 1) * step + 1;
  }
};

void check(const Kernel<Pad>& kernel, const Shape& s, float fill, Flush flush) {
  Stored x(buffer_types(kernel.op)[1], s.elements(), flush);
  auto rng = make_rng(s.width);
  std::uniform_real_distribution<float> number(-9, 9);
  for (size_t i = 0; i < x.size(); ++i) x.set(i, number(rng));
  const auto size = static_cast<ptrdiff_t>(size_of_type(x.type()));
  Guarded<float> y(s.rows() * s.columns(), flush);
  for (float& v : y) v = -77;
  kernel.run({s.rows(), s.columns(), s.top, s.height, s.left, s.width, x.at(0),
              static_cast<ptrdiff_t>(s.row()) * size, static_cast<ptrdiff_t>(s.step) * size, fill,
              y.data()});
  for (size_t i = 0; i < s.rows(); ++i)
    for (size_t j = 0; j < s.columns(); ++j) {
      const size_t r = i - s.top, c = j - s.left;
      const double want = r < s.height && c < s.width ? x[r * s.row() + c * s.step] : fill;
      ASSERT_EQ(y[i * s.columns() + j], want) << s.width << " at " << i << "," << j;
    }
}

TEST_P(PadTest, PutsTheMatrixInItsPlace) {
  TENON_SKIP_UNLESS_RUNNABLE(GetParam());
  for (size_t width : {0, 1, 3, 7, 16, 31, 32, 33, 70, 300})
    for (size_t step : {1, 2, 3})
      for (size_t edge : {0, 1, 3}) {
        const Flush flush = width % 2 == 0 ? Flush::kEnd : Flush::kBegin;
        check(GetParam(), {edge, 3, edge, edge, width, edge, step}, 0, flush);
        check(GetParam(), {0, 1, edge, 0, width, edge, step}, -INFINITY, flush);
        check(GetParam(), {edge, 2, 0, edge, width, 0, step}, 0, flush);
        check(GetParam(), {edge, 0, 2, edge, width, 40, step}, 1, flush);
      }
}

TENON_TEST_ROWS(PadTest, kPad);

}  // namespace
}  // namespace tenon::test
