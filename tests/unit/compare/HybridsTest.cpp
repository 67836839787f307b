// Plans between two plans: the ends are the two, and the parts of what lies
// between add up.
#include "tests/unit/Catch.h"

#include "compiler/compare/Diff.h"
#include "tests/unit/compare/Plans.h"

#include <filesystem>
#include <random>

using namespace planc;
using namespace planc::compare;

namespace {

void requireExact(const PlanDiff &diff) {
  if (!diff.oldReport() || !diff.newReport())
    return;
  const std::int64_t step =
      diff.newReport()->stepTime.value - diff.oldReport()->stepTime.value;
  std::int64_t sum = 0, groups = 0;
  for (const CauseChange &row : diff.because) {
    std::int64_t parts = 0;
    for (std::int64_t part : row.byGroup)
      parts += part;
    if (!row.byGroup.empty())
      REQUIRE(parts == row.picoseconds);
    sum += row.picoseconds;
  }
  for (const GroupChange &group : diff.groups)
    groups += group.picoseconds;
  REQUIRE(sum == step);
  if (!diff.groups.empty())
    REQUIRE(groups == step);
}

/// With nothing applied the hybrid costs what the old plan does, with all what
/// the new one does.
void requireEnds(const driver::Session &old, const driver::Session &fresh) {
  const Side before = sideOf(old.compilation()),
             after = sideOf(fresh.compilation());
  const std::vector<Change> changes = changesBetween(before, after);
  const Hybrids hybrids(before, after, changes);
  const Units all = (Units(1) << hybrids.units()) - 1;
  const auto ends = hybrids.play({0, all});
  CAPTURE(old.planName(), fresh.planName(), hybrids.textOf(0),
          hybrids.textOf(all));
  REQUIRE(ends[0].has_value());
  REQUIRE(ends[1].has_value());
  CHECK(*ends[0] == partsOf(*old.report()));
  CHECK(*ends[1] == partsOf(*fresh.report()));
}

} // namespace

TEST_CASE("both ends of pairs of plans from file to file of the examples") {
  std::vector<std::string> files;
  for (const auto &entry : std::filesystem::directory_iterator(PLANC_EXAMPLES))
    if (entry.path().extension() == ".plan")
      files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  std::size_t pairs = 0;
  SessionPtr before;
  for (const std::string &file : files) {
    driver::Options options;
    options.file = file;
    options.asides = driver::Options::Asides::Skipped;
    if (before)
      options.firstOrigin = before->compilation().origins.size();
    auto after = std::make_unique<driver::Session>(std::move(options));
    after->run();
    if (after->report() == nullptr)
      continue;
    if (before) {
      requireEnds(*before, *after);
      ++pairs;
    }
    before = std::move(after);
  }
  CHECK(pairs > 8);
}

#ifdef __SANITIZE_ADDRESS__ // a tenth as fast
constexpr int kPairs = 30;
#else
constexpr int kPairs = 200;
#endif

TEST_CASE("parts add up on two hundred random pairs") {
  std::mt19937 random(2026);
  const std::vector<TextChange> &changes = changesOfText();
  std::size_t whole = 0, several = 0;
  const auto plan = [&](std::size_t first) {
    std::string text(kPlanText);
    const std::size_t count = random() % 4;
    for (std::size_t i = 0; i < count; ++i)
      if (std::string next = changed(text, changes[random() % changes.size()]);
          !next.empty())
        text = next;
    auto session = std::make_unique<driver::Session>(optionsOf(text, first));
    session->run();
    return session;
  };
  for (int round = 0; round < kPairs; ++round) {
    const SessionPtr before = plan(0),
                     after = plan(before->compilation().origins.size());
    const PlanDiff diff = diffOf(before.get(), after.get());
    requireExact(diff);
    whole += diff.oldReport() && diff.newReport();
    several += diff.groups.size() > 1;
    if (round % 10 == 0 && diff.oldReport() && diff.newReport())
      requireEnds(*before, *after);
  }
  CHECK(whole > kPairs * 3 / 4);
  CHECK(several > kPairs * 2 / 5);
}
