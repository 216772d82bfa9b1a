// Every row of the packing and ending tables of matrix products: exact copies from any strides, and
// the scaled sum within the header's bound.
#include "isa/gemm_pack.h"

#include <cmath>
#include <vector>

#include "dispatch/tables.h"
#include "isa/gemm_end.h"
#include "tests/support/guarded.h"
#include "tests/support/rows.h"
#include "tests/support/stored.h"
#include "tests/support/values.h"

namespace tenon::test {
namespace {

class GemmPackTest : public ::testing::TestWithParam<Kernel<GemmPack>> {};
class GemmEndTest : public ::testing::TestWithParam<Kernel<GemmEnd>> {};

enum class Layout { kRows, kColumns, kNeither };

// x of n x k elements in a layout, with one element between neighbours in kNeither.
void check_pack(const Kernel<GemmPack>& kernel, size_t n, size_t k, Layout layout, Flush flush) {
  const auto types = buffer_types(kernel.op);
  const size_t row = layout == Layout::kRows ? k + 3 : layout == Layout::kColumns ? 1 : 2 * k + 1;
  const size_t column = layout == Layout::kRows ? 1 : layout == Layout::kColumns ? n + 1 : 2;
  Stored x(types[1], n * k == 0 ? 0 : (n - 1) * row + (k - 1) * column + 1, flush);
  Stored y(types[0], n * k, flush);
  auto rng = make_rng(n * 131 + k);
  std::uniform_int_distribution<int> byte(-128, 127);
  for (size_t i = 0; i < x.size(); ++i) x.set(i, x.integral() ? byte(rng) : byte(rng) / 64.0);
  const auto size = static_cast<ptrdiff_t>(size_of_type(x.type()));
  kernel.run({n, k, x.at(0), static_cast<ptrdiff_t>(row) * size,
              static_cast<ptrdiff_t>(column) * size, y.at(0),
              static_cast<ptrdiff_t>(k * size_of_type(y.type()))});
  const double shift = y.type() == "u8" ? 128 : 0;
  for (size_t j = 0; j < n; ++j)
    for (size_t p = 0; p < k; ++p)
      ASSERT_EQ(y[j * k + p], x[j * row + p * column] + shift)
          << n << "x" << k << ": " << j << "," << p;
}

TEST_P(GemmPackTest, CopiesFromAnyStrides) {
  TENON_SKIP_UNLESS_RUNNABLE(GetParam());
  for (const Layout layout : {Layout::kRows, Layout::kColumns, Layout::kNeither})
    for (size_t n : {0, 1, 7, 8, 9, 33, 64, 100})
      for (size_t k : {0, 1, 7, 8, 9, 16, 33, 70}) {
        check_pack(GetParam(), n, k, layout, Flush::kEnd);
        check_pack(GetParam(), n, k, layout, Flush::kBegin);
      }
}

struct EndCase {
  size_t n;
  float alpha, beta;
  bool with_c, in_place;
  size_t c_step;
};

void check_end(const Kernel<GemmEnd>& kernel, const EndCase& e) {
  const std::string type = buffer_types(kernel.op)[0];
  Guarded<float> x(e.n);
  Stored c(type, e.c_step == 0 ? 1 : e.n), y(type, e.n);
  auto rng = make_rng(e.n);
  fill_uniform(x.data(), e.n, rng);
  std::uniform_real_distribution<double> real(-2, 2);
  for (size_t i = 0; i < c.size(); ++i) c.set(i, real(rng));
  std::vector<double> want(e.n), scale(e.n);
  for (size_t i = 0; i < e.n; ++i) {
    const double ax = double{e.alpha} * x[i];
    const double bc = e.with_c ? double{e.beta} * c[i * e.c_step] : 0;
    want[i] = ax + bc, scale[i] = std::fabs(ax) + std::fabs(bc);
  }
  Stored& out = e.in_place ? c : y;
  kernel.run({e.n, e.alpha, e.beta, x.data(), e.with_c ? c.at(0) : nullptr, e.c_step, out.at(0)});
  for (size_t i = 0; i < e.n; ++i) {
    const double storage = type == "f32"    ? 0
                           : type == "bf16" ? 0.5 * ulp_at<bf16>(want[i])
                                            : 0.5 * ulp_at<f16>(want[i]);
    ASSERT_LE(std::fabs(out[i] - want[i]), kGemmEndUlp * ulp_at<float>(scale[i]) + storage * 1.001)
        << kernel.name << " n " << e.n << " at " << i;
  }
}

TEST_P(GemmEndTest, ScalesAddsAndRoundsOnce) {
  TENON_SKIP_UNLESS_RUNNABLE(GetParam());
  for (size_t n = 0; n < 70; ++n) {
    check_end(GetParam(), {n, 1, 0, false, false, 1});
    check_end(GetParam(), {n, 0.3f, 0, false, false, 1});
    check_end(GetParam(), {n, 1, 1, true, false, 1});
    check_end(GetParam(), {n, -0.7f, 2.5f, true, false, 0});
    check_end(GetParam(), {n, 0.7f, 2.5f, true, true, 1});
  }
}

TENON_TEST_ROWS(GemmPackTest, kGemmPack);
TENON_TEST_ROWS(GemmEndTest, kGemmEnd);

}  // namespace
}  // namespace tenon::test
