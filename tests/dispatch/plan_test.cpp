// dispatch/plans/*.txt says what each known machine runs; this keeps it true. After a change that
// was meant, `./ci/run plans` writes them anew.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "dispatch/registry.h"

namespace tenon::test {
namespace {

std::string recorded(const char* machine) {
  std::ifstream file(std::string(TENON_SOURCE_DIR "/dispatch/plans/") + machine + ".txt");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(Plans, AreWhatTheTablesChoose) {
  for (const Machine& m : known_machines()) EXPECT_EQ(plan_text(m.cpu), recorded(m.name)) << m.name;
}

TEST(Plans, EveryOperationEndsInAReference) {
  std::set<std::string_view> with_reference;
  for (const Choice& c : plan(Cpu{})) with_reference.insert(c.op);
  for (const Row& row : all_rows()) EXPECT_TRUE(with_reference.count(row.op)) << row.name;
}

TEST(Plans, EveryRowIsBestSomewhere) {
  std::set<std::string_view> chosen;
  for (const Machine& m : known_machines())
    for (const Choice& c : plan(m.cpu)) chosen.insert(c.kernel);
  for (const Row& row : all_rows()) EXPECT_TRUE(chosen.count(row.name)) << row.name;
}

}  // namespace
}  // namespace tenon::test
