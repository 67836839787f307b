#include "runtime/report/WaitShares.h"

namespace planc::report {

using timeline::Timeline;
using timeline::Wait;
using timeline::WaitCause;

namespace {

Duration pipelineEnd(const Timeline &timeline, std::int32_t step) {
  return timeline.steps[static_cast<std::size_t>(step)].pipelineEnd;
}

/// What of a wait for the first message of a step lies after the pipeline of
/// the step before it and before that of its own: nobody had anything to do.
Duration betweenPipelines(const Wait &wait, const Timeline &timeline) {
  const Duration closed =
      wait.step == 0 ? wait.begin : pipelineEnd(timeline, wait.step - 1);
  const Duration opens =
      timeline.steps[static_cast<std::size_t>(wait.step)].pipelineBegin;
  return std::max(Duration(0),
                  std::min(opens, wait.splitAt) - std::max(closed, wait.begin));
}

} // namespace

WaitParts partsOf(const Wait &wait, const Timeline &timeline) {
  const bool isReceive = wait.cause == WaitCause::Recv;
  const bool nothingLeft = wait.cause == WaitCause::NothingLeft;
  const Duration split =
      nothingLeft
          ? std::clamp(pipelineEnd(timeline, wait.step), wait.begin, wait.end)
          : wait.splitAt;
  WaitParts parts;
  if (isReceive)
    parts.outside = betweenPipelines(wait, timeline);
  parts.before = split - wait.begin - parts.outside;
  parts.after = wait.end - split;
  if (isReceive || nothingLeft)
    parts.beforeCause = Cause::Bubble;
  parts.afterCause = nothingLeft ? Cause::StepEnd : exposedBy(wait.kind);
  return parts;
}

Waterfall waitsOf(const program::ProgramSet &programs,
                  const Timeline &timeline) {
  Waterfall waits;
  for (program::RankClassId id : programs.classes.ids()) {
    const std::int64_t ranks = programs.classes[id].ranks;
    forEachWait(timeline, id,
                [&](const Wait &wait, program::BlockId, std::int64_t runs) {
                  const WaitParts parts = partsOf(wait, timeline);
                  const Int128 weight = Int128(ranks) * runs;
                  waits[parts.beforeCause] += weight * parts.before.value;
                  waits[Cause::StepEnd] += weight * parts.outside.value;
                  waits[parts.afterCause] += weight * parts.after.value;
                });
  }
  return waits;
}

Table<timeline::FormId, ReusedRuns> reusedRuns(const Timeline &timeline,
                                               program::RankClassId rankClass) {
  const auto last = static_cast<std::int32_t>(timeline.steps.size()) - 1;
  Table<timeline::FormId, ReusedRuns> reused(timeline.isolated.size());
  for (const timeline::Run &run : timeline.classes[rankClass].runs)
    if (run.step == last && run.isReused())
      reused[run.form] = {run.block, reused[run.form].runs + 1};
  return reused;
}

OrderFigures figuresOf(const program::ProgramSet &programs,
                       const Timeline &timeline) {
  const Waterfall waits = waitsOf(programs, timeline);
  OrderFigures figures;
  figures.stepTime = timeline.stepTime;
  figures.bubble = waits[Cause::Bubble];
  for (std::size_t i = 0; i < kCauseCount; ++i)
    if (groupOf(static_cast<Cause>(i)) == CauseGroup::Communication)
      figures.exposed += waits.rankTime[i];
  const timeline::StepTimes &step = timeline.steps.back();
  figures.spanRankTime = Int128(programs.accelerators) *
                         (step.pipelineEnd - step.pipelineBegin).value;
  return figures;
}

} // namespace planc::report
