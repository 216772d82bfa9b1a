// Judges the words of TENON_OPS and TENON_DISABLE against the overrides and the kernel tables.
#include "ops/names.h"

#include <set>
#include <string_view>

#include "dispatch/registry.h"
#include "ops/register.h"

namespace tenon::ops {
namespace {

std::set<std::string> operators() {
  std::set<std::string> names;
  for (const Registration& r : registrations()) names.emplace(operator_word(r.override->schema));
  return names;
}

bool is_operator(const std::string& word) {
  for (const Registration& r : registrations()) {
    const std::string_view schema = r.override->schema;
    if (word == schema || word == operator_word(schema)) return true;
  }
  return false;
}

bool is_kernel(const std::string& word) {
  for (const Row& row : all_rows()) {
    const std::string op = row.op, name = row.name;
    if ((op + "_").rfind(word + "_", 0) == 0 || (name + "_").rfind(word + "_", 0) == 0) return true;
  }
  return false;
}

std::string complaint(const char* variable, const std::string& word, const char* more) {
  std::string line = std::string(variable) + ": unknown word '" + word + "'; known words are ";
  for (const std::string& name : operators()) line += name + ", ";
  return line + more;
}

}  // namespace

std::string unknown_name(const Environment& e) {
  for (const std::string& word : e.only)
    if (!is_operator(word)) return complaint("TENON_OPS", word, "none");
  for (const std::string& word : e.disable)
    if (!is_operator(word) && !is_kernel(word))
      return complaint("TENON_DISABLE", word, "all, and the kernel names that `tenon info` lists");
  return "";
}

}  // namespace tenon::ops
