// From the last part of an operation's name to its storage type, and comparison of bits.
#pragma once
#include <gtest/gtest.h>

#include <cstring>
#include <string_view>

#include "isa/types.h"

namespace tenon::test {

// f(T{}) for the type an operation's name ends in: softmax_bf16 gives f(bf16{}).
template <class F>
void with_storage(std::string_view op, F f) {
  const std::string_view type = op.substr(op.rfind('_') + 1);
  if (type == "f32") return f(float{});
  if (type == "bf16") return f(bf16{});
  if (type == "f16") return f(f16{});
  ADD_FAILURE() << op << " ends in no storage type";
}

// Bits decide, except that any NaN is as good as another.
template <class T>
bool same_bits(const T* a, const T* b, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    const float p = to_f32(a[i]), q = to_f32(b[i]);
    if (std::memcmp(a + i, b + i, sizeof *a) != 0 && (p == p || q == q)) return false;
  }
  return true;
}

}  // namespace tenon::test
