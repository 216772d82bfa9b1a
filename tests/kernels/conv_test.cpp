// Every convolution kernel: within the bound of isa/conv.h, with the bits of the reference, and
// nothing outside its outputs is read or written.
#include "isa/conv.h"

#include <cmath>
#include <vector>

#include "dispatch/tables.h"
#include "isa/gemm_panels.h"
#include "tests/support/guarded.h"
#include "tests/support/rows.h"
#include "tests/support/values.h"

namespace tenon::test {
namespace {

class ConvTest : public ::testing::TestWithParam<Kernel<Conv>> {};

// Operands of m rows of weights and n positions. Shifts are 0 to 4, not in order.
struct Problem {
  size_t m, n, taps, channels, gap;
  PanelLayout layout{1, kConvPanel};
  Guarded<float> a, x, bias, y;
  std::vector<size_t> shift;
  bool with_bias;

  size_t panels() const { return (m + kConvPanel - 1) / kConvPanel; }
  size_t y_row() const { return n + gap; }

  Problem(size_t rows, size_t positions, size_t window, size_t depth, size_t between, Flush flush)
      : m(rows),
        n(positions),
        taps(window),
        channels(depth),
        gap(between),
        a(window * panels() * layout.size(depth), flush),
        x(window * depth == 0 ? 0 : depth * (n + 4 + gap) - gap, flush),
        bias(rows, flush),
        y(rows * positions == 0 ? 0 : (rows - 1) * y_row() + positions, flush),
        with_bias((rows + positions) % 2 == 0) {
    auto rng = make_rng(m * 31 + n);
    fill_uniform(a.data(), a.size(), rng);
    fill_uniform(x.data(), x.size(), rng);
    fill_uniform(bias.data(), m, rng);
    for (float& v : y) v = 7;
    for (size_t t = 0; t < taps; ++t) shift.push_back((t * 3 + 4) % 5);
  }
  size_t a_tap() const { return panels() * layout.size(channels); }
  float weight(size_t i, size_t t, size_t c) const {
    return a[t * a_tap() + i / kConvPanel * layout.size(channels) + c * kConvPanel +
             i % kConvPanel];
  }
  ConvArgs args(float* to) const {
    return {m,
            n,
            taps,
            channels,
            a.data(),
            a_tap(),
            layout.size(channels),
            x.data(),
            n + 4 + gap,
            shift.data(),
            with_bias ? bias.data() : nullptr,
            to,
            y_row()};
  }
};

void check(const Kernel<Conv>& kernel, Problem& p) {
  kernel.run(p.args(p.y.data()));
  std::vector<float> same(p.y.size(), 7);
  conv_f32_f32_f32_ref(p.args(same.data()));
  const double terms = static_cast<double>(p.taps * p.channels);
  for (size_t i = 0; i < p.m; ++i) {
    for (size_t j = 0; j < p.n; ++j) {
      double want = p.with_bias ? double{p.bias[i]} : 0.0, scale = std::fabs(want);
      for (size_t t = 0; t < p.taps; ++t)
        for (size_t c = 0; c < p.channels; ++c) {
          const double product =
              double{p.weight(i, t, c)} * p.x[c * (p.n + 4 + p.gap) + p.shift[t] + j];
          want += product, scale += std::fabs(product);
        }
      ASSERT_LE(std::fabs(p.y[i * p.y_row() + j] - want), (terms + 1) * kGemmUnit * scale)
          << p.m << "x" << p.n << "x" << p.taps << "x" << p.channels << " at " << i << "," << j;
    }
  }
  ASSERT_EQ(std::memcmp(p.y.data(), same.data(), same.size() * sizeof(float)), 0)
      << p.m << "x" << p.n << "x" << p.taps << "x" << p.channels;
}

TEST_P(ConvTest, MatchesDoubleAndTheReference) {
  TENON_SKIP_UNLESS_RUNNABLE(GetParam());
  for (size_t m : {1, 2, 3, 4, 8})
    for (size_t n : {1, 7, 31, 32, 33, 70})
      for (size_t taps : {1, 3, 9, 10})
        for (size_t channels : {1, 2, 3, 4, 9}) {
          Problem p(m, n, taps, channels, m % 2, n % 2 == 0 ? Flush::kEnd : Flush::kBegin);
          check(GetParam(), p);
        }
  Problem large(5, 600, 9, 40, 3, Flush::kEnd);
  check(GetParam(), large);
}

TEST_P(ConvTest, NothingToAddGivesTheBias) {
  TENON_SKIP_UNLESS_RUNNABLE(GetParam());
  for (size_t channels : {0, 1}) {
    Problem p(4, 40, channels == 0 ? 3 : 0, channels, 0, Flush::kEnd);
    check(GetParam(), p);
  }
}

TENON_TEST_ROWS(ConvTest, kConv);

}  // namespace
}  // namespace tenon::test
