// How much of a long test runs. TENON_TEST_SHARE=8, which ci/ sets under emulators, asks for an
// eighth.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdlib>

namespace tenon::test {

// 1 or more.
inline size_t share() {
  static const size_t asked = [] {
    const char* value = std::getenv("TENON_TEST_SHARE");
    return value != nullptr ? std::strtoull(value, nullptr, 10) : 1;
  }();
  return std::max<size_t>(asked, 1);
}

// `n` repetitions or random operands, or that share of them, but no fewer than `least`.
inline size_t fewer(size_t n, size_t least = 1) {
  return std::min(n, std::max(n / share(), least));
}

}  // namespace tenon::test
