// The loops around the gemm kernels: every storage type, layout and ending against double, the same
// bits for a product alone and in a batch, and what the plan says about machines and shapes.
#include "dispatch/gemm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <iterator>
#include <string>
#include <utility>

#include "dispatch/env.h"
#include "isa/gemm.h"
#include "tests/support/effort.h"
#include "tests/support/stored.h"
#include "tests/support/values.h"

namespace tenon::test {
namespace {

const char* const kTypes[] = {"f32", "bf16", "f16", "i8"};

// Operands and result of one problem. A layout bit transposes that matrix in memory.
struct Job {
  enum Layout { kDense = 0, kA = 1, kB = 2, kC = 4, kY = 8, kCRow = 16, kCColumn = 32 };

  GemmProblem p{};
  int layout;
  Stored a, b, c, y;

  Job(GemmType type, int64_t batch, int64_t m, int64_t n, int64_t k, int how)
      : layout(how),
        a(name(type), static_cast<size_t>(batch * m * k)),
        b(name(type), static_cast<size_t>(batch * k * n)),
        c(name(type), static_cast<size_t>(batch * m * n)),
        y(type == GemmType::kI8 ? "i32" : name(type), static_cast<size_t>(batch * m * n)) {
    auto rng = make_rng(static_cast<uint64_t>(m * 31 + n * 7 + k));
    std::uniform_real_distribution<double> real(-2, 2);
    std::uniform_int_distribution<int> byte(-128, 127);
    for (Stored* x : {&a, &b, &c})
      for (size_t i = 0; i < x->size(); ++i) x->set(i, x->integral() ? byte(rng) : real(rng));
    p.type = type, p.batch = batch, p.m = m, p.n = n, p.k = k;
    p.a = matrix(a, m, k, how & kA), p.b = matrix(b, k, n, how & kB);
    const GemmMatrix out = matrix(y, m, n, how & kY);
    p.y = y.at(0), p.y_batch = out.batch, p.y_row = out.row, p.y_column = out.column;
    p.alpha = 1;
  }

  static const char* name(GemmType type) { return kTypes[static_cast<size_t>(type)]; }

  static GemmMatrix matrix(const Stored& x, int64_t rows, int64_t columns, bool transposed) {
    const auto size = static_cast<ptrdiff_t>(size_of_type(x.type()));
    return {x.at(0), rows * columns * size, transposed ? size : columns * size,
            transposed ? rows * size : size};
  }

  void add_c(float alpha, float beta) {
    p.alpha = alpha, p.beta = beta;
    p.c = matrix(c, p.m, p.n, layout & kC);
    if (layout & kCRow) p.c.row = p.c.batch = 0;
    if (layout & kCColumn) p.c.column = 0;
  }

  static double at(const Stored& x, const GemmMatrix& m, int64_t b, int64_t i, int64_t j) {
    const auto size = static_cast<ptrdiff_t>(size_of_type(x.type()));
    return x[static_cast<size_t>((b * m.batch + i * m.row + j * m.column) / size)];
  }

  void expect_right() {
    const GemmMatrix out = matrix(y, p.m, p.n, layout & kY);
    for (int64_t b0 = 0; b0 < p.batch; ++b0)
      for (int64_t i = 0; i < p.m; ++i)
        for (int64_t j = 0; j < p.n; ++j) expect_element(out, b0, i, j);
  }

  void expect_element(const GemmMatrix& out, int64_t b0, int64_t i, int64_t j) {
    double sum = 0, magnitude = 0;
    for (int64_t q = 0; q < p.k; ++q) {
      const double product = at(a, p.a, b0, i, q) * at(b, p.b, b0, q, j);
      sum += product, magnitude += std::fabs(product);
    }
    const double added = p.c.data == nullptr ? 0 : double{p.beta} * at(c, p.c, b0, i, j);
    const double want = p.alpha * sum + added;
    const double scale = std::fabs(p.alpha) * magnitude + std::fabs(added);
    const double storage = y.type() == "f32" || y.integral() ? 0
                           : y.type() == "bf16"              ? 0x1p-9
                                                             : 0x1p-12;
    const double bound =
        p.type == GemmType::kI8 ? 0 : (static_cast<double>(p.k) + 4) * kGemmUnit * scale;
    ASSERT_LE(std::fabs(at(y, out, b0, i, j) - want),
              bound + (std::fabs(want) + bound) * 2 * storage)
        << y.type() << " " << p.m << "x" << p.n << "x" << p.k << " layout " << layout << " at "
        << b0 << "," << i << "," << j;
  }
};

TEST(RunGemm, MatchesDoubleInEveryLayout) {
  const int64_t sizes[][3] = {{1, 1, 1},   {1, 40, 20}, {3, 70, 33}, {7, 40, 16},
                              {40, 1, 20}, {50, 6, 33}, {33, 50, 20}};
  for (const GemmType type : {GemmType::kF32, GemmType::kBf16, GemmType::kF16})
    for (const auto& s : sizes)
      for (int layout = s[0] % 3; layout < 64; layout += share() > 1 ? 7 : 3) {
        Job job(type, layout % 4 == 0 ? 3 : 1, s[0], s[1], s[2], layout);
        if (layout >= 4) job.add_c(layout % 5 == 0 ? 1.0f : 0.75f, layout % 7 == 0 ? 1.0f : -1.5f);
        run_gemm(GemmEngine::kF32, job.p);
        job.expect_right();
      }
}

TEST(RunGemm, MatchesDoubleInBlocks) {
  const int layouts[] = {0, 20, 36, 2, 3, 8, 4};
  for (const GemmType type : {GemmType::kF32, GemmType::kBf16, GemmType::kF16})
    for (size_t i = 0; i < fewer(std::size(layouts), 2); ++i) {
      const int layout = layouts[i];
      Job job(type, 1, 100, 110, 90, layout), tall(type, 2, 110, 97, 35, layout);
      if (layout >= 4) job.add_c(0.75f, -1.5f), tall.add_c(1, 1);
      run_gemm(GemmEngine::kF32, job.p);
      run_gemm(GemmEngine::kF32, tall.p);
      job.expect_right();
      tall.expect_right();
    }
}

// The engines of other machines run here on their reference kernels.
TEST(RunGemm, MatchesDoubleOnEveryEngine) {
  const std::pair<GemmEngine, GemmType> engines[] = {{GemmEngine::kBf16, GemmType::kBf16},
                                                     {GemmEngine::kI16, GemmType::kI8},
                                                     {GemmEngine::kVnni, GemmType::kI8},
                                                     {GemmEngine::kTiles, GemmType::kBf16},
                                                     {GemmEngine::kTiles, GemmType::kI8}};
  const int64_t sizes[][3] = {{1, 1, 1}, {1, 40, 20}, {9, 70, 33}, {40, 6, 20}, {36, 49, 66}};
  for (const auto& [engine, type] : engines)
    for (const auto& s : sizes)
      for (int layout : {0, 3, 10}) {
        Job job(type, layout % 3 == 0 ? 2 : 1, s[0], s[1], s[2], layout);
        run_gemm(engine, job.p);
        job.expect_right();
      }
}

// Beyond the range of the bf16 planes the f32 kernels take over.
TEST(RunGemm, TilesGiveWayOutOfRange) {
  for (const float big : {1.0f, INFINITY}) {
    Job job(GemmType::kF32, 2, 40, 70, 96, 0), want(GemmType::kF32, 2, 40, 70, 96, 0);
    job.a.set(5, big), want.a.set(5, big);
    run_gemm(GemmEngine::kTiles, job.p);
    run_gemm(GemmEngine::kF32, want.p);
    for (size_t i = 0; i < job.y.size(); ++i) {
      if (std::isfinite(want.y[i]))
        ASSERT_NEAR(job.y[i], want.y[i], 1e-3);
      else
        ASSERT_EQ(std::isnan(job.y[i]), std::isnan(want.y[i]));
    }
  }
}

TEST(RunGemm, MayWriteOverC) {
  Job job(GemmType::kBf16, 2, 5, 40, 30, 0), want(GemmType::kBf16, 2, 5, 40, 30, 0);
  job.add_c(1, 1);
  want.add_c(1, 1);
  run_gemm(GemmEngine::kF32, want.p);
  job.p.y = job.c.at(0);
  run_gemm(GemmEngine::kF32, job.p);
  EXPECT_EQ(std::memcmp(job.c.at(0), want.y.at(0), want.y.bytes()), 0);
}

// Row i of a product of 100 rows has the bits of a product of that row alone.
TEST(RunGemm, SameBitsForARowAloneAndInABatch) {
  for (const GemmType type : {GemmType::kF32, GemmType::kBf16})
    for (int layout : {0, int{Job::kB}}) {
      Job all(type, 1, 100, 150, 333, layout);
      run_gemm(GemmEngine::kF32, all.p);
      for (int64_t rows : {1, 2, 5, 8, 9, 33, 96}) {
        Job few(type, 1, rows, 150, 333, layout);
        std::memcpy(few.a.at(0), all.a.at(0), few.a.bytes());
        std::memcpy(few.b.at(0), all.b.at(0), few.b.bytes());
        run_gemm(GemmEngine::kF32, few.p);
        EXPECT_EQ(std::memcmp(few.y.at(0), all.y.at(0), few.y.bytes()), 0) << rows << " " << layout;
      }
    }
}

TEST(PlanGemm, KnowsMachinesAndShapes) {
  const Cpu baseline{}, avx2{kAvx2, 0};
  const GemmShape decode{GemmType::kBf16, 1, 1, 4096, 4096, false};
  const GemmShape prefill{GemmType::kF32, 1, 512, 4096, 4096, false};
  EXPECT_EQ(plan_gemm(decode, baseline), GemmEngine::kStock);
  EXPECT_EQ(plan_gemm(decode, avx2), GemmEngine::kF32);
  EXPECT_EQ(plan_gemm(prefill, avx2), GemmEngine::kStock);
  const Cpu zen4{kAvx2 | kAvx512 | kAvx512Vnni | kAvx512Bf16 | kOwnBits, 0};
  const Cpu reproducible{zen4.features & ~uint64_t{kOwnBits}, 0};
  const GemmShape cold{GemmType::kBf16, 1, 128, 7168, 7168, false};
  EXPECT_EQ(plan_gemm(cold, zen4), GemmEngine::kBf16);
  EXPECT_EQ(plan_gemm(cold, reproducible), GemmEngine::kStock);
  EXPECT_EQ(plan_gemm(cold, avx2), GemmEngine::kF32);
  const Cpu spr{zen4.features | kAmxInt8 | kAmxBf16, 0};
  EXPECT_EQ(plan_gemm(prefill, spr), GemmEngine::kTiles);
  EXPECT_EQ(plan_gemm(cold, spr), GemmEngine::kTiles);
  EXPECT_EQ(plan_gemm(decode, spr), GemmEngine::kF32);
  const GemmShape bytes{GemmType::kI8, 1, 64, 64, 64, true};
  EXPECT_EQ(plan_gemm(bytes, zen4), GemmEngine::kVnni);
  EXPECT_EQ(plan_gemm(bytes, avx2), GemmEngine::kI16);
  EXPECT_EQ(plan_gemm(bytes, spr), GemmEngine::kTiles);
}

}  // namespace
}  // namespace tenon::test
