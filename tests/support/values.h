// Inputs for kernel tests, from a fixed seed that TENON_TEST_SEED overrides, and error in ulps.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "isa/types.h"

namespace tenon::test {

// Seeded once per test by its caller; print it in a failure with SCOPED_TRACE.
inline std::mt19937_64 make_rng(uint64_t salt = 0) {
  const char* seed = std::getenv("TENON_TEST_SEED");
  return std::mt19937_64((seed != nullptr ? std::strtoull(seed, nullptr, 10) : 20261130) + salt);
}

template <class T>
void fill_uniform(T* p, size_t n, std::mt19937_64& rng, float low = -2, float high = 2) {
  std::uniform_real_distribution<float> dist(low, high);
  for (size_t i = 0; i < n; ++i) p[i] = from_f32<T>(dist(rng));
}

// Zeros, infinities, NaN, subnormals and the ends of the range, as f32.
inline const std::vector<float>& special_values() {
  static const std::vector<float> values = {0.0f,
                                            -0.0f,
                                            1.0f,
                                            -1.0f,
                                            0.5f,
                                            88.7f,
                                            -87.3f,
                                            -103.9f,
                                            1e-40f,
                                            -1e-40f,
                                            1e-45f,
                                            3.0e38f,
                                            -3.0e38f,
                                            6.1e-5f,
                                            -6e-8f,
                                            65504.0f,
                                            std::numeric_limits<float>::infinity(),
                                            -std::numeric_limits<float>::infinity(),
                                            std::numeric_limits<float>::quiet_NaN(),
                                            std::numeric_limits<float>::min(),
                                            std::numeric_limits<float>::max(),
                                            std::numeric_limits<float>::lowest()};
  return values;
}

// The distance between neighbours of T at |want|.
template <class T>
double ulp_at(double want) {
  constexpr int kDigits = std::is_same_v<T, float> ? 24 : std::is_same_v<T, bf16> ? 8 : 11;
  constexpr int kMinExponent = std::is_same_v<T, f16> ? -14 : -126;
  int exponent = kMinExponent + 1;
  if (want != 0 && std::isfinite(want)) std::frexp(want, &exponent);
  return std::ldexp(1.0, std::max(exponent - 1, kMinExponent) - (kDigits - 1));
}

template <class T>
constexpr double kEpsilon = std::is_same_v<T, float>  ? 0x1p-23
                            : std::is_same_v<T, bf16> ? 0x1p-7
                                                      : 0x1p-10;

// Error of `got` in units of T's last place at `want`. Equal non-finite values have error 0, and
// a finite reference that rounds beyond T's range may become infinite.
template <class T>
double ulp_error(T got, double want) {
  const double g = to_f32(got), limit = to_f32(from_f32<T>(static_cast<float>(want)));
  if (std::isnan(want)) return std::isnan(g) ? 0 : std::numeric_limits<double>::infinity();
  if (g == limit) return std::isinf(g) ? 0 : std::fabs(g - want) / ulp_at<T>(want);
  if (!std::isfinite(g) || !std::isfinite(limit)) return std::numeric_limits<double>::infinity();
  return std::fabs(g - want) / ulp_at<T>(want);
}

}  // namespace tenon::test
