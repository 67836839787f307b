// Two files of plans, plan by plan: what changed, what that does to the numbers
// of a step, and why.
#pragma once

#include "compiler/compare/Hybrids.h"
#include "compiler/compare/Numbers.h"

#include <memory>

namespace planc::compare {

using SessionPtr = std::unique_ptr<driver::Session>;

/// The worst mistake of them; Ok: none.
driver::Outcome mistakeOf(const std::vector<SessionPtr> &sessions);

/// A change of one cause, and who brought it about.
struct CauseChange {
  report::Cause cause = report::Cause::ModelArithmetic;
  std::int64_t picoseconds = 0;        ///< of one accelerator's step
  std::vector<std::int64_t> byGroup{}; ///< adds up to it
};

/// Units applied together.
struct GroupChange {
  std::vector<std::string> units;
  std::int64_t picoseconds = 0; ///< over all causes
};

/// One plan on both sides, or on one.
struct PlanDiff {
  const driver::Session *before = nullptr, *after = nullptr;
  std::string oldName, newName; ///< empty: not on that side
  std::vector<Change> changes;
  std::vector<Number> numbers;
  /// Both with a report: causes that differ, in the waterfall's order. They add
  /// up to the difference of the step times exactly.
  std::vector<CauseChange> because;
  std::vector<GroupChange> groups;
  bool isEveryOrder = true;

  bool hasBoth() const { return before != nullptr && after != nullptr; }
  const report::Report *oldReport() const {
    return before ? before->report() : nullptr;
  }
  const report::Report *newReport() const {
    return after ? after->report() : nullptr;
  }
  /// Both can be run, and say and cost the same.
  bool isSame() const;
};

struct DiffRequest {
  /// File, root, reader, overrides of a side; nothing: it has no such file.
  std::optional<driver::Options> before, after;
  /// Names; empty: all of both files.
  std::string oldPlan, newPlan;
  /// Files that others import have none; where all of a repository's are
  /// compared, there is nothing to say of them.
  enum class WithoutPlans {
    Refused,
    LeftOut
  } withoutPlans = WithoutPlans::Refused;
};

struct Diff {
  std::vector<SessionPtr> sessions; ///< of all plans, the old file's first
  std::vector<PlanDiff> plans;      ///< as the new file has them, removed last
};

/// Plans of one name belong together; then those that say the same under
/// another; then the only plan of one file and the only one of the other.
Diff diff(const DiffRequest &request);

/// One pair that has been run.
PlanDiff diffOf(const driver::Session *before, const driver::Session *after);

/// Sessions of every plan of a file that can run by itself, in order, run
/// several at a time; of a file that cannot be read, one that says why.
std::vector<SessionPtr> runPlans(const driver::Options &file);

} // namespace planc::compare
