// Runs the tests and says which kernel rows ran nowhere on this machine.
#include <gtest/gtest.h>

#include <cstdio>

#include "dispatch/env.h"
#include "dispatch/registry.h"
#include "tests/support/rows.h"

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  const int failed = RUN_ALL_TESTS();
  int skipped = 0;
  for (const tenon::Row& row : tenon::all_rows())
    if ((!row.built || !tenon::host_cpu().has(row.need)) &&
        !tenon::test::executed_in_another_form().count(row.name))
      ++skipped;
  std::printf("rows: %zu in the tables, %d not executed on this machine\n",
              tenon::all_rows().size(), skipped);
  if (::testing::UnitTest::GetInstance()->test_to_run_count() == 0) {
    std::fprintf(stderr, "no test matched the filter\n");
    return 1;
  }
  return failed;
}
