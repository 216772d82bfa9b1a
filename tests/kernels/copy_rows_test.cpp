// Copies of rows and gathers against their definitions: every row length around the steps, strides,
// both guard pages, and nothing written between the rows.
#include <string>
#include <vector>

#include "dispatch/tables.h"
#include "tests/support/guarded.h"
#include "tests/support/rows.h"
#include "tests/support/values.h"

namespace tenon::test {
namespace {

std::vector<size_t> row_lengths() {
  std::vector<size_t> all;
  for (size_t n = 0; n < 140; ++n) all.push_back(n);
  for (size_t n : {255, 256, 257, 2047, 2048, 2049, 5000}) all.push_back(n);
  return all;
}

void randomise(Guarded<uint8_t>& x, size_t salt) {
  auto rng = make_rng(salt);
  for (uint8_t& b : x) b = static_cast<uint8_t>(rng());
}

class CopyRowsTest : public ::testing::TestWithParam<Kernel<CopyRows>> {};

void check_copy(const Kernel<CopyRows>& k, size_t rows, size_t bytes, size_t x_gap, size_t y_gap,
                Flush flush) {
  const size_t x_stride = bytes + x_gap, y_stride = bytes + y_gap;
  Guarded<uint8_t> x((rows - 1) * x_stride + bytes, flush);
  Guarded<uint8_t> y((rows - 1) * y_stride + bytes, flush);
  randomise(x, bytes);
  randomise(y, bytes + 1);
  std::vector<uint8_t> want(y.begin(), y.end());
  for (size_t r = 0; r < rows; ++r)
    for (size_t b = 0; b < bytes; ++b) want[r * y_stride + b] = x[r * x_stride + b];
  k.run(rows, bytes, x.data(), static_cast<ptrdiff_t>(x_stride), y.data(),
        static_cast<ptrdiff_t>(y_stride));
  ASSERT_TRUE(std::equal(y.begin(), y.end(), want.begin()))
      << rows << " rows of " << bytes << " bytes, gaps " << x_gap << " and " << y_gap;
}

TEST_P(CopyRowsTest, MovesRowsAndNothingElse) {
  TENON_SKIP_UNLESS_RUNNABLE(GetParam());
  for (size_t bytes : row_lengths())
    for (size_t gap : {0, 1, 24}) {
      ASSERT_NO_FATAL_FAILURE(check_copy(GetParam(), 5, bytes, gap, 2 * gap, Flush::kEnd));
      ASSERT_NO_FATAL_FAILURE(check_copy(GetParam(), 5, bytes, gap, 2 * gap, Flush::kBegin));
    }
}

// Kernels may take several such rows at a time.
TEST_P(CopyRowsTest, MovesManyShortRows) {
  TENON_SKIP_UNLESS_RUNNABLE(GetParam());
  for (size_t rows : {1, 2, 7, 16, 17, 31, 33, 100, 700})
    for (size_t bytes : {1, 2, 3, 4, 8, 16})
      for (size_t x_gap : {size_t{0}, bytes, size_t{3}})
        for (size_t y_gap : {size_t{0}, 2 * bytes, size_t{1}})
          for (Flush flush : {Flush::kEnd, Flush::kBegin})
            ASSERT_NO_FATAL_FAILURE(check_copy(GetParam(), rows, bytes, x_gap, y_gap, flush));
}

TENON_TEST_ROWS(CopyRowsTest, kCopyRows);

class GatherTest : public ::testing::TestWithParam<Kernel<Gather>> {};

template <class Index>
void check_gather(const Kernel<Gather>& k, size_t picks, size_t bytes, size_t gap, Flush flush) {
  constexpr size_t kTable = 7;
  const size_t stride = bytes + gap;
  Guarded<uint8_t> x((kTable - 1) * stride + bytes, flush), y(picks * bytes, flush);
  Guarded<Index> index(picks, flush);
  randomise(x, bytes);
  for (size_t r = 0; r < picks; ++r) index[r] = static_cast<Index>(r * 3 % kTable);
  k.run(picks, bytes, index.data(), x.data(), static_cast<ptrdiff_t>(stride), y.data());
  for (size_t r = 0; r < picks; ++r)
    for (size_t b = 0; b < bytes; ++b)
      ASSERT_EQ(y[r * bytes + b], x[r * 3 % kTable * stride + b]) << bytes << " bytes, row " << r;
}

TEST_P(GatherTest, PicksRows) {
  TENON_SKIP_UNLESS_RUNNABLE(GetParam());
  const bool narrow = std::string(GetParam().op) == "gather_b8_i32";
  for (size_t bytes : row_lengths())
    for (size_t gap : {0, 3})
      for (Flush flush : {Flush::kEnd, Flush::kBegin})
        narrow ? check_gather<int32_t>(GetParam(), 10, bytes, gap, flush)
               : check_gather<int64_t>(GetParam(), 10, bytes, gap, flush);
}

TEST_P(GatherTest, PicksManyShortRows) {
  TENON_SKIP_UNLESS_RUNNABLE(GetParam());
  const bool narrow = std::string(GetParam().op) == "gather_b8_i32";
  for (size_t picks : {1, 2, 7, 8, 9, 16, 17, 33, 300})
    for (size_t bytes : {1, 2, 3, 4, 8, 16})
      for (size_t gap : {size_t{0}, bytes, size_t{3}})
        for (Flush flush : {Flush::kEnd, Flush::kBegin})
          narrow ? check_gather<int32_t>(GetParam(), picks, bytes, gap, flush)
                 : check_gather<int64_t>(GetParam(), picks, bytes, gap, flush);
}

TENON_TEST_ROWS(GatherTest, kGather);

}  // namespace
}  // namespace tenon::test
