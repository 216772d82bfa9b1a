// mm_f32 on every row of the table: the error bounds of isa/tile_mm.h against double, exact
// integers, operands out of range, and the same bits for any split of the work.
#include <cmath>
#include <cstring>
#include <limits>

#include "tests/kernels/tile_mm_support.h"
#include "tests/support/effort.h"

namespace tenon::test {
namespace {

using MmF32 = Mm<float, float>;

class TileMmF32Test : public ::testing::TestWithParam<Kernel<TileMm>> {
 protected:
  void SetUp() override {
    TENON_SKIP_UNLESS_RUNNABLE(GetParam());
    note_execution(GetParam());
  }
  std::mt19937_64 rng = make_rng();
  std::uniform_real_distribution<float> uniform{-2, 2};

  void fill(MmF32& mm) {
    const auto next = [&] { return uniform(rng); };
    mm.a.fill(next);
    mm.b.fill(next);
    mm.c.fill([] { return std::numeric_limits<float>::quiet_NaN(); });
  }
  void expect_within_bound(MmF32& mm, int products);
};

void TileMmF32Test::expect_within_bound(MmF32& mm, int products) {
  double worst = 0;
  for (size_t i = 0; i < mm.size.m; ++i)
    for (size_t j = 0; j < mm.size.n; ++j) {
      double want, magnitude;
      mm.exact(i, j, want, magnitude);
      const double bound = tile_mm_f32_error(mm.size.k, products) * magnitude;
      const double error = std::fabs(mm.c.at(i, j) - want);
      worst = std::fmax(worst, error - bound);
      if (!(error <= bound)) worst = std::numeric_limits<double>::infinity();
    }
  EXPECT_LE(worst, 0) << mm.size.m << "x" << mm.size.n << "x" << mm.size.k << ", " << products;
}

constexpr Size kSizes[] = {{1, 1, 1},    {1, 17, 2},   {16, 16, 32}, {32, 32, 64}, {17, 1, 33},
                           {15, 33, 31}, {31, 16, 65}, {33, 47, 96}, {48, 64, 7},  {49, 95, 129}};

TEST_P(TileMmF32Test, EverySizeAndLayout) {
  for (const Size& s : kSizes)
    for (Layout left : kLayouts)
      for (Layout right : kLayouts)
        for (Flush flush : flushes_for(GetParam())) {
          MmF32 mm(s, left, right, flush);
          fill(mm);
          mm.run(GetParam());
          expect_within_bound(mm, 6);
        }
}

TEST_P(TileMmF32Test, BlocksOfEverySide) {
  for (const Size& s : {Size{1057, 33, 40}, Size{20, 530, 70}, Size{33, 40, 1200}}) {
    MmF32 mm(s, Layout::kRows, Layout::kColumns);
    fill(mm);
    mm.run(GetParam());
    expect_within_bound(mm, 6);
  }
}

TEST_P(TileMmF32Test, FewerProducts) {
  for (int products : {3, 1})
    for (const Size& s : {Size{35, 50, 100}, Size{1, 1, 1}, Size{16, 48, 400}}) {
      MmF32 mm(s, Layout::kRows, Layout::kRows);
      fill(mm);
      mm.args.products = products;
      mm.run(GetParam());
      expect_within_bound(mm, products);
    }
}

TEST_P(TileMmF32Test, NothingToDo) {
  for (const Size& s : {Size{0, 5, 5}, Size{5, 0, 5}, Size{5, 3, 0}}) {
    MmF32 mm(s, Layout::kRows, Layout::kRows);
    fill(mm);
    mm.run(GetParam());
    for (size_t i = 0; i < s.m; ++i)
      for (size_t j = 0; j < s.n; ++j) EXPECT_EQ(mm.c.at(i, j), 0);
    EXPECT_TRUE(tile_mm_f32_in_range(mm.range, s.k));
  }
}

// Lines apart in memory: what lies between C's rows stays as it was.
TEST_P(TileMmF32Test, WritesOnlyC) {
  MmF32 mm({35, 41, 420}, Layout::kColumns, Layout::kRows, Flush::kEnd, 5);
  fill(mm);
  mm.c.fill([] { return 1234.5f; });
  mm.run(GetParam());
  expect_within_bound(mm, 6);
  for (size_t i = 0; i + 1 < 35; ++i)
    for (size_t j = 41; j < 46; ++j) EXPECT_EQ(mm.c.at(i, j), 1234.5f) << i << "," << j;
}

// alpha A B + beta D with D a matrix, one row for all, one column for all, and one number.
TEST_P(TileMmF32Test, AddsWhatItIsGiven) {
  const Size s{37, 45, 800};
  Matrix<float> d(s.m, s.n, Layout::kRows);
  d.fill([&] { return uniform(rng); });
  const ptrdiff_t strides[][2] = {{d.row(), 4}, {0, 4}, {d.row(), 0}, {0, 0}};
  for (const auto& [row, col] : strides) {
    MmF32 mm(s, Layout::kRows, Layout::kRows);
    fill(mm);
    mm.args.alpha = -1.5f, mm.args.beta = 0.75f;
    mm.args.d = d.data(), mm.args.d_row = row, mm.args.d_col = col;
    mm.run(GetParam());
    for (size_t i = 0; i < s.m; ++i)
      for (size_t j = 0; j < s.n; ++j) {
        double sum, magnitude;
        mm.exact(i, j, sum, magnitude);
        const double added = 0.75 * d.at(row == 0 ? 0 : i, col == 0 ? 0 : j);
        const double bound = tile_mm_f32_error(s.k, 6) * (1.5 * magnitude + std::fabs(added));
        ASSERT_LE(std::fabs(mm.c.at(i, j) - (-1.5 * sum + added)), bound) << i << "," << j;
      }
  }
}

// Integers of up to 16 bits are exact while sums stay below 2^24.
TEST_P(TileMmF32Test, IntegersAreExact) {
  struct Case {
    size_t k;
    int a, b;  // largest magnitudes: k a b < 2^24
  };
  for (const Case& c :
       {Case{64, 65535, 3}, Case{3, 3, 65535}, Case{4, 2047, 2047}, Case{900, 135, 135}}) {
    MmF32 mm({33, 35, c.k}, Layout::kRows, Layout::kRows);
    std::uniform_int_distribution<int> left(-c.a, c.a), right(-c.b, c.b);
    mm.a.fill([&] { return static_cast<float>(left(rng)); });
    mm.b.fill([&] { return static_cast<float>(right(rng)); });
    mm.run(GetParam());
    for (size_t i = 0; i < mm.size.m; ++i)
      for (size_t j = 0; j < mm.size.n; ++j) {
        double want, magnitude;
        mm.exact(i, j, want, magnitude);
        ASSERT_LT(magnitude, 0x1p24);
        ASSERT_EQ(mm.c.at(i, j), want) << i << "," << j << " k " << c.k;
      }
  }
}

double rms_error(MmF32& mm) {
  double sum = 0;
  for (size_t i = 0; i < mm.size.m; ++i)
    for (size_t j = 0; j < mm.size.n; ++j) {
      double want, magnitude;
      mm.exact(i, j, want, magnitude);
      sum += std::pow((mm.c.at(i, j) - want) / magnitude, 2);
    }
  return std::sqrt(sum / static_cast<double>(mm.size.m * mm.size.n));
}

// What an f32 product with fused multiply-adds gives, blocks of 384 along k as in a BLAS.
void multiply_in_f32(MmF32& mm) {
  for (size_t i = 0; i < mm.size.m; ++i)
    for (size_t j = 0; j < mm.size.n; ++j) {
      float sum = 0;
      for (size_t begin = 0; begin < mm.size.k; begin += 384) {
        float block = 0;
        for (size_t p = begin; p < std::min(begin + 384, mm.size.k); ++p)
          block = std::fma(mm.a.at(i, p), mm.b.at(p, j), block);
        sum += block;
      }
      mm.c.at(i, j) = sum;
    }
}

TEST_P(TileMmF32Test, AsAccurateAsF32) {
  for (size_t k : {size_t{384}, fewer(2048, 512)})
    for (int kind = 0; kind < 3; ++kind) {
      MmF32 mm({32, 48, k}, Layout::kRows, Layout::kRows);
      std::normal_distribution<float> normal;
      const auto next = [&]() -> float {
        const float x = normal(rng);
        if (kind == 0) return x;
        return kind == 1 ? std::fabs(x) : x * std::exp(4 * normal(rng));
      };
      mm.a.fill(next);
      mm.b.fill(next);
      mm.run(GetParam());
      const double error = rms_error(mm);
      multiply_in_f32(mm);
      EXPECT_LE(error, rms_error(mm)) << "k " << k << ", kind " << kind;
    }
}

// A row alone, a column alone, and blocks cut anywhere, have the bits of the whole.
TEST_P(TileMmF32Test, BitsDoNotDependOnTheSplit) {
  const Size s{70, 300, 500};
  MmF32 whole(s, Layout::kRows, Layout::kColumns), parts(s, Layout::kRows, Layout::kColumns);
  fill(whole);
  std::memcpy(parts.a.data(), whole.a.data(), s.m * s.k * 4);
  std::memcpy(parts.b.data(), whole.b.data(), s.n * s.k * 4);
  whole.run(GetParam());
  const auto expect_same = [&](const char* what) {
    EXPECT_EQ(std::memcmp(parts.c.data(), whole.c.data(), s.m * s.n * 4), 0) << what;
  };
  parts.run(GetParam(), 0, 0, 37, s.n);
  parts.run(GetParam(), 37, 0, s.m - 37, s.n);
  expect_same("rows");
  parts.c.fill([] { return 0.0f; });
  parts.run(GetParam(), 0, 0, s.m, 271);
  parts.run(GetParam(), 0, 271, s.m, s.n - 271);
  expect_same("columns");
  parts.run(GetParam(), 3, 0, 1, s.n);
  parts.run(GetParam(), 0, 7, s.m, 1);
  expect_same("one row, one column");
}

TEST_P(TileMmF32Test, SaysWhatItMet) {
  MmF32 mm({20, 40, 70}, Layout::kRows, Layout::kColumns);
  fill(mm);
  mm.a.at(19, 69) = -3.25f;
  mm.b.at(0, 39) = 5.5f;
  mm.run(GetParam());
  EXPECT_EQ(float_of(mm.range.a), 3.25f);
  EXPECT_EQ(float_of(mm.range.b), 5.5f);
  EXPECT_TRUE(tile_mm_f32_in_range(mm.range, 70));
}

// One bad element anywhere, in the body of a tile or in a tail, in either operand, is reported.
TEST_P(TileMmF32Test, ReportsWhatItCannotMultiply) {
  const float huge = std::numeric_limits<float>::max();
  const float bad[] = {std::numeric_limits<float>::infinity(),
                       -std::numeric_limits<float>::infinity(),
                       std::numeric_limits<float>::quiet_NaN(),
                       float_of(0xffffffffu),
                       float_of(0x7f800001u),
                       huge,
                       -huge,
                       float_of(kRoundsToInfinity)};
  const Size s{37, 35, 402};
  for (Layout layout : kLayouts)
    for (size_t at : {size_t{0}, size_t{17}, size_t{34}})
      for (size_t k : {size_t{0}, size_t{200}, size_t{401}})
        for (float x : bad)
          for (bool left : {true, false}) {
            MmF32 mm(s, layout, layout);
            mm.a.fill([] { return 1.0f; });
            mm.b.fill([] { return 1.0f; });
            (left ? mm.a.at(at, k) : mm.b.at(k, at)) = x;
            mm.run(GetParam(), at / 16 * 16, at / 16 * 16, 5, 3);
            ASSERT_FALSE(tile_mm_f32_in_range(mm.range, s.k)) << x << " at " << at << "," << k;
          }
}

TEST_P(TileMmF32Test, ReportsUnderflowAndOverflow) {
  const auto in_range = [&](float a, float b) {
    MmF32 mm({5, 6, 100}, Layout::kRows, Layout::kRows);
    mm.a.fill([=] { return a; });
    mm.b.fill([=] { return b; });
    mm.run(GetParam());
    return tile_mm_f32_in_range(mm.range, 100);
  };
  EXPECT_TRUE(in_range(0, 1));
  EXPECT_TRUE(in_range(0, 0));
  EXPECT_TRUE(in_range(0x1p-60f, 1));
  EXPECT_FALSE(in_range(0x1p-61f, 1));
  EXPECT_FALSE(in_range(1, 1e-40f));
  EXPECT_TRUE(in_range(0x1p60f, 0x1p60f));
  EXPECT_FALSE(in_range(0x1p60f, 0x1p61f)) << "100 products of 2^121 are above 2^127";
}

TENON_TEST_THESE_ROWS(TileMmF32Test, tile_mm_rows("mm_f32"));

}  // namespace
}  // namespace tenon::test
