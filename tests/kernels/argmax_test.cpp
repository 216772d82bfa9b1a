// Every argmax row against the reference: sizes around the vector, chunk and tile, equal maxima,
// infinities, signed zeros and NaN at every place, guard pages at both ends, no value wanted.
#include <cmath>
#include <string>
#include <vector>

#include "dispatch/tables.h"
#include "tests/support/guarded.h"
#include "tests/support/rows.h"
#include "tests/support/values.h"

namespace tenon::test {
namespace {

class ArgmaxTest : public ::testing::TestWithParam<Kernel<Argmax>> {};

const Kernel<Argmax>& reference(const Kernel<Argmax>& k) { return *pick(kArgmax, k.op, Cpu{}); }

struct Shape {
  size_t outer, n, inner;
};

template <class X>
ArgmaxArgs args_of(const Shape& s, const X* x, X* value, int64_t* index) {
  const auto row = static_cast<ptrdiff_t>(s.inner * sizeof(X));
  return {s.outer, s.n, s.inner, static_cast<ptrdiff_t>(s.n) * row, row, x, value, index};
}

template <class X>
bool same(X a, X b) {
  return std::memcmp(&a, &b, sizeof a) == 0 || (std::isnan(to_f32(a)) && std::isnan(to_f32(b)));
}

// Few different values, so that maxima repeat; now and then a special one.
template <class X, class Memory>
void fill(Memory& x, size_t salt) {
  auto rng = make_rng(salt);
  const bool specials = salt % 3 == 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const uint64_t r = rng();
    const float level = static_cast<float>(r % 40) - 20;
    const std::vector<float>& special = special_values();
    x[i] = from_f32<X>(specials && r % 97 == 0 ? special[(r >> 32) % special.size()] : level);
  }
}

template <class X>
void check(const Kernel<Argmax>& k, const Shape& s, Flush flush) {
  SCOPED_TRACE(::testing::Message() << s.outer << "x" << s.n << "x" << s.inner);
  const size_t out = s.outer * s.inner;
  Guarded<X> x(out * s.n, flush), v(out, flush), w(out, flush);
  Guarded<int64_t> i(out, flush), want(out, flush), alone(out, flush);
  fill<X>(x, s.n + s.inner);
  k.run(args_of(s, x.data(), v.data(), i.data()));
  k.run(args_of<X>(s, x.data(), nullptr, alone.data()));
  reference(k).run(args_of(s, x.data(), w.data(), want.data()));
  for (size_t o = 0; o < out; ++o) {
    ASSERT_EQ(i[o], want[o]) << o;
    ASSERT_EQ(alone[o], want[o]) << o;
    ASSERT_TRUE(same(v[o], w[o])) << o;
  }
}

template <class X>
void check_shapes(const Kernel<Argmax>& k) {
  std::vector<Shape> shapes = {{2, 2048, 1}, {2, 2049, 1},  {1, 10000, 1}, {0, 5, 1},
                               {3, 5, 0},    {1, 20, 1024}, {1, 9, 1025},  {2, 3, 2100}};
  for (size_t n = 1; n < 140; ++n) shapes.push_back({2, n, 1});
  for (size_t inner : {2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 100})
    for (size_t n : {1, 2, 3, 7, 8, 9, 10, 11, 40}) shapes.push_back({2, n, inner});
  for (const Shape& s : shapes) {
    check<X>(k, s, Flush::kEnd);
    check<X>(k, s, Flush::kBegin);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST_P(ArgmaxTest, MatchesReference) {
  const Kernel<Argmax>& k = GetParam();
  TENON_SKIP_UNLESS_RUNNABLE(k);
  if (std::string(k.op) == "argmax_i64_f32") check_shapes<float>(k);
  if (std::string(k.op) == "argmax_i64_bf16") check_shapes<bf16>(k);
  if (std::string(k.op) == "argmax_i64_f16") check_shapes<f16>(k);
}

// The reference itself: where the answer is known.
TEST_P(ArgmaxTest, FirstOfEqualsAndFirstNaN) {
  const Kernel<Argmax>& k = GetParam();
  TENON_SKIP_UNLESS_RUNNABLE(k);
  if (std::string(k.op) != "argmax_i64_f32") return;
  for (size_t inner : {1, 5, 20})
    for (size_t n : {3, 9, 100, 5000}) {
      std::vector<float> x(n * inner, -INFINITY), value(inner);
      std::vector<int64_t> index(inner);
      const auto expect = [&](size_t at, const char* what) {
        k.run(args_of({1, n, inner}, x.data(), value.data(), index.data()));
        for (size_t j = 0; j < inner; ++j) EXPECT_EQ(index[j], static_cast<int64_t>(at)) << what;
      };
      const auto set = [&](size_t i, float v) {
        for (size_t j = 0; j < inner; ++j) x[i * inner + j] = v;
      };
      expect(0, "all equal");
      set(n / 2, -0.0f);
      set(n - 1, 0.0f);
      expect(n / 2, "zeros are equal");
      set(n - 1, INFINITY);
      expect(n - 1, "infinity");
      set(n / 2, NAN);
      expect(n / 2, "NaN before infinity");
      set(n - 2, NAN);
      expect(std::min(n / 2, n - 2), "first NaN");
    }
}

TENON_TEST_ROWS(ArgmaxTest, kArgmax);

}  // namespace
}  // namespace tenon::test
