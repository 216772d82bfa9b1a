// Products split over tasks and threads around the tile kernels, with every form of those kernels
// that this machine can run.
#include "dispatch/tile_gemm.h"

#include <cstring>
#include <limits>

#include "dispatch/parallel.h"
#include "tests/kernels/tile_mm_support.h"

namespace tenon::test {
namespace {

TEST(TileParts, CoverTheThreadsAndPackLittle) {
  const auto expect = [](TileParts got, int64_t rows, int64_t columns) {
    EXPECT_EQ(got.rows, rows);
    EXPECT_EQ(got.columns, columns);
  };
  expect(tile_parts(1024, 1024, 1024, 1), 1, 1);
  expect(tile_parts(1024, 1024, 1024, 4), 2, 2);
  expect(tile_parts(128, 4096, 4096, 2), 1, 2);
  expect(tile_parts(4096, 128, 4096, 2), 2, 1);
  expect(tile_parts(16, 4096, 4096, 3), 1, 3);
  expect(tile_parts(32, 32, 1 << 20, 8), 1, 1);
  expect(tile_parts(64, 64, 64, 8), 1, 1);
}

GemmProblem problem_of(Mm<float, float>& mm) {
  GemmProblem p{};
  p.type = GemmType::kF32;
  p.batch = 1;
  p.m = static_cast<int64_t>(mm.size.m), p.n = static_cast<int64_t>(mm.size.n);
  p.k = static_cast<int64_t>(mm.size.k);
  p.a = {mm.a.data(), 0, mm.a.row(), mm.a.col()};
  p.b = {mm.b.data(), 0, mm.b.row(), mm.b.col()};
  p.y = mm.c.data();
  p.y_row = mm.c.row(), p.y_column = mm.c.col();
  p.alpha = 1;
  return p;
}

class TileGemmTest : public ::testing::TestWithParam<Kernel<TileMm>> {
 protected:
  void SetUp() override { TENON_SKIP_UNLESS_RUNNABLE(GetParam()); }
  std::mt19937_64 rng = make_rng();

  void fill(Matrix<float>& x) {
    std::uniform_real_distribution<float> uniform(-2, 2);
    x.fill([&] { return uniform(rng); });
  }
};

TEST_P(TileGemmTest, TakesContiguousOperands) {
  Mm<float, float> mm({40, 50, 60}, Layout::kRows, Layout::kColumns);
  GemmProblem p = problem_of(mm);
  EXPECT_TRUE(tile_gemm_takes(p));
  p.c = {p.y, 0, p.y_row, p.y_column};
  EXPECT_FALSE(tile_gemm_takes(p)) << "c would be lost with y";
  p.c = {mm.a.data(), 0, 0, 4};
  EXPECT_TRUE(tile_gemm_takes(p));
  p.c = {mm.a.data(), 0, 4, 0};
  EXPECT_TRUE(tile_gemm_takes(p));
  p.c = {mm.a.data(), 0, 4, 160};
  EXPECT_FALSE(tile_gemm_takes(p)) << "c is transposed";
  p.c = {};
  p.a.column = 8;
  EXPECT_FALSE(tile_gemm_takes(p));
  p.type = GemmType::kF16;
  EXPECT_FALSE(tile_gemm_takes(p));
}

// A batch of transposed results, y^T = b^T a^T with a bias, against the kernel called once for
// each.
TEST_P(TileGemmTest, BatchesAndTransposedResults) {
  constexpr int kBatch = 3, kM = 70, kN = 45, kK = 90;
  Matrix<float> a(kBatch * kM, kK, Layout::kRows), b(kBatch * kK, kN, Layout::kRows);
  Matrix<float> y(kBatch * kN, kM, Layout::kRows), bias(1, kN, Layout::kRows);
  fill(a), fill(b), fill(bias);
  GemmProblem p{};
  p.type = GemmType::kF32, p.batch = kBatch;
  p.m = kM, p.n = kN, p.k = kK;
  p.a = {a.data(), kM * a.row(), a.row(), 4};
  p.b = {b.data(), kK * b.row(), b.row(), 4};
  p.c = {bias.data(), 0, 0, 4};
  p.y = y.data(), p.y_batch = kN * y.row(), p.y_row = 4, p.y_column = y.row();
  p.alpha = 2, p.beta = -1;
  ASSERT_TRUE(tile_gemm_takes(p));
  ASSERT_TRUE(run_tile_gemm(GetParam(), p, 6));
  for (size_t batch = 0; batch < kBatch; ++batch) {
    Mm<float, float> one({kN, kM, kK}, Layout::kColumns, Layout::kColumns);
    std::memcpy(one.a.data(), &b.at(batch * kK, 0), kK * kN * sizeof(float));
    std::memcpy(one.b.data(), &a.at(batch * kM, 0), kM * kK * sizeof(float));
    one.args.alpha = 2, one.args.beta = -1;
    one.args.d = bias.data(), one.args.d_row = 4;
    one.run(GetParam());
    for (size_t j = 0; j < kN; ++j)
      for (size_t i = 0; i < kM; ++i)
        ASSERT_EQ(y.at(batch * kN + j, i), one.c.at(j, i)) << batch << ": " << i << "," << j;
  }
}

TEST_P(TileGemmTest, SaysWhenOperandsAreOutOfRange) {
  Mm<float, float> mm({64, 96, 32}, Layout::kRows, Layout::kRows);
  fill(mm.a), fill(mm.b);
  EXPECT_TRUE(run_tile_gemm(GetParam(), problem_of(mm), 6));
  mm.b.at(31, 95) = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(run_tile_gemm(GetParam(), problem_of(mm), 6));
}

TENON_TEST_THESE_ROWS(TileGemmTest, tile_mm_rows("mm_f32"));

}  // namespace
}  // namespace tenon::test
