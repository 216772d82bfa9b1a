// Every row of the gemm table: against double within the header's bound (integers: exactly), both
// guard pages, padded rows, transposed outputs, and the same bits for a row alone as in a batch.
#include "isa/gemm.h"

#include <cmath>
#include <string>
#include <vector>

#include "dispatch/tables.h"
#include "tests/support/guarded.h"
#include "tests/support/rows.h"
#include "tests/support/stored.h"
#include "tests/support/values.h"

namespace tenon::test {
namespace {

struct Sizes {
  size_t m, n, k;
};

// One product: operands with `pad` unread elements after each row, y dense or transposed.
struct Case {
  Sizes s;
  size_t pad;
  bool transposed;
  Stored a, b, y;

  Case(const Kernel<Gemm>& kernel, Sizes sizes, size_t padding, bool by_column, Flush flush)
      : s(sizes),
        pad(padding),
        transposed(by_column),
        a(buffer_types(kernel.op)[1], elements(s.m), flush),
        b(buffer_types(kernel.op)[2], elements(s.n), flush),
        y(buffer_types(kernel.op)[0], s.m * s.n, flush) {
    auto rng = make_rng(s.m * 1000003 + s.n * 1009 + s.k);
    fill(a, rng);
    fill(b, rng);
  }

  // The last row has no padding: it touches the guard page.
  size_t elements(size_t rows) const { return rows == 0 ? 0 : rows * (s.k + pad) - pad; }

  static void fill(Stored& x, std::mt19937_64& rng) {
    std::uniform_real_distribution<double> real(-2, 2);
    std::uniform_int_distribution<int> byte(-128, 127), unsigned_byte(0, 255);
    for (size_t i = 0; i < x.size(); ++i)
      x.set(i, !x.integral() ? real(rng) : x.type() == "u8" ? unsigned_byte(rng) : byte(rng));
  }

  GemmArgs args(size_t first_row = 0, size_t rows = ~size_t{0}) {
    const auto row = [&](const Stored& x) {
      return static_cast<ptrdiff_t>((s.k + pad) * size_of_type(x.type()));
    };
    const auto size = static_cast<ptrdiff_t>(size_of_type(y.type()));
    const ptrdiff_t y_row = transposed ? size : size * static_cast<ptrdiff_t>(s.n);
    const ptrdiff_t y_column = transposed ? size * static_cast<ptrdiff_t>(s.m) : size;
    return {rows == ~size_t{0} ? s.m : rows,
            s.n,
            s.k,
            a.at(first_row * (s.k + pad)),
            row(a),
            b.at(0),
            row(b),
            static_cast<char*>(y.at(0)) + static_cast<ptrdiff_t>(first_row) * y_row,
            y_row,
            y_column};
  }

  double got(size_t i, size_t j) const { return y[transposed ? j * s.m + i : i * s.n + j]; }
};

void expect_products(const Kernel<Gemm>& kernel, const Case& c) {
  for (size_t i = 0; i < c.s.m; ++i) {
    for (size_t j = 0; j < c.s.n; ++j) {
      double sum = 0, magnitude = 0;
      for (size_t p = 0; p < c.s.k; ++p) {
        double x = c.a[i * (c.s.k + c.pad) + p];
        if (c.a.type() == "u8") x -= 128;  // the kernel's a is shifted
        const double product = x * c.b[j * (c.s.k + c.pad) + p];
        sum += product, magnitude += std::fabs(product);
      }
      const double bound =
          c.y.integral() ? 0 : (static_cast<double>(c.s.k) + 2) * kGemmUnit * magnitude;
      ASSERT_LE(std::fabs(c.got(i, j) - sum), bound)
          << kernel.name << " " << c.s.m << "x" << c.s.n << "x" << c.s.k << " at " << i << "," << j;
    }
  }
}

class GemmColumnsTest : public ::testing::TestWithParam<Kernel<GemmColumns>> {};

// b transposed into columns: within the bound, and on a vector ISA the bits of the gemm kernel.
void check_columns(const Kernel<GemmColumns>& kernel, Sizes s, bool transposed, Flush flush) {
  const std::string op = std::string("gemm") + (kernel.op + std::strlen("gemm_columns"));
  const Kernel<Gemm>* rows = nullptr;
  for (const Kernel<Gemm>& k : kGemm)
    if (op == k.op && k.need == kernel.need) rows = &k;
  ASSERT_NE(rows, nullptr) << op;
  Case c(*rows, s, 0, transposed, flush), same(*rows, s, 0, transposed, flush);
  const size_t row = s.n + 1;
  Stored b(c.b.type(), s.n * s.k == 0 ? 0 : s.k * row - 1, flush);
  for (size_t j = 0; j < s.n; ++j)
    for (size_t p = 0; p < s.k; ++p) b.set(p * row + j, c.b[j * s.k + p]);
  GemmArgs args = c.args();
  args.b = b.at(0);
  args.b_row = static_cast<ptrdiff_t>(row * size_of_type(b.type()));
  kernel.run(args);
  expect_products(*rows, c);
  rows->run(same.args());
  ASSERT_TRUE(c.y.bytes() == 0 || std::memcmp(c.y.at(0), same.y.at(0), c.y.bytes()) == 0)
      << kernel.name << " " << s.m << "x" << s.n << "x" << s.k << ": not the bits of "
      << rows->name;
}

TEST_P(GemmColumnsTest, MatchesDoubleAndTheGemmKernel) {
  TENON_SKIP_UNLESS_RUNNABLE(GetParam());
  for (size_t m = 0; m <= kGemmColumnsMost; ++m)
    for (size_t n : {0, 1, 7, 8, 9, 25, 70})
      for (size_t k : {0, 1, 7, 8, 9, 33, 130})
        check_columns(GetParam(), {m, n, k}, (n + k) % 3 == 0, m % 2 ? Flush::kEnd : Flush::kBegin);
  check_columns(GetParam(), {1, 4100, 40}, false, Flush::kEnd);
  check_columns(GetParam(), {8, 600, 40}, false, Flush::kEnd);
}

TENON_TEST_ROWS(GemmColumnsTest, kGemmColumns);

class GemmTest : public ::testing::TestWithParam<Kernel<Gemm>> {};

void check(const Kernel<Gemm>& kernel, Sizes s, size_t pad, bool transposed, Flush flush) {
  Case c(kernel, s, pad, transposed, flush);
  kernel.run(c.args());
  expect_products(kernel, c);
}

TEST_P(GemmTest, MatchesDouble) {
  TENON_SKIP_UNLESS_RUNNABLE(GetParam());
  int turn = 0;
  for (size_t m : {0, 1, 2, 3, 4, 5, 7, 13})
    for (size_t n : {0, 1, 3, 4, 8, 15, 25})
      for (size_t k : {0, 1, 7, 8, 9, 16, 17, 33, 64, 130}) {
        const bool odd = ++turn % 2;
        check(GetParam(), {m, n, k}, odd ? 0 : 3, turn % 3 == 0, odd ? Flush::kEnd : Flush::kBegin);
      }
}

TEST_P(GemmTest, MatchesDoubleInBlocks) {
  TENON_SKIP_UNLESS_RUNNABLE(GetParam());
  check(GetParam(), {70, 50, 300}, 5, false, Flush::kEnd);
  check(GetParam(), {9, 27, 1029}, 0, false, Flush::kEnd);
  check(GetParam(), {5, 3, 5000}, 0, true, Flush::kBegin);
  check(GetParam(), {1, 11, 5000}, 1, false, Flush::kEnd);
}

TEST_P(GemmTest, SameBitsForARowAloneAndInABatch) {
  TENON_SKIP_UNLESS_RUNNABLE(GetParam());
  for (const Sizes s : {Sizes{37, 29, 1100}, Sizes{5, 9, 77}, Sizes{3, 100, 40}}) {
    Case all(GetParam(), s, 0, false, Flush::kEnd), alone(GetParam(), s, 0, false, Flush::kEnd);
    GetParam().run(all.args());
    for (size_t i = 0; i < s.m; ++i) GetParam().run(alone.args(i, 1));
    ASSERT_EQ(std::memcmp(all.y.at(0), alone.y.at(0), all.y.bytes()), 0) << s.m;
  }
}

TEST_P(GemmTest, PropagatesNanAndInfinity) {
  TENON_SKIP_UNLESS_RUNNABLE(GetParam());
  for (size_t k : {1, 5, 8, 17, 600}) {
    Case c(GetParam(), {5, 7, k}, 2, false, Flush::kEnd);
    if (c.y.integral()) GTEST_SKIP() << "integers have neither";
    c.a.set(2 * (k + 2) + k - 1, NAN);
    c.b.set(3 * (k + 2) + k - 1, INFINITY);
    for (size_t i = 0; i < 4; ++i) c.a.set(i * (k + 2) + k, NAN);  // padding is not read
    GetParam().run(c.args());
    for (size_t i = 0; i < 5; ++i)
      for (size_t j = 0; j < 7; ++j)
        EXPECT_TRUE(i == 2   ? std::isnan(c.got(i, j))
                    : j == 3 ? !std::isfinite(c.got(i, j))
                             : std::isfinite(c.got(i, j)))
            << GetParam().name << " k " << k << " at " << i << "," << j;
  }
}

// A kernel that reads bf16 or f16 gives the bits of the f32 kernel on the widened numbers.
TEST_P(GemmTest, SameBitsAsItsF32KernelOnWidenedOperands) {
  TENON_SKIP_UNLESS_RUNNABLE(GetParam());
  if (buffer_types(GetParam().op)[1] != "f32") GTEST_SKIP() << "a is not f32";
  const Kernel<Gemm>* f32 = nullptr;
  for (const Kernel<Gemm>& k : kGemm)
    if (std::string_view(k.op) == "gemm_f32_f32_f32" && k.need == GetParam().need) f32 = &k;
  ASSERT_NE(f32, nullptr);
  for (const Sizes s : {Sizes{1, 20, 333}, Sizes{4, 20, 100}, Sizes{11, 31, 1234}}) {
    Case narrow(GetParam(), s, 0, false, Flush::kEnd), wide(*f32, s, 0, false, Flush::kEnd);
    for (size_t i = 0; i < narrow.b.size(); ++i) wide.b.set(i, narrow.b[i]);
    for (size_t i = 0; i < narrow.a.size(); ++i) wide.a.set(i, narrow.a[i]);
    GetParam().run(narrow.args());
    f32->run(wide.args());
    ASSERT_EQ(std::memcmp(narrow.y.at(0), wide.y.at(0), wide.y.bytes()), 0);
  }
}

TENON_TEST_ROWS(GemmTest, kGemm);

}  // namespace
}  // namespace tenon::test
