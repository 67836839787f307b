// The forms a diff is written in: pure functions of it.
#pragma once

#include "compiler/compare/Diff.h"
#include "compiler/compare/Thresholds.h"
#include "runtime/report/Writers.h"

#include <string>

namespace planc::compare {

/// A threshold that a plan does not keep.
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
/// `step 6.31 → 5.98 s (−5.2 %)`, …: the first line in pieces, or the one
/// sentence there is to say.
std::vector<std::string> verdictOf(const PlanDiff &plan);
/// `applied together: mesh.dp, mesh.tp`; empty where each was applied alone.
std::vector<std::string> remarksOf(const PlanDiff &plan);
/// Shortest words for each group that tell it from the others: `virtual`.
std::vector<std::string> labelsOf(const PlanDiff &plan);
/// What a number means beside the others it is printed with: `ok`, `illegal` ….
std::string_view statusOf(const driver::Session *session);
/// Causes worth a row of their own, then the sum of all others.
struct ShownCause {
  std::string words;
  std::int64_t picoseconds = 0;
  std::vector<std::int64_t> byGroup;
};
std::vector<ShownCause> shownCauses(const PlanDiff &plan);

} // namespace planc::compare
