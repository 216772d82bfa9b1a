// Runs the tests and says which kernel rows ran nowhere on this machine: their number on stdout,
// and the names of those that this build has in the file TENON_TEST_ROWS_FILE.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "dispatch/registry.h"
#include "dispatch/tables.h"
#include "tests/support/rows.h"

namespace tenon::test {
namespace {

struct Unrun {
  int rows = 0;
  std::ofstream names;

  template <class Fn>
  void add(Table<Fn> table) {
    for (const Kernel<Fn>& k : table) {
      if (runnable(k) || executed_in_another_form().count(k.name)) continue;
      ++rows;
      if (k.run != nullptr) names << k.name << "\n";
    }
  }
};

void report_rows() {
  Unrun unrun;
  if (const char* file = std::getenv("TENON_TEST_ROWS_FILE")) unrun.names.open(file);
#define FAMILY(table, Fn, constant) unrun.add<Fn>(constant);
#include "dispatch/families.inc"
#undef FAMILY
  std::printf("rows: %zu in the tables, %d not executed on this machine\n", all_rows().size(),
              unrun.rows);
}

}  // namespace
}  // namespace tenon::test

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  const int failed = RUN_ALL_TESTS();
  tenon::test::report_rows();
  if (::testing::UnitTest::GetInstance()->test_to_run_count() == 0) {
    std::fprintf(stderr, "no test matched the filter\n");
    return 1;
  }
  return failed;
}
