// Buffers whose storage type is a word of a kernel's name: "gemm_f32_f32_bf16" reads bf16 last.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "isa/types.h"
#include "tests/support/guarded.h"

namespace tenon::test {

// The words of a kernel's name that are types, in order: its buffers.
inline std::vector<std::string> buffer_types(std::string_view op) {
  std::vector<std::string> types;
  for (size_t at = 0; at <= op.size();) {
    const size_t end = std::min(op.find('_', at), op.size());
    const std::string word(op.substr(at, end - at));
    for (const char* type : {"f32", "bf16", "f16", "i32", "i16", "i8", "u8"})
      if (word == type) types.push_back(word);
    at = end + 1;
  }
  return types;
}

inline size_t size_of_type(std::string_view type) {
  if (type == "f32" || type == "i32") return 4;
  return type == "i8" || type == "u8" ? 1 : 2;
}

// n elements of a type named at run time, between unreadable pages; seen as double.
class Stored {
 public:
  Stored(std::string_view type, size_t n, Flush flush = Flush::kEnd)
      : type_(type), size_(size_of_type(type)), bytes_(n * size_, flush) {}

  void* at(size_t i) { return bytes_.data() + i * size_; }
  const void* at(size_t i) const { return bytes_.data() + i * size_; }
  size_t size() const { return bytes_.size() / size_; }
  size_t bytes() const { return bytes_.size(); }
  const std::string& type() const { return type_; }

  double operator[](size_t i) const {
    const void* p = at(i);
    if (type_ == "f32") return get<float>(p);
    if (type_ == "bf16") return to_f32(get<bf16>(p));
    if (type_ == "f16") return to_f32(get<f16>(p));
    if (type_ == "i32") return get<int32_t>(p);
    if (type_ == "i16") return get<int16_t>(p);
    return type_ == "i8" ? get<int8_t>(p) : get<uint8_t>(p);
  }
  void set(size_t i, double x) {
    void* p = at(i);
    const float f = static_cast<float>(x);
    if (type_ == "f32") return put(p, f);
    if (type_ == "bf16") return put(p, to_bf16(f));
    if (type_ == "f16") return put(p, to_f16(f));
    const auto n = static_cast<int64_t>(x);
    if (type_ == "i32") return put(p, static_cast<int32_t>(n));
    if (type_ == "i16") return put(p, static_cast<int16_t>(n));
    put(p, static_cast<uint8_t>(n));
  }
  bool integral() const { return type_[0] == 'i' || type_[0] == 'u'; }

 private:
  template <class T>
  static T get(const void* p) {
    T x;
    std::memcpy(&x, p, sizeof x);
    return x;
  }
  template <class T>
  static void put(void* p, T x) {
    std::memcpy(p, &x, sizeof x);
  }

  std::string type_;
  size_t size_;
  Guarded<char> bytes_;
};

}  // namespace tenon::test
