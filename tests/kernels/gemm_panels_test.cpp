// Every row of the panel tables: packing puts each element where the layout says and nothing
// elsewhere; products lie within the bound of isa/gemm.h and have the bits of the dot-form kernel.
#include "isa/gemm_panels.h"

#include <cmath>
#include <string>
#include <vector>

#include "dispatch/tables.h"
#include "isa/gemm_panel_pack.h"
#include "tests/support/guarded.h"
#include "tests/support/rows.h"
#include "tests/support/stored.h"
#include "tests/support/values.h"

namespace tenon::test {
namespace {

class GemmPanelPackTest : public ::testing::TestWithParam<Kernel<GemmPanelPack>> {};
class GemmPanelsTest : public ::testing::TestWithParam<Kernel<GemmPanels>> {};

// The layouts of all machines: any pack kernel may serve any panel kernel.
std::vector<PanelLayout> layouts() {
  std::vector<PanelLayout> all;
  for (const uint64_t need :
       {uint64_t{kNone}, uint64_t{kAvx2}, uint64_t{kAvx512}, uint64_t{kNeon}}) {
    const PanelShape shape = panel_shape(need);
    all.push_back({shape.lanes, shape.rows});
    all.push_back({shape.lanes, shape.columns});
  }
  return all;
}

size_t panels_of(const PanelLayout& l, size_t n) { return (n + l.width - 1) / l.width; }

size_t place(const PanelLayout& l, size_t k, size_t j, size_t p) {
  return j / l.width * l.size(k) + p % l.lanes * l.lane(k) + p / l.lanes * l.width + j % l.width;
}

struct Matrix {
  size_t n, k;
  bool by_rows, gaps;

  size_t step() const { return gaps ? 2 : 1; }
  size_t row() const { return by_rows ? k * step() + 3 : step(); }
  size_t column() const { return by_rows ? step() : n * step() + 1; }
  size_t elements() const { return n * k == 0 ? 0 : (n - 1) * row() + (k - 1) * column() + 1; }
};

void check_pack(const Kernel<GemmPanelPack>& kernel, const Matrix& m, const PanelLayout& layout,
                Flush flush) {
  Stored x(buffer_types(kernel.op)[1], m.elements(), flush);
  auto rng = make_rng(m.n * 131 + m.k);
  std::uniform_int_distribution<int> number(-128, 127);
  for (size_t i = 0; i < x.size(); ++i) x.set(i, number(rng) / 64.0 + 3);
  const auto size = static_cast<ptrdiff_t>(size_of_type(x.type()));
  Guarded<float> y(panels_of(layout, m.n) * layout.size(m.k), flush);
  for (float& v : y) v = -1;
  kernel.run({m.n, m.k, x.at(0), static_cast<ptrdiff_t>(m.row()) * size,
              static_cast<ptrdiff_t>(m.column()) * size, layout, y.data()});
  for (size_t j = 0; j < panels_of(layout, m.n) * layout.width; ++j)
    for (size_t p = 0; p < layout.steps(m.k) * layout.lanes; ++p) {
      const bool there = j < m.n && p < m.k;
      ASSERT_EQ(y[place(layout, m.k, j, p)], there ? x[j * m.row() + p * m.column()] : 0)
          << m.n << "x" << m.k << " width " << layout.width << ": " << j << "," << p;
    }
}

TEST_P(GemmPanelPackTest, PutsEveryElementInItsPlace) {
  TENON_SKIP_UNLESS_RUNNABLE(GetParam());
  for (const PanelLayout& layout : layouts())
    for (size_t n : {0, 1, 5, 6, 7, 15, 32, 39})
      for (size_t k : {0, 1, 7, 8, 9, 16, 33})
        for (int how = 0; how < 4; ++how) {
          const Matrix m{n, k, (how & 1) != 0, (how & 2) != 0};
          check_pack(GetParam(), m, layout, (n + k) % 2 == 0 ? Flush::kEnd : Flush::kBegin);
        }
}

// Rows of `count` x k random numbers, as they lie and as panels.
struct Operand {
  size_t count, k;
  PanelLayout layout;
  Guarded<float> rows, panels;

  Operand(size_t n, size_t depth, PanelLayout l, uint64_t seed)
      : count(n), k(depth), layout(l), rows(n * depth), panels(panels_of(l, n) * l.size(depth)) {
    auto rng = make_rng(seed);
    fill_uniform(rows.data(), n * depth, rng);
    for (float& v : panels) v = 0;
    for (size_t j = 0; j < n; ++j)
      for (size_t p = 0; p < depth; ++p) panels[place(l, depth, j, p)] = rows[j * depth + p];
  }
  ptrdiff_t row() const { return static_cast<ptrdiff_t>(k * sizeof(float)); }
};

const Kernel<Gemm>* dot_form(uint64_t need) {
  for (const Kernel<Gemm>& k : kGemm)
    if (std::string(k.op) == "gemm_f32_f32_f32" && k.need == need) return &k;
  return nullptr;
}

void check_product(const Kernel<GemmPanels>& kernel, size_t m, size_t n, size_t k, size_t gap) {
  const PanelShape shape = panel_shape(kernel.need);
  Operand a(m, k, {shape.lanes, shape.rows}, m + k), b(n, k, {shape.lanes, shape.columns}, n + 7);
  const size_t row = n + gap;
  Guarded<float> y((m - 1) * row + n), same(m * n);
  for (float& v : y) v = 7;
  kernel.run({m, n, k, a.panels.data(), b.panels.data(), y.data(),
              static_cast<ptrdiff_t>(row * sizeof(float))});
  dot_form(kernel.need)
      ->run({m, n, k, a.rows.data(), a.row(), b.rows.data(), b.row(), same.data(),
             static_cast<ptrdiff_t>(n * sizeof(float)), sizeof(float)});
  for (size_t i = 0; i < m; ++i) {
    for (size_t j = 0; j < n; ++j) {
      double want = 0, scale = 0;
      for (size_t p = 0; p < k; ++p) {
        const double product = double{a.rows[i * k + p]} * b.rows[j * k + p];
        want += product, scale += std::fabs(product);
      }
      const float got = y[i * row + j];
      ASSERT_LE(std::fabs(got - want), (static_cast<double>(k) + 2) * kGemmUnit * scale)
          << m << "x" << n << "x" << k << " at " << i << "," << j;
      ASSERT_EQ(std::memcmp(&got, &same[i * n + j], sizeof got), 0)
          << m << "x" << n << "x" << k << " at " << i << "," << j;
    }
    for (size_t j = n; j < row && i + 1 < m; ++j) ASSERT_EQ(y[i * row + j], 7) << i << "," << j;
  }
}

TEST_P(GemmPanelsTest, MatchesDoubleAndTheDotForm) {
  TENON_SKIP_UNLESS_RUNNABLE(GetParam());
  for (size_t m : {1, 5, 6, 7, 13, 48})
    for (size_t n : {1, 15, 16, 17, 33, 96})
      for (size_t k : {1, 7, 8, 9, 40, 131}) check_product(GetParam(), m, n, k, m % 2);
  for (size_t k : {0, 2047, 2048, 2049, 4500}) check_product(GetParam(), 7, 18, k, 0);
}

TENON_TEST_ROWS(GemmPanelPackTest, kGemmPanelPack);
TENON_TEST_ROWS(GemmPanelsTest, kGemmPanels);

}  // namespace
}  // namespace tenon::test
