// Reads and judges the environment variables; nothing here prints.
#include "dispatch/env.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

namespace tenon {
namespace {

std::vector<std::string> words(const char* value) {
  std::vector<std::string> list;
  std::string word;
  for (const char* c = value; *c != '\0'; ++c) {
    if (*c == ',' || *c == ' ') {
      if (!word.empty()) list.push_back(std::exchange(word, {}));
    } else {
      word.push_back(*c);
    }
  }
  if (!word.empty()) list.push_back(word);
  return list;
}

const char* value_of(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// A switch is "", "0" or "1"; anything else is an error worth a line.
bool flag(const char* name, std::string& error) {
  const std::string_view value = value_of(name);
  if (value == "1") return true;
  if (!value.empty() && value != "0")
    error = std::string(name) + "=" + std::string(value) + ": known values are 0 and 1";
  return false;
}

bool contains(const std::vector<std::string>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

Environment read() {
  Environment e;
  e.isa = value_of("TENON_ISA");
  e.only = words(value_of("TENON_OPS"));
  e.disable = words(value_of("TENON_DISABLE"));
  e.off = contains(e.disable, "1") || contains(e.disable, "all") || contains(e.only, "none");
  if (contains(e.disable, "0")) e.disable.clear();
  e.verbose = flag("TENON_VERBOSE", e.error);
  e.check = flag("TENON_CHECK", e.error);
  e.reproducible = flag("TENON_REPRODUCIBLE", e.error);
  Cpu any;
  narrow(e.isa, any, e.error);
  return e;
}

struct Level {
  const char* name;
  uint64_t features;
};

constexpr uint64_t kAmxBits = kAmxInt8 | kAmxBf16 | kAmxFp16;
constexpr uint64_t kAvx512Bits = kAvx512 | kAvx512Vnni | kAvx512Bf16 | kAvx512Fp16 | kAvx512Vbmi;
constexpr uint64_t kRvvBits = kRvv | kZvfhmin | kZvfh | kZvfbfmin | kZvfbfwma | kZvbb | kZicbop;
constexpr uint64_t kSveBits = kSve | kSve2;
constexpr uint64_t kNeonBits = kNeon | kDotProd | kArmFp16 | kArmFhm | kI8mm | kArmBf16;
constexpr Level kLevels[] = {{"baseline", kNone},
                             {"avx2", kAvx2},
                             {"avx512", kAvx2 | kAvx512Bits},
                             {"amx", kAvx2 | kAvx512Bits | kAmxBits},
                             {"rvv", kRvvBits},
                             {"neon", kNeonBits},
                             {"sve", kNeonBits | kSveBits}};

// A word that takes away more than the features of its name: what is built on them.
constexpr Level kRemoved[] = {{"avx2", kAvx2 | kAvx512Bits | kAmxBits},
                              {"avx512", kAvx512Bits | kAmxBits},
                              {"amx", kAmxBits},
                              {"rvv", kRvvBits},
                              {"zvfhmin", kZvfhmin | kZvfh},
                              {"zvfbfmin", kZvfbfmin | kZvfbfwma},
                              {"neon", kNeonBits | kSveBits},
                              {"fp16", kArmFp16 | kArmFhm},
                              {"sve", kSveBits}};

// What "-word" takes away.
uint64_t removed_by(std::string_view word) {
  uint64_t bits = kNone;
  for (const FeatureName& f : kFeatureNames)
    if (word == f.name) bits |= f.bit;
  for (const Level& r : kRemoved)
    if (word == r.name) bits |= r.features;
  return bits;
}

std::string known_words() {
  std::string list;
  for (const Level& level : kLevels) list.append(level.name).append(", ");
  list.append("-amx");
  for (const FeatureName& f : kFeatureNames)
    if (list.find(std::string("-") + f.name + ",") ==
        std::string::npos)  // a word of two architectures
      list.append(", -").append(f.name);
  return list;
}

bool begins_with_word(std::string_view text, std::string_view word) {
  return text.substr(0, word.size()) == word &&
         (text.size() == word.size() || text[word.size()] == '_');
}

}  // namespace

bool narrow(std::string_view isa, Cpu& cpu, std::string& error) {
  for (const std::string& word : words(std::string(isa).c_str())) {
    const Level* level = std::find_if(std::begin(kLevels), std::end(kLevels),
                                      [&](const Level& l) { return word == l.name; });
    const uint64_t gone = word[0] == '-' ? removed_by(std::string_view(word).substr(1)) : kNone;
    if (level == std::end(kLevels) && gone == kNone) {
      error = "TENON_ISA=" + std::string(isa) + ": unknown word '" + word + "'; known words are " +
              known_words();
      return false;
    }
    if (level != std::end(kLevels)) cpu.features &= level->features | kOwnBits;
    cpu.features &= ~gone;
  }
  return true;
}

const Environment& environment() {
  static const Environment e = read();
  return e;
}

const Cpu& host_cpu() {
  static const Cpu cpu = [] {
    Cpu host = detect_cpu();
    std::string ignored;  // environment().error has it
    narrow(environment().isa, host, ignored);
    if (environment().reproducible) host.features &= ~uint64_t{kOwnBits};
    return host;
  }();
  return cpu;
}

bool kernel_enabled(std::string_view op, std::string_view name) {
  for (const std::string& word : environment().disable) {
    // A word without an underscore ("mm") is an ATen operator, not a kernel.
    const bool kernel_word = word.find('_') != std::string::npos;
    if (kernel_word && (begins_with_word(op, word) || begins_with_word(name, word))) return false;
  }
  return true;
}

std::string_view operator_word(std::string_view schema) {
  std::string_view word = schema.substr(0, schema.find('.'));
  if (word.size() > 1 && word.back() == '_') word.remove_suffix(1);
  return word;
}

bool operator_enabled(std::string_view schema) {
  const std::string_view word = operator_word(schema);
  const auto names = [&](const std::vector<std::string>& list) {
    return contains(list, schema) || contains(list, word);
  };
  const Environment& e = environment();
  return !e.off && !names(e.disable) && (e.only.empty() || names(e.only));
}

}  // namespace tenon
