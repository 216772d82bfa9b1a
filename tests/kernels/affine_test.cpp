// Every scale-and-offset kernel has the bits of the reference, and the reference those of one fused
// multiply-add.
#include "isa/affine.h"

#include <cmath>

#include "dispatch/tables.h"
#include "tests/support/elementwise.h"
#include "tests/support/rows.h"

namespace tenon::test {
namespace {

class AffineTest : public ::testing::TestWithParam<Kernel<Affine>> {};

template <class T>
void check(const Kernel<Affine>& k, size_t n, Flush flush) {
  const float scale = -1.25f + 0.01f * static_cast<float>(n), offset = 0.3f;
  Guarded<T> x(n, flush), y(n, flush);
  fill_anything(x, n);
  k.run(n, scale, offset, x.data(), y.data());
  for (size_t i = 0; i < n; ++i)
    ASSERT_TRUE(same_bits(y[i], from_f32<T>(std::fma(to_f32(x[i]), scale, offset))))
        << n << " at " << i << ": " << to_f32(x[i]);
  k.run(n, scale, offset, x.data(), x.data());
  ASSERT_TRUE(same_bits(x, y)) << n << " in place";
}

TEST_P(AffineTest, IsOneFusedMultiplyAdd) {
  TENON_SKIP_UNLESS_RUNNABLE(GetParam());
  with_storage_type(GetParam().op, [](auto type) {
    for (size_t n = 0; n < 140; ++n)
      check<decltype(type)>(GetParam(), n, n % 2 == 0 ? Flush::kEnd : Flush::kBegin);
    check<decltype(type)>(GetParam(), 3000, Flush::kEnd);
  });
}

TENON_TEST_ROWS(AffineTest, kAffine);

}  // namespace
}  // namespace tenon::test
