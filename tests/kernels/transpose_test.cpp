// Every row of the transpose table: sizes around the tile and the block, padded rows whose padding
// stays untouched, both guard pages.
#include <string>

#include "dispatch/tables.h"
#include "tests/support/guarded.h"
#include "tests/support/rows.h"
#include "tests/support/values.h"

namespace tenon::test {
namespace {

class TransposeTest : public ::testing::TestWithParam<Kernel<Transpose>> {};

// A matrix whose rows are `pad` elements longer than their contents, the last one excepted.
template <class T>
struct Padded {
  size_t rows, cols, step;
  Guarded<T> memory;

  Padded(size_t r, size_t c, size_t pad, Flush flush)
      : rows(r), cols(c), step(c + pad), memory(r == 0 || c == 0 ? 0 : (r - 1) * step + c, flush) {}
  T& at(size_t r, size_t c) { return memory[r * step + c]; }
  ptrdiff_t stride() const { return static_cast<ptrdiff_t>(step * sizeof(T)); }
};

template <class T>
void check(const Kernel<Transpose>& k, size_t rows, size_t cols, size_t pad, Flush flush) {
  SCOPED_TRACE(::testing::Message() << rows << " x " << cols << ", padding " << pad);
  constexpr T kUntouched = static_cast<T>(0x5a5a5a5a5a5a5a5a);
  Padded<T> x(rows, cols, pad, flush), y(cols, rows, pad, flush);
  auto rng = make_rng(rows * 1000 + cols);
  for (T& v : x.memory) v = static_cast<T>(rng());
  for (T& v : y.memory) v = kUntouched;
  k.run(rows, cols, x.memory.data(), x.stride(), y.memory.data(), y.stride());
  for (size_t c = 0; c < cols; ++c) {
    for (size_t r = 0; r < rows; ++r) ASSERT_EQ(y.at(c, r), x.at(r, c)) << r << ", " << c;
    for (size_t r = rows; c + 1 < cols && r < y.step; ++r)
      ASSERT_EQ(y.at(c, r), kUntouched) << "padding of row " << c;
  }
}

template <class T>
void check_sizes(const Kernel<Transpose>& k) {
  for (size_t rows : {0, 1, 7, 8, 15, 16, 17, 31, 32, 33, 47, 64, 70})
    for (size_t cols : {0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 31}) {
      ASSERT_NO_FATAL_FAILURE(check<T>(k, rows, cols, rows % 3, Flush::kEnd));
      ASSERT_NO_FATAL_FAILURE(check<T>(k, rows, cols, 0, Flush::kBegin));
    }
  ASSERT_NO_FATAL_FAILURE(check<T>(k, 300, 600, 3, Flush::kEnd));
  ASSERT_NO_FATAL_FAILURE(check<T>(k, 512, 256, 0, Flush::kEnd));
}

TEST_P(TransposeTest, MovesEveryElement) {
  TENON_SKIP_UNLESS_RUNNABLE(GetParam());
  const std::string op = GetParam().op;
  if (op == "transpose_b16") return check_sizes<uint16_t>(GetParam());
  if (op == "transpose_b32") return check_sizes<uint32_t>(GetParam());
  if (op == "transpose_b64") return check_sizes<uint64_t>(GetParam());
  FAIL() << "no type for " << op;
}

TENON_TEST_ROWS(TransposeTest, kTranspose);

}  // namespace
}  // namespace tenon::test
