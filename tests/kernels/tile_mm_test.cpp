// mm_bf16 and mm_i32_i8_i8 on every row of the table: against double and exact integers, in every
// layout, and the same bits for any split of the work.
#include <cmath>
#include <cstring>
#include <limits>

#include "tests/kernels/tile_mm_support.h"

namespace tenon::test {
namespace {

// Sizes around the tile; some take the left operand as it lies, some copy it (more than 64
// columns).
constexpr Size kSizes[] = {{1, 1, 1},    {1, 17, 2},    {16, 16, 64},  {32, 32, 128}, {17, 1, 33},
                           {15, 33, 31}, {31, 16, 65},  {33, 47, 96},  {48, 64, 7},   {1, 160, 64},
                           {2, 96, 700}, {96, 3, 1500}, {80, 112, 64}, {67, 131, 130}};
// Beyond each block: columns of the packed operand, rows of the streamed one, k, the packed operand
// larger than L2's share. Checked at every stride-th row and column.
constexpr Size kLargeSizes[] = {
    {600, 33, 40}, {33, 600, 40}, {300, 530, 70}, {40, 90, 2100}, {300, 512, 2200}};
size_t stride_of(const Size& s) { return s.m * s.n * s.k < 10'000'000 ? 1 : 13; }

template <class T, class R>
class TileMmRows : public ::testing::TestWithParam<Kernel<TileMm>> {
 protected:
  void SetUp() override {
    TENON_SKIP_UNLESS_RUNNABLE(GetParam());
    note_execution(GetParam());
  }
  std::mt19937_64 rng = make_rng();

  T random() {
    if constexpr (std::is_same_v<T, int8_t>)
      return static_cast<int8_t>(rng());
    else
      return to_bf16(std::uniform_real_distribution<float>(-2, 2)(rng));
  }
  void fill(Mm<T, R>& mm) {
    const auto next = [&] { return random(); };
    mm.a.fill(next);
    mm.b.fill(next);
    std::memset(mm.c.memory().begin(), 0x7f, mm.c.memory().size() * sizeof(R));
  }

  using Check = void (*)(Mm<T, R>&);

  void expect_every_size_and_layout(Check check) {
    for (const Size& s : kSizes)
      for (Layout left : kLayouts)
        for (Layout right : kLayouts)
          for (Flush flush : flushes_for(GetParam())) {
            Mm<T, R> mm(s, left, right, flush);
            fill(mm);
            mm.run(GetParam());
            check(mm);
            if (HasFatalFailure()) return;
          }
  }

  void expect_blocks_of_every_side(Check check) {
    if (GetParam().need == kNone) GTEST_SKIP() << "the reference has no blocks";
    for (const Size& s : kLargeSizes)
      for (Layout right : kLayouts) {
        Mm<T, R> mm(s, Layout::kRows, right);
        fill(mm);
        mm.run(GetParam());
        check(mm);
      }
  }

  // A product of parts has the bits of the whole.
  void expect_split_keeps_bits(const Size& s, Layout left, Layout right) {
    Mm<T, R> whole(s, left, right), parts(s, left, right);
    fill(whole);
    std::memcpy(parts.a.data(), whole.a.data(), s.m * s.k * sizeof(T));
    std::memcpy(parts.b.data(), whole.b.data(), s.n * s.k * sizeof(T));
    whole.run(GetParam());
    const auto expect_same = [&](const char* what) {
      EXPECT_EQ(std::memcmp(parts.c.data(), whole.c.data(), s.m * s.n * sizeof(R)), 0) << what;
    };
    parts.run(GetParam(), 0, 0, 37, s.n);
    parts.run(GetParam(), 37, 0, s.m - 37, s.n);
    expect_same("rows");
    parts.run(GetParam(), 0, 0, s.m, 21);
    parts.run(GetParam(), 0, 21, s.m, s.n - 21);
    expect_same("columns");
    parts.run(GetParam(), 3, 0, 1, s.n);
    parts.run(GetParam(), 0, 7, s.m, 1);
    expect_same("one row, one column");
  }
};

// bf16

using TileMmBf16Test = TileMmRows<bf16, bf16>;
using MmBf16 = Mm<bf16, bf16>;

// want +- (bound + half a unit of bf16).
void expect_bf16(bf16 got, double want, double bound) {
  const double g = to_f32(got);
  const double half = ulp_at<bf16>(std::fmax(std::fabs(want), std::fabs(g))) / 2;
  ASSERT_LE(std::fabs(g - want), bound + half) << g << " for " << want;
}

void expect_within_bound(MmBf16& mm) {
  SCOPED_TRACE(std::to_string(mm.size.m) + "x" + std::to_string(mm.size.n) + "x" +
               std::to_string(mm.size.k));
  const size_t stride = stride_of(mm.size);
  for (size_t i = 0; i < mm.size.m; i += stride)
    for (size_t j = 0; j < mm.size.n; j += stride) {
      double want, magnitude;
      mm.exact(i, j, want, magnitude);
      expect_bf16(mm.c.at(i, j), want, tile_mm_bf16_error(mm.size.k) * magnitude);
      if (::testing::Test::HasFatalFailure()) return;
    }
}

TEST_P(TileMmBf16Test, EverySizeAndLayout) { expect_every_size_and_layout(expect_within_bound); }

TEST_P(TileMmBf16Test, BlocksOfEverySide) { expect_blocks_of_every_side(expect_within_bound); }

TEST_P(TileMmBf16Test, WritesOnlyC) {
  for (Layout right : kLayouts) {
    MmBf16 mm({35, 41, 600}, Layout::kRows, right, Flush::kEnd, 3);
    fill(mm);
    mm.run(GetParam());
    expect_within_bound(mm);
    for (size_t i = 0; i + 1 < 35; ++i)
      for (size_t j = 41; j < 44; ++j) EXPECT_EQ(mm.c.at(i, j).bits, 0x7f7f) << i << "," << j;
  }
}

TEST_P(TileMmBf16Test, NothingToDo) {
  for (const Size& s : {Size{0, 5, 5}, Size{5, 0, 5}, Size{5, 3, 0}}) {
    MmBf16 mm(s, Layout::kRows, Layout::kColumns);
    fill(mm);
    mm.run(GetParam());
    for (size_t i = 0; i < s.m; ++i)
      for (size_t j = 0; j < s.n; ++j) EXPECT_EQ(mm.c.at(i, j).bits, 0);
  }
}

TEST_P(TileMmBf16Test, AddsWhatItIsGiven) {
  const Size s{37, 45, 600};
  Matrix<bf16> d(s.m, s.n, Layout::kRows);
  d.fill([&] { return random(); });
  const ptrdiff_t strides[][2] = {{d.row(), 2}, {0, 2}, {d.row(), 0}, {0, 0}};
  for (const auto& [row, col] : strides)
    for (Layout right : kLayouts) {
      MmBf16 mm(s, Layout::kRows, right);
      fill(mm);
      mm.args.alpha = -1.5f, mm.args.beta = 0.75f;
      mm.args.d = d.data(), mm.args.d_row = row, mm.args.d_col = col;
      mm.run(GetParam());
      for (size_t i = 0; i < s.m; ++i)
        for (size_t j = 0; j < s.n; ++j) {
          double sum, magnitude;
          mm.exact(i, j, sum, magnitude);
          const double added = 0.75 * to_f32(d.at(row == 0 ? 0 : i, col == 0 ? 0 : j));
          expect_bf16(mm.c.at(i, j), -1.5 * sum + added,
                      tile_mm_bf16_error(s.k) * (1.5 * magnitude + std::fabs(added)));
          if (HasFatalFailure()) return;
        }
    }
}

TEST_P(TileMmBf16Test, KeepsNaNAndInfinity) {
  const float inf = std::numeric_limits<float>::infinity();
  MmBf16 mm({20, 40, 70}, Layout::kRows, Layout::kColumns);
  fill(mm);
  mm.a.at(3, 69) = to_bf16(inf);
  mm.b.at(69, 5) = to_bf16(0);
  mm.b.at(69, 6) = to_bf16(1);
  mm.a.at(19, 0) = to_bf16(std::numeric_limits<float>::quiet_NaN());
  mm.run(GetParam());
  EXPECT_TRUE(std::isnan(to_f32(mm.c.at(3, 5))));
  EXPECT_EQ(to_f32(mm.c.at(3, 6)), inf);
  EXPECT_TRUE(std::isnan(to_f32(mm.c.at(19, 39))));
  EXPECT_TRUE(std::isfinite(to_f32(mm.c.at(18, 39))));
}

TEST_P(TileMmBf16Test, BitsDoNotDependOnTheSplit) {
  for (Layout right : kLayouts) expect_split_keeps_bits({70, 150, 600}, Layout::kRows, right);
}

TENON_TEST_THESE_ROWS(TileMmBf16Test, tile_mm_rows("mm_bf16"));

// int8

using TileMmInt8Test = TileMmRows<int8_t, int32_t>;
using MmInt8 = Mm<int8_t, int32_t>;

int32_t exact_sum(MmInt8& mm, size_t i, size_t j) {
  uint32_t sum = 0;
  for (size_t p = 0; p < mm.size.k; ++p)
    sum += static_cast<uint32_t>(mm.a.at(i, p) * mm.b.at(p, j));
  return static_cast<int32_t>(sum);
}

void expect_exact(MmInt8& mm) {
  const size_t stride = stride_of(mm.size);
  for (size_t i = 0; i < mm.size.m; i += stride)
    for (size_t j = 0; j < mm.size.n; j += stride)
      ASSERT_EQ(mm.c.at(i, j), exact_sum(mm, i, j))
          << i << "," << j << " of " << mm.size.m << "x" << mm.size.n << "x" << mm.size.k;
}

TEST_P(TileMmInt8Test, EverySizeAndLayout) { expect_every_size_and_layout(expect_exact); }

TEST_P(TileMmInt8Test, BlocksOfEverySide) { expect_blocks_of_every_side(expect_exact); }

TEST_P(TileMmInt8Test, WritesOnlyC) {
  for (Layout right : kLayouts) {
    MmInt8 mm({65, 73, 200}, Layout::kRows, right, Flush::kEnd, 3);
    fill(mm);
    mm.run(GetParam());
    expect_exact(mm);
    for (size_t i = 0; i + 1 < 65; ++i)
      for (size_t j = 73; j < 76; ++j) EXPECT_EQ(mm.c.at(i, j), 0x7f7f7f7f) << i << "," << j;
  }
}

TEST_P(TileMmInt8Test, NothingToDo) {
  for (const Size& s : {Size{0, 5, 5}, Size{5, 0, 5}, Size{5, 3, 0}}) {
    MmInt8 mm(s, Layout::kRows, Layout::kRows);
    fill(mm);
    mm.run(GetParam());
    expect_exact(mm);
  }
}

// 140,000 products of 2^14 pass 2^31.
TEST_P(TileMmInt8Test, SumsWrap) {
  MmInt8 mm({1, 2, 140000}, Layout::kRows, Layout::kRows);
  mm.a.fill([] { return int8_t{-128}; });
  mm.b.fill([] { return int8_t{-128}; });
  mm.run(GetParam());
  EXPECT_LT(mm.c.at(0, 0), 0);
  expect_exact(mm);
}

TEST_P(TileMmInt8Test, BitsDoNotDependOnTheSplit) {
  for (Layout right : kLayouts) expect_split_keeps_bits({70, 150, 600}, Layout::kRows, right);
}

TENON_TEST_THESE_ROWS(TileMmInt8Test, tile_mm_rows("mm_i32_i8_i8"));

}  // namespace
}  // namespace tenon::test
