// One clause changed: the diff names exactly its setting.
#include "tests/unit/Catch.h"

#include "compiler/compare/Changes.h"
#include "tests/unit/compare/Plans.h"

#include <set>

using namespace planc;
using namespace planc::compare;

TEST_CASE("a changed clause is exactly the setting that is named") {
  driver::Session base(optionsOf(std::string(kPlanText), 0));
  REQUIRE(base.elaborate() == driver::Outcome::Ok);
  const Side before = sideOf(base.compilation());
  for (const TextChange &change : changesOfText()) {
    CAPTURE(std::string(change.from), std::string(change.to));
    const std::string text = changed(std::string(kPlanText), change);
    REQUIRE(!text.empty());
    driver::Session session(optionsOf(text, base.compilation().origins.size()));
    const driver::Outcome outcome = session.elaborate();
    std::string why;
    for (const diag::Diagnostic &diagnostic : session.diagnostics())
      why += diagnostic.message + "\n";
    CAPTURE(why);
    REQUIRE(outcome == driver::Outcome::Ok);
    const Side after = sideOf(session.compilation());
    const std::vector<Change> changes = changesBetween(before, after);
    CHECK(!changes.empty());
    CHECK(unitsOf(changes) == change.keys);
    // And back.
    CHECK(unitsOf(changesBetween(after, before)) == change.keys);
    CHECK(changesBetween(after, after).empty());
  }
}

TEST_CASE("every setting of a clause is changed by some test") {
  driver::Session base(optionsOf(std::string(kPlanText), 0));
  REQUIRE(base.elaborate() == driver::Outcome::Ok);
  std::set<std::string> changedKeys = {
      "pipeline.over", // with its axis: the file of tests of a new axis
      "mesh.dp",       // follows from the others
      "shard.dp"};     // `batch`, which no other axis may cut
  for (const TextChange &change : changesOfText())
    changedKeys.insert(change.keys.begin(), change.keys.end());
  for (const Setting &setting : settingsOf(*base.compilation().module))
    if (setting.role == Setting::Role::Clause) {
      CAPTURE(setting.key);
      CHECK(changedKeys.count(setting.key) == 1);
    }
}

TEST_CASE("names, blanks and comments are no settings") {
  driver::Session base(optionsOf(std::string(kPlanText), 0));
  REQUIRE(base.elaborate() == driver::Outcome::Ok);
  const Side before = sideOf(base.compilation());
  for (const TextChange &change :
       std::vector<TextChange>{{"plan base", "plan other", {}},
                               {"batch      64", "# a comment\n  batch 64", {}},
                               {"compute = bf16, gradients = fp32",
                                "gradients = fp32, compute = bf16",
                                {}},
                               {"25MiB", "26214400B", {}},
                               {"64 sequences of 2048 tokens",
                                "131072 tokens in sequences of 2048",
                                {}},
                               {"dp = rest", "dp = 8", {}}}) {
    CAPTURE(std::string(change.to));
    driver::Session session(
        optionsOf(changed(std::string(kPlanText), change), 0));
    REQUIRE(session.elaborate() == driver::Outcome::Ok);
    CHECK(changesBetween(before, sideOf(session.compilation())).empty());
  }
}

TEST_CASE("keys are unique") {
  driver::Session base(optionsOf(std::string(kPlanText), 0));
  REQUIRE(base.elaborate() == driver::Outcome::Ok);
  std::set<std::string> keys;
  for (const Setting &setting : settingsOf(*base.compilation().module))
    CHECK(keys.insert(setting.key).second);
}
