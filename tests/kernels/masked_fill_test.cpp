// Every masked fill against its definition: sizes around the vector, both guard pages, in place,
// any non-zero byte counts as set.
#include <string>
#include <vector>

#include "dispatch/tables.h"
#include "tests/support/guarded.h"
#include "tests/support/rows.h"
#include "tests/support/values.h"

namespace tenon::test {
namespace {

class MaskedFillTest : public ::testing::TestWithParam<Kernel<MaskedFill>> {};

void check(const Kernel<MaskedFill>& k, size_t n, Flush flush) {
  const size_t size = std::stoul(std::string(k.op).substr(std::string(k.op).rfind('b') + 1)) / 8;
  auto rng = make_rng(n);
  Guarded<uint8_t> mask(n, flush), x(n * size, flush), y(n * size, flush);
  for (uint8_t& m : mask) m = rng() % 2 ? static_cast<uint8_t>(rng()) : 0;
  for (uint8_t& b : x) b = static_cast<uint8_t>(rng());
  const uint64_t bits = rng();
  std::vector<uint8_t> want(x.begin(), x.end());
  for (size_t i = 0; i < n; ++i)
    if (mask[i] != 0) std::memcpy(&want[i * size], &bits, size);
  k.run(n, bits, mask.data(), x.data(), y.data());
  ASSERT_TRUE(std::equal(y.begin(), y.end(), want.begin())) << n;
  k.run(n, bits, mask.data(), x.data(), x.data());
  ASSERT_TRUE(std::equal(x.begin(), x.end(), want.begin())) << n << " in place";
}

TEST_P(MaskedFillTest, FillsWhereTheMaskIsSet) {
  TENON_SKIP_UNLESS_RUNNABLE(GetParam());
  for (size_t n = 0; n < 200; ++n) {
    check(GetParam(), n, Flush::kEnd);
    check(GetParam(), n, Flush::kBegin);
  }
  check(GetParam(), 10000, Flush::kEnd);
}

TENON_TEST_ROWS(MaskedFillTest, kMaskedFill);

}  // namespace
}  // namespace tenon::test
