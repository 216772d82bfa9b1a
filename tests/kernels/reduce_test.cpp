// Every row of the reduction table against double (sums) or the exact answer (maxima, integers):
// rows and columns of all sizes around the vector, tile and block, strides, both guard pages,
// special values; the same bits as the reference, and for one row alone as in a batch.
#include <cmath>
#include <string>
#include <vector>

#include "dispatch/tables.h"
#include "tests/support/guarded.h"
#include "tests/support/rows.h"
#include "tests/support/values.h"

namespace tenon::test {
namespace {

class ReduceTest : public ::testing::TestWithParam<Kernel<Reduce>> {};

const Kernel<Reduce>& reference(const Kernel<Reduce>& k) { return *pick(kReduce, k.op, Cpu{}); }

bool ends_with(const char* op, const char* type) {
  const std::string s = op, t = std::string("_") + type;
  return s.size() > t.size() && s.compare(s.size() - t.size(), t.size(), t) == 0;
}

struct Shape {
  size_t outer, n, inner;
  size_t padding = 0;  // elements between rows, where inner > 1, and between outer blocks
};

template <class X>
ReduceArgs args_of(const Shape& s, const X* x, void* y, float divisor = 1) {
  const size_t row = s.inner == 1 ? 1 : s.inner + s.padding;
  return {s.outer,
          s.n,
          s.inner,
          static_cast<ptrdiff_t>((s.n * row + s.padding) * sizeof(X)),
          static_cast<ptrdiff_t>(row * sizeof(X)),
          divisor,
          x,
          y};
}

template <class X>
size_t extent(const Shape& s) {
  const size_t row = s.inner == 1 ? 1 : s.inner + s.padding;
  if (s.outer * s.n * s.inner == 0) return 0;
  return (s.outer - 1) * (s.n * row + s.padding) + (s.n - 1) * row + s.inner;
}

template <class X>
double value(X x) {
  if constexpr (std::is_integral_v<X>)
    return static_cast<double>(x);
  else
    return to_f32(x);
}

template <class X>
const X& element(const ReduceArgs& a, size_t o, size_t i, size_t j) {
  const char* p = static_cast<const char*>(a.x) + static_cast<ptrdiff_t>(o) * a.outer_stride +
                  static_cast<ptrdiff_t>(i) * a.stride;
  return reinterpret_cast<const X*>(p)[j];
}

template <class X, class Y>
void expect_sum(const ReduceArgs& a, size_t o, size_t j, Y got) {
  double want = 0, size = 0;
  for (size_t i = 0; i < a.n; ++i) {
    want += value(element<X>(a, o, i, j));
    size += std::fabs(value(element<X>(a, o, i, j)));
  }
  want /= a.divisor;
  const double bound =
      reduce_terms(a.n, a.inner == 1 && a.stride == sizeof(X)) * 0x1p-24 * size / a.divisor +
      ulp_at<float>(want) / 2 + ulp_at<Y>(want) / 2;
  ASSERT_LE(std::fabs(to_f32(got) - want), bound) << "y[" << o << "][" << j << "]";
}

template <class X>
void expect_max(const ReduceArgs& a, size_t o, size_t j, X got) {
  float want = -INFINITY;
  for (size_t i = 0; i < a.n; ++i) {
    const float x = to_f32(element<X>(a, o, i, j));
    want = std::isnan(x) || std::isnan(want) ? NAN : std::max(x, want);
  }
  if (std::isnan(want))
    ASSERT_TRUE(std::isnan(to_f32(got)));
  else
    ASSERT_EQ(to_f32(got), want) << "y[" << o << "][" << j << "]";
}

// Runs the kernel and its reference on one input and compares bits, then each result with double.
template <class X, class Y>
void check(const Kernel<Reduce>& k, const Shape& s, const std::vector<X>& pool, Flush flush) {
  SCOPED_TRACE(::testing::Message() << s.outer << "x" << s.n << "x" << s.inner);
  const bool is_max = std::string(k.op).rfind("amax", 0) == 0;
  const float divisor = is_max || std::is_integral_v<X> || s.n % 2 ? 1 : static_cast<float>(s.n);
  Guarded<X> x(extent<X>(s), flush);
  for (size_t i = 0; i < x.size(); ++i) x[i] = pool[(i + s.n) % pool.size()];
  Guarded<Y> y(s.outer * s.inner, flush), z(s.outer * s.inner, flush);
  const ReduceArgs a = args_of(s, x.data(), y.data(), divisor);
  k.run(a);
  reference(k).run(args_of(s, x.data(), z.data(), divisor));
  ASSERT_TRUE(y.size() == 0 || std::memcmp(y.data(), z.data(), y.size() * sizeof(Y)) == 0);
  for (size_t o = 0; o < s.outer; ++o)
    for (size_t j = 0; j < s.inner; ++j) {
      if constexpr (std::is_same_v<Y, int64_t>)
        continue;  // the reference is exact
      else if (is_max)
        expect_max<Y>(a, o, j, y[o * s.inner + j]);
      else
        expect_sum<X, Y>(a, o, j, y[o * s.inner + j]);
    }
}

std::vector<Shape> shapes() {
  std::vector<Shape> all = {{3, 4096, 1}, {2, 4161, 1},   {1, 70000, 1}, {0, 5, 1},      {3, 5, 0},
                            {1, 1024, 3}, {1, 130, 1024}, {1, 9, 1025},  {2, 3, 2100, 7}};
  for (size_t n = 1; n < 140; ++n) all.push_back({2, n, 1, n % 3});
  for (size_t inner : {2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65, 100})
    for (size_t n : {1, 2, 3, 7, 8, 9, 63, 64, 65, 130}) all.push_back({2, n, inner, inner % 4});
  return all;
}

template <class X>
std::vector<X> random_pool(size_t n) {
  auto rng = make_rng(n);
  std::vector<X> pool(n);
  std::uniform_int_distribution<int64_t> bits;
  for (X& v : pool) {
    if constexpr (std::is_integral_v<X>)
      v = static_cast<X>(bits(rng));
    else
      fill_uniform(&v, 1, rng);
  }
  if constexpr (sizeof(X) == 1)  // every other byte zero or one, as bools are
    for (size_t i = 0; i < n; i += 2) pool[i] &= 1;
  return pool;
}

template <class X, class Y>
void check_shapes(const Kernel<Reduce>& k) {
  const std::vector<X> pool = random_pool<X>(100003);
  for (const Shape& s : shapes()) {
    check<X, Y>(k, s, pool, Flush::kEnd);
    check<X, Y>(k, s, pool, Flush::kBegin);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

template <class X>
void check_output(const Kernel<Reduce>& k) {
  const std::string op = k.op;
  if (op.find("_f32_") != std::string::npos)
    check_shapes<X, float>(k);
  else if (op.find("_bf16_") != std::string::npos)
    check_shapes<X, bf16>(k);
  else
    check_shapes<X, f16>(k);
}

TEST_P(ReduceTest, MatchesDoubleAndReference) {
  const Kernel<Reduce>& k = GetParam();
  TENON_SKIP_UNLESS_RUNNABLE(k);
  if (ends_with(k.op, "b8") || ends_with(k.op, "u8"))
    check_shapes<uint8_t, int64_t>(k);
  else if (ends_with(k.op, "i32"))
    check_shapes<int32_t, int64_t>(k);
  else if (ends_with(k.op, "bf16"))
    check_output<bf16>(k);
  else if (ends_with(k.op, "f16"))
    check_output<f16>(k);
  else
    check_output<float>(k);
}

// Every special value at every place of a short row or column: NaN and infinities win as they
// should, and the sign of a zero maximum is the reference's.
template <class X>
void check_specials(const Kernel<Reduce>& k) {
  for (float special : special_values())
    for (size_t inner : {1, 3, 40})
      for (size_t at = 0; at < 70; at += 3) {
        std::vector<X> x(70 * inner, from_f32<X>(at % 2 ? -0.0f : 0.0f));
        for (size_t j = 0; j < inner; ++j) x[at * inner + j] = from_f32<X>(special);
        std::vector<X> y(inner), z(inner);
        k.run(args_of({1, 70, inner}, x.data(), y.data()));
        reference(k).run(args_of({1, 70, inner}, x.data(), z.data()));
        ASSERT_EQ(std::memcmp(y.data(), z.data(), inner * sizeof(X)), 0) << special << " " << at;
        expect_max<X>(args_of({1, 70, inner}, x.data(), y.data()), 0, 0, y[0]);
      }
}

TEST_P(ReduceTest, MaximumOfSpecialValues) {
  const Kernel<Reduce>& k = GetParam();
  TENON_SKIP_UNLESS_RUNNABLE(k);
  if (std::string(k.op) == "amax_f32_f32")
    check_specials<float>(k);
  else if (std::string(k.op) == "amax_bf16_bf16")
    check_specials<bf16>(k);
  else if (std::string(k.op) == "amax_f16_f16")
    check_specials<f16>(k);
}

TEST_P(ReduceTest, SumOfNegativeZerosIsZeroAndOfNaNIsNaN) {
  const Kernel<Reduce>& k = GetParam();
  TENON_SKIP_UNLESS_RUNNABLE(k);
  if (std::string(k.op) != "sum_f32_f32") return;
  for (size_t n : {1, 8, 9, 64, 100}) {
    std::vector<float> x(n, -0.0f);
    float y = 1;
    k.run(args_of({1, n, 1}, x.data(), &y));
    EXPECT_EQ(bits_of(y), 0u) << n;
    x[n / 2] = NAN;
    k.run(args_of({1, n, 1}, x.data(), &y));
    EXPECT_TRUE(std::isnan(y)) << n;
  }
}

TEST_P(ReduceTest, OneRowGivesTheBitsOfABatch) {
  const Kernel<Reduce>& k = GetParam();
  TENON_SKIP_UNLESS_RUNNABLE(k);
  if (std::string(k.op) != "sum_f32_f32") return;
  const std::vector<float> x = random_pool<float>(1000 * 9);
  std::vector<float> batch(9), columns(1000);
  k.run(args_of({9, 1000, 1}, x.data(), batch.data()));
  k.run(args_of({1, 9, 1000}, x.data(), columns.data()));
  for (size_t o = 0; o < 9; ++o) {
    float alone;
    k.run(args_of({1, 1000, 1}, x.data() + o * 1000, &alone));
    EXPECT_EQ(bits_of(alone), bits_of(batch[o]));
  }
  for (size_t j = 0; j < 1000; j += 7) {
    float pair[2];
    ReduceArgs a = args_of({1, 9, 1000}, x.data() + j, pair);
    for (size_t inner : {1, 2}) {
      a.inner = inner;
      k.run(a);
      EXPECT_EQ(bits_of(pair[0]), bits_of(columns[j]));
    }
  }
}

TENON_TEST_ROWS(ReduceTest, kReduce);

}  // namespace
}  // namespace tenon::test
