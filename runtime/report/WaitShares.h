// What waiting amounts to: the rule M5 on one wait, and on all waits of a
// timeline.
#pragma once

#include "runtime/report/Report.h"
#include "runtime/timeline/Timeline.h"

#include <algorithm>
#include <vector>

namespace planc::report {

/// One wait by M5. The three parts add up to the wait's length.
struct WaitParts {
  Duration before;  ///< the message not yet on the wire, a member missing
  Duration outside; ///< between two pipelines: charged to Cause::StepEnd
  Duration after;   ///< on the wire, or with nothing left to do
  Cause beforeCause = Cause::Skew;
  Cause afterCause = Cause::Skew;
};
WaitParts partsOf(const timeline::Wait &wait,
                  const timeline::Timeline &timeline);

/// Runs of the last step that are alike: reused, in one form.
struct ReusedRuns {
  program::BlockId block;
  std::int64_t runs = 0;
};
Table<timeline::FormId, ReusedRuns>
reusedRuns(const timeline::Timeline &timeline, program::RankClassId rankClass);

/// Calls `visit(wait, block, runs)` for every wait of a rank of the class in
/// the last step, cut to its window. `block` is valid for a wait inside a run
/// that is reused, which `runs` runs have alike.
template <class Visit>
void forEachWait(const timeline::Timeline &timeline,
                 program::RankClassId rankClass, Visit visit) {
  const auto reused = reusedRuns(timeline, rankClass);
  for (timeline::FormId form : reused.ids())
    if (reused[form].runs > 0)
      for (const timeline::Wait &wait : timeline.isolated[form].waits)
        visit(wait, reused[form].block, reused[form].runs);
  const timeline::Window window = windowOf(timeline, rankClass);
  for (timeline::Wait wait : timeline.classes[rankClass].waits) {
    wait.begin = std::clamp(wait.begin, window.begin, window.end);
    wait.splitAt = std::clamp(wait.splitAt, window.begin, window.end);
    wait.end = std::clamp(wait.end, window.begin, window.end);
    if (wait.begin < wait.end)
      visit(wait, program::BlockId(), std::int64_t(1));
  }
}

/// The waits of a timeline alone, by cause, as its waterfall would have them.
Waterfall waitsOf(const program::ProgramSet &programs,
                  const timeline::Timeline &timeline);

/// Communication exposed and bubble of a timeline, as its report would say.
OrderFigures figuresOf(const program::ProgramSet &programs,
                       const timeline::Timeline &timeline);

} // namespace planc::report
