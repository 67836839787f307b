// The forms a diff is written in: pure functions of it.
#pragma once

#include "compiler/compare/Diff.h"
#include "compiler/compare/Thresholds.h"
#include "runtime/report/Writers.h"

#include <string>
#include <string_view>

namespace planc::compare {

/// Of files that only others import.
inline constexpr std::string_view kNoPlans =
    "no plan in these files, no change";

/// A threshold that a plan does not keep, or an `expect` of its own.
struct Failed {
  std::string plan, text, why;
};
std::vector<Failed> failuresOf(const Diff &diff,
                               const std::vector<Threshold> &thresholds);

/// For people; lines of at most 100 columns.
std::string toText(const Diff &diff, const std::vector<Failed> &failed,
                   report::Color color);
/// For a comment of a code review, at most kMostMarkdown bytes: what does not
/// fit is counted.
std::string toMarkdown(const Diff &diff, const std::vector<Failed> &failed);
inline constexpr std::size_t kMostMarkdown = 60'000;
/// One object (schema: report::kSchemaVersion): `plans`, `failed`.
std::string toJson(const Diff &diff, const std::vector<Failed> &failed);

// What the forms share.
/// The plan's name; `old → new` where it was renamed.
std::string nameOf(const PlanDiff &plan);
/// The file of the new plan, else of the old one, as it was named.
std::string fileOf(const PlanDiff &plan);
bool hasSeveralFiles(const Diff &diff);
/// `step 6.31 → 5.98 s (−5.2 %)`, …: the first line in pieces, or the one
/// sentence there is to say.
std::vector<std::string> verdictOf(const PlanDiff &plan);
/// `applied together: mesh.dp, mesh.tp`; empty where each was applied alone.
std::vector<std::string> remarksOf(const PlanDiff &plan);
/// Shortest words for each group that tell it from the others: `virtual`.
std::vector<std::string> labelsOf(const PlanDiff &plan);
/// What a number means beside the others it is printed with: `ok`, `illegal` ….
std::string_view statusOf(const driver::Session *session);
/// A row of the table of causes, in units of the last digit shown. Rows add up
/// to the step's change as it is shown, and parts to their row.
struct ShownCause {
  std::string words;
  std::int64_t units = 0;
  std::vector<std::int64_t> byGroup;
};
struct ShownCauses {
  TimeScale scale{0};
  std::vector<ShownCause> rows; ///< the largest first; the last may be `others`
};
ShownCauses shownCauses(const PlanDiff &plan);

/// Numbers that differ by as much as is shown of them, each said once.
std::vector<Number> shownNumbers(const PlanDiff &plan);

} // namespace planc::compare
