// When pieces were ready and wanted, in a timeline.
#pragma once

#include "runtime/timeline/Queries.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace planc::sim {

/// Of one class, in the last step.
class PieceTimes {
public:
  PieceTimes(const timeline::Timeline &seen, program::RankClassId rankClass)
      : seen_(seen) {
    auto last = static_cast<std::int32_t>(seen.steps.size()) - 1;
    for (const timeline::Run &run : seen.classes[rankClass].runs)
      if (run.step == last) {
        if (runs_.size() <= run.task.index())
          runs_.resize(run.task.index() + 1);
        runs_[run.task.index()] = &run;
      }
  }

  Duration ready(const program::Piece &piece) const {
    const timeline::Run &run = *runs_[piece.task.index()];
    timeline::RunInstructions inside = instructionsOf(seen_, run);
    if (piece.instruction >= inside.times.size())
      return run.end;
    return inside.origin + inside.times[piece.instruction].end;
  }

  Duration firstUse(const program::Piece &piece) const {
    Duration first(std::numeric_limits<std::int64_t>::max() / 2);
    for (const program::Piece::Use &use : piece.uses) {
      timeline::RunInstructions inside =
          instructionsOf(seen_, *runs_[use.task.index()]);
      first =
          std::min(first, inside.origin + inside.times[use.instruction].begin);
    }
    return first;
  }

  const timeline::Run &runOf(program::TaskId task) const {
    return *runs_[task.index()];
  }

private:
  const timeline::Timeline &seen_;
  std::vector<const timeline::Run *> runs_; ///< by task
};

} // namespace planc::sim
