// Tests loop over the rows of a table. A row of this build that this host cannot run is a skipped
// test with a name.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "dispatch/pick.h"

namespace tenon {

template <class Fn>
void PrintTo(const Kernel<Fn>& k, std::ostream* os) {
  *os << k.name;
}

}  // namespace tenon

namespace tenon::test {

// TENON_TEST_REFERENCES=0 leaves out the references, which another machine of this build has
// tested.
inline bool with_references() {
  static const bool with = [] {
    const char* value = std::getenv("TENON_TEST_REFERENCES");
    return value == nullptr || std::string_view(value) != "0";
  }();
  return with;
}

// The rows of this build that are to be tested. Those of other architectures are other builds'.
template <class Fn>
bool wanted(const Kernel<Fn>& k) {
  return k.run != nullptr && (k.need != kNone || with_references());
}

template <class Fn>
std::vector<Kernel<Fn>> wanted_rows(Table<Fn> table) {
  std::vector<Kernel<Fn>> rows;
  std::copy_if(table.begin(), table.end(), std::back_inserter(rows), wanted<Fn>);
  return rows;
}

// Whether tests call this row here.
template <class Fn>
bool runnable(const Kernel<Fn>& k) {
  return wanted(k) && k.fits(host_cpu());
}

// Rows this CPU lacks that a test executed all the same, in a form compiled for it.
inline std::set<std::string>& executed_in_another_form() {
  static std::set<std::string> names;
  return names;
}

struct RowName {
  template <class Fn>
  std::string operator()(const ::testing::TestParamInfo<Kernel<Fn>>& info) const {
    return info.param.name;
  }
};

}  // namespace tenon::test

// The suite `Suite` (a TestWithParam<Kernel<Fn>>) over these rows; a build of an architecture
// without kernels of its own may have none.
#define TENON_TEST_THESE_ROWS(Suite, rows)              \
  GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Suite); \
  INSTANTIATE_TEST_SUITE_P(Table, Suite, ::testing::ValuesIn(rows), tenon::test::RowName())

// The same over every row of a table.
#define TENON_TEST_ROWS(Suite, table) TENON_TEST_THESE_ROWS(Suite, tenon::test::wanted_rows(table))

#define TENON_SKIP_UNLESS_RUNNABLE(k) \
  if (!tenon::test::runnable(k)) GTEST_SKIP() << (k).name << ": this CPU lacks it"
