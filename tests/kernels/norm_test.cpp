// Every row of the norm tables against double: sizes around the vector, the 64 lanes and the block,
// guard pages, absent weights and statistics; the same bits as the reference and for a row alone.
#include <cmath>
#include <string>
#include <vector>

#include "dispatch/tables.h"
#include "isa/sum_order.h"
#include "tests/support/guarded.h"
#include "tests/support/rows.h"
#include "tests/support/storage.h"
#include "tests/support/stored.h"
#include "tests/support/values.h"

namespace tenon::test {
namespace {

// f(T{}, W{}) for the types of x and of the weights.
template <class F>
void with_types(std::string_view op, F f) {
  const std::vector<std::string> types = buffer_types(op);
  if (types[0] == "f32") return f(float{}, float{});
  if (types[0] == "bf16") return types[2] == "f32" ? f(bf16{}, float{}) : f(bf16{}, bf16{});
  return types[2] == "f32" ? f(f16{}, float{}) : f(f16{}, f16{});
}

const size_t kWidths[] = {1, 2, 7, 8, 9, 16, 17, 63, 64, 65, 100, 200};

template <class T>
double half_unit(double want) {
  return std::is_same_v<T, float> ? 0 : ulp_at<T>(want) / 2;
}

class NormTest : public ::testing::TestWithParam<Kernel<Norm>> {
 protected:
  bool layer() const { return std::string_view(GetParam().op).starts_with("layer"); }
};

template <class T, class W>
struct NormCase {
  size_t rows, n;
  Guarded<T> x, y;
  Guarded<W> gamma, beta;
  Guarded<float> mean, rstd;  // room for either type
  NormArgs args;

  NormCase(size_t r, size_t width, bool weights, bool layer, float center, Flush flush)
      : rows(r),
        n(width),
        x(r * n, flush),
        y(r * n, flush),
        gamma(n, flush),
        beta(n, flush),
        mean(r),
        rstd(r) {
    auto rng = make_rng(n);
    fill_uniform(x.data(), r * n, rng, center - 2, center + 2);
    fill_uniform(gamma.data(), n, rng);
    fill_uniform(beta.data(), n, rng);
    args = {r,
            n,
            1e-5f,
            x.data(),
            weights ? gamma.data() : nullptr,
            weights && layer ? beta.data() : nullptr,
            y.data(),
            layer ? mean.data() : nullptr,
            rstd.data()};
  }
  double weight(size_t i) const { return args.gamma != nullptr ? to_f32(gamma[i]) : 1; }
  double offset(size_t i) const { return args.beta != nullptr ? to_f32(beta[i]) : 0; }
};

template <class C>
void expect_exact(const C& c, bool layer) {
  using T = std::remove_cvref_t<decltype(c.y[0])>;
  for (size_t r = 0; r < c.rows; ++r) {
    const auto x = [&](size_t i) -> double { return to_f32(c.x[r * c.n + i]); };
    double mean = 0, squares = 0;
    for (size_t i = 0; i < c.n && layer; ++i) mean += x(i) / static_cast<double>(c.n);
    for (size_t i = 0; i < c.n; ++i) squares += (x(i) - mean) * (x(i) - mean);
    const double rstd = 1 / std::sqrt(squares / static_cast<double>(c.n) + c.args.eps);
    for (size_t i = 0; i < c.n; ++i) {
      const double scaled = (x(i) - mean) * rstd * c.weight(i), want = scaled + c.offset(i);
      const double size =
          std::fabs(scaled) + 2 * std::fabs(c.offset(i)) + std::fabs(mean * rstd * c.weight(i));
      ASSERT_LE(std::fabs(to_f32(c.y[r * c.n + i]) - want),
                kNormUlp * 0x1p-23 * size + half_unit<T>(want))
          << "row " << r << ", column " << i << " of " << c.n;
    }
  }
}

template <class T, class W>
void check(const Kernel<Norm>& k, bool layer, size_t rows, size_t n, bool weights, float center) {
  NormCase<T, W> c(rows, n, weights, layer, center, n % 2 ? Flush::kEnd : Flush::kBegin);
  NormCase<T, W> same(rows, n, weights, layer, center, Flush::kEnd);
  k.run(c.args);
  expect_exact(c, layer);
  pick(kNorm, k.op, Cpu{})->run(same.args);
  ASSERT_TRUE(same_bits(c.y.data(), same.y.data(), rows * n)) << "not the reference's bits";
  const size_t stat = layer ? sizeof(W) : sizeof(float);
  ASSERT_EQ(std::memcmp(c.rstd.data(), same.rstd.data(), rows * stat), 0);
  ASSERT_EQ(std::memcmp(c.mean.data(), same.mean.data(), rows * stat), 0);
  NormArgs alone = same.args;  // the last row, in place, without statistics
  alone.rows = 1;
  alone.x = alone.y = same.x.data() + (rows - 1) * n;
  alone.mean = alone.rstd = nullptr;
  k.run(alone);
  ASSERT_TRUE(same_bits(c.y.data() + (rows - 1) * n, same.x.data() + (rows - 1) * n, n));
}

TEST_P(NormTest, MatchesDoubleAndReference) {
  TENON_SKIP_UNLESS_RUNNABLE(GetParam());
  with_types(GetParam().op, [&](auto x, auto w) {
    using T = decltype(x);
    using W = decltype(w);
    for (const size_t n : kWidths) {
      check<T, W>(GetParam(), layer(), 3, n, true, 0);
      check<T, W>(GetParam(), layer(), 2, n, false, 1);
    }
    check<T, W>(GetParam(), layer(), 2, 2 * kSumBlock + 77, true, 100);
  });
}

TENON_TEST_ROWS(NormTest, kNorm);

class NormBackwardTest : public ::testing::TestWithParam<Kernel<NormBackward>> {
 protected:
  bool layer() const { return std::string_view(GetParam().op).starts_with("layer"); }
};

template <class T, class W, class S>
struct BackwardCase {
  size_t rows, n;
  Guarded<T> dy, x, dx;
  Guarded<W> gamma;
  Guarded<S> mean, rstd;
  Guarded<float> dgamma, dbeta;
  NormBackwardArgs args;

  BackwardCase(size_t r, size_t width, bool weights, bool layer, Flush flush)
      : rows(r),
        n(width),
        dy(r * n, flush),
        x(r * n, flush),
        dx(r * n, flush),
        gamma(n, flush),
        mean(r, flush),
        rstd(r, flush),
        dgamma(n, flush),
        dbeta(n, flush) {
    auto rng = make_rng(n);
    fill_uniform(dy.data(), r * n, rng);
    fill_uniform(x.data(), r * n, rng);
    fill_uniform(gamma.data(), n, rng);
    fill_uniform(mean.data(), r, rng, -1, 1);
    fill_uniform(rstd.data(), r, rng, 0.5f, 2);
    fill_uniform(dgamma.data(), n, rng);
    fill_uniform(dbeta.data(), n, rng);
    args = {r,
            n,
            dy.data(),
            x.data(),
            weights ? gamma.data() : nullptr,
            layer ? mean.data() : nullptr,
            rstd.data(),
            dx.data(),
            dgamma.data(),
            layer ? dbeta.data() : nullptr};
  }
};

template <class T, class W, class S>
void expect_exact(const BackwardCase<T, W, S>& c, bool layer) {
  for (size_t r = 0; r < c.rows; ++r) {
    const double mean = layer ? to_f32(c.mean[r]) : 0, rstd = to_f32(c.rstd[r]);
    const auto u = [&](size_t i) { return (to_f32(c.x[r * c.n + i]) - mean) * rstd; };
    const auto g = [&](size_t i) {
      return to_f32(c.dy[r * c.n + i]) * (c.args.gamma != nullptr ? double{to_f32(c.gamma[i])} : 1);
    };
    double drift = 0, along = 0, drift_size = 0, along_size = 0;
    for (size_t i = 0; i < c.n; ++i) {
      const double count = static_cast<double>(c.n);
      drift += layer ? g(i) / count : 0, drift_size += layer ? std::fabs(g(i)) / count : 0;
      along += g(i) * u(i) / count, along_size += std::fabs(g(i) * u(i)) / count;
    }
    for (size_t i = 0; i < c.n; ++i) {
      const double want = (g(i) - drift - u(i) * along) * rstd;
      const double size = (std::fabs(g(i)) + drift_size + std::fabs(u(i)) * along_size) * rstd;
      ASSERT_LE(std::fabs(to_f32(c.dx[r * c.n + i]) - want),
                kNormBackwardUlp * 0x1p-23 * size + half_unit<T>(want));
    }
  }
}

template <class T, class W, class S>
void check(const Kernel<NormBackward>& k, bool layer, size_t rows, size_t n, bool weights) {
  const Flush flush = n % 2 ? Flush::kEnd : Flush::kBegin;
  BackwardCase<T, W, S> c(rows, n, weights, layer, flush), same(rows, n, weights, layer, flush);
  k.run(c.args);
  expect_exact(c, layer);
  pick(kNormBackward, k.op, Cpu{})->run(same.args);
  ASSERT_TRUE(same_bits(c.dx.data(), same.dx.data(), rows * n)) << "not the reference's bits";
  ASSERT_TRUE(same_bits(c.dgamma.data(), same.dgamma.data(), n));
  ASSERT_TRUE(same_bits(c.dbeta.data(), same.dbeta.data(), n));
  NormBackwardArgs in_place = same.args;  // over dy, no weights' gradients
  in_place.dx = same.dy.data();
  in_place.dgamma = in_place.dbeta = nullptr;
  k.run(in_place);
  ASSERT_TRUE(same_bits(c.dx.data(), same.dy.data(), rows * n));
}

TEST_P(NormBackwardTest, MatchesDoubleAndReference) {
  TENON_SKIP_UNLESS_RUNNABLE(GetParam());
  with_types(GetParam().op, [&](auto x, auto w) {
    using T = decltype(x);
    using W = decltype(w);
    for (const size_t n : kWidths)
      for (const bool weights : {true, false})
        if (layer())
          check<T, W, W>(GetParam(), true, 3, n, weights);
        else
          check<T, W, float>(GetParam(), false, 3, n, weights);
  });
}

TENON_TEST_ROWS(NormBackwardTest, kNormBackward);

class RowFoldTest : public ::testing::TestWithParam<Kernel<RowFold>> {};

TEST_P(RowFoldTest, AddsInOrder) {
  TENON_SKIP_UNLESS_RUNNABLE(GetParam());
  const std::string type = buffer_types(GetParam().op)[0];
  with_storage("_" + type, [&](auto zero) {
    using T = decltype(zero);
    for (const size_t n : kWidths) {
      Guarded<float> x(5 * n);
      Guarded<T> y(n), same(n);
      auto rng = make_rng(n);
      fill_uniform(x.data(), 5 * n, rng);
      GetParam().run(5, n, n, x.data(), y.data());
      pick(kRowFold, GetParam().op, Cpu{})->run(5, n, n, x.data(), same.data());
      for (size_t c = 0; c < n; ++c) {
        float want = 0;
        for (size_t r = 0; r < 5; ++r) want += x[r * n + c];
        ASSERT_EQ(to_f32(y[c]), to_f32(from_f32<T>(want)));
      }
      ASSERT_TRUE(same_bits(y.data(), same.data(), n));
    }
  });
}

TENON_TEST_ROWS(RowFoldTest, kRowFold);

}  // namespace
}  // namespace tenon::test
