// What tests of element-wise kernels share: operands of every kind, and bounds in the storage type.
#pragma once
#include <algorithm>

#include "tests/support/guarded.h"
#include "tests/support/values.h"

namespace tenon::test {

// Special values, numbers of ordinary size, and numbers of every size, shuffled.
template <class T>
std::vector<T> anything(size_t n, uint64_t salt) {
  std::vector<T> x;
  for (float v : special_values()) x.push_back(from_f32<T>(v));
  auto rng = make_rng(salt);
  std::uniform_real_distribution<float> narrow(-20, 20), wide(-110, 100);
  while (x.size() < n) {
    const float any = float_of(static_cast<uint32_t>(rng()));
    x.push_back(from_f32<T>(x.size() % 3 == 0 ? narrow(rng) : x.size() % 3 == 1 ? wide(rng) : any));
  }
  std::shuffle(x.begin(), x.end(), rng);
  x.resize(n);
  return x;
}

template <class T>
void fill_anything(Guarded<T>& x, uint64_t salt) {
  const std::vector<T> values = anything<T>(x.size(), salt);
  std::copy(values.begin(), values.end(), x.begin());
}

// Equal, or both NaN.
template <class T>
bool same_bits(T a, T b) {
  return std::memcmp(&a, &b, sizeof a) == 0 || (std::isnan(to_f32(a)) && std::isnan(to_f32(b)));
}

// An error of `ulp` units of f32 at `want` (of `floor` where that is larger) and the rounding to a
// narrower T, in units of T.
template <class T>
double storage_ulp(double ulp, double want, double floor = 0) {
  const double f32_units = std::max(ulp_at<float>(want), ulp_at<float>(floor)) / ulp_at<T>(want);
  return ulp * f32_units + (std::is_same_v<T, float> ? 0 : 0.5);
}

}  // namespace tenon::test
