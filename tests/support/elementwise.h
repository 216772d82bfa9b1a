// What tests of element-wise kernels share: operands of every kind, and bounds in the storage type.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

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

template <class T>
bool same_bits(const Guarded<T>& a, const Guarded<T>& b) {
  for (size_t i = 0; i < a.size(); ++i)
    if (!same_bits(a[i], b[i])) return false;
  return a.size() == b.size();
}

// f(T{}) for the storage type that ends an operation's name: "exp_bf16".
template <class F>
void with_storage_type(const std::string& op, F f) {
  const std::string type = op.substr(op.rfind('_') + 1);
  if (type == "f32") return f(float{});
  if (type == "bf16") return f(bf16{});
  if (type == "f16") return f(f16{});
  FAIL() << "no storage type " << type;
}

// The function's name before it: "exp".
inline std::string function_name(const std::string& op) { return op.substr(0, op.rfind('_')); }

// An error of `ulp` units of f32 at `want` (of `floor` where that is larger) and the rounding to a
// narrower T, in units of T.
template <class T>
double storage_ulp(double ulp, double want, double floor = 0) {
  const double f32_units = std::max(ulp_at<float>(want), ulp_at<float>(floor)) / ulp_at<T>(want);
  return ulp * f32_units + (std::is_same_v<T, float> ? 0 : 0.5);
}

}  // namespace tenon::test
