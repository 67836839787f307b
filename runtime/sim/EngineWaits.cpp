#include "runtime/sim/EngineState.h"

#include <algorithm>
#include <tuple>

namespace planc::sim {

using program::CommunicationKind;
using program::TaskKind;
using timeline::WaitCause;

namespace {
Duration within(Time time, Time begin, Time end) {
  return Duration(std::clamp(time, begin, end));
}
} // namespace

void EngineState::addWait(std::uint32_t rankClass, Wait wait) {
  if (wait.begin >= wait.end)
    return;
  wait.rankClass = program::RankClassId(rankClass);
  timelineOf(rankClass).waits.push_back(wait);
}

void EngineState::chargeIdle(std::uint32_t rankClass, std::int32_t step,
                             std::uint32_t task) {
  Time begin = classes_[rankClass].computeEnd;
  if (begin == now_)
    return;
  if (program_.classes[rankClass].tasks[task].kind == TaskKind::Collective)
    chargeCollective(rankClass, step, task, begin, now_);
  else if (joinedAt_[static_cast<std::size_t>(step)] > begin &&
           task == program_.classes[rankClass].firstUpdate)
    chargeJoin(rankClass, step, task, begin, now_);
  else
    chargeTask(rankClass, step, task, begin, now_);
}

void EngineState::chargeJoin(std::uint32_t rankClass, std::int32_t step,
                             std::uint32_t task, Time begin, Time end) {
  Time arrival = std::max(begin, stateOf(step, rankClass).arrival);
  if (arrival > begin)
    chargeTask(rankClass, step, task, begin, arrival);
  Wait wait;
  wait.step = step;
  wait.begin = Duration(arrival);
  wait.end = wait.splitAt = Duration(end);
  wait.cause = WaitCause::Join;
  wait.kind = CommunicationKind::Norm;
  wait.task = program::TaskId(task);
  addWait(rankClass, wait);
}

void EngineState::chargeCollective(std::uint32_t rankClass, std::int32_t step,
                                   std::uint32_t task, Time begin, Time end) {
  const StepState &state = stateOf(step, rankClass);
  std::uint32_t group = program_.classes[rankClass].tasks[task].match;
  Time joined = std::clamp(state.begin[task], begin, end);
  if (joined > begin)
    chargeTask(rankClass, step, task, begin, joined);
  Wait wait;
  wait.step = step;
  wait.begin = Duration(joined);
  wait.end = Duration(end);
  wait.splitAt =
      within(groups_[static_cast<std::size_t>(step)][group].begin, joined, end);
  wait.cause = WaitCause::Collective;
  wait.kind = program_.classes[rankClass]
                  .source->tasks[program::TaskId(task)]
                  .message.kind;
  wait.task = program::TaskId(task);
  addWait(rankClass, wait);
}

/// Charges [begin, end) to the dependence of `task` that ended last.
void EngineState::chargeTask(std::uint32_t rankClass, std::int32_t step,
                             std::uint32_t task, Time begin, Time end) {
  const CompiledClass &compiled = program_.classes[rankClass];
  const StepState &state = stateOf(step, rankClass);
  Time latest = begin;
  std::uint32_t by = kNone;
  for (program::TaskId dep :
       compiled.source->tasks[program::TaskId(task)].deps) {
    auto index = static_cast<std::uint32_t>(dep.index());
    if (state.end[index] > latest &&
        compiled.tasks[index].kind != TaskKind::Run) {
      latest = state.end[index];
      by = index;
    }
  }
  Wait wait;
  wait.step = step;
  wait.begin = wait.splitAt = Duration(begin);
  wait.end = Duration(end);
  wait.task = program::TaskId(task);
  auto contains = [&](const std::vector<std::uint32_t> &list) {
    return std::find(list.begin(), list.end(), task) != list.end();
  };
  auto bucket = [&](const std::vector<Time> &ends, WaitCause cause,
                    const std::vector<CompiledBucket> &buckets) {
    for (std::uint32_t b = 0; b < ends.size(); ++b)
      if (ends[b] > latest) {
        latest = ends[b];
        by = kNone;
        wait.cause = cause;
        wait.index = b;
        wait.kind = buckets[b].kind;
      }
  };
  if (contains(compiled.afterReduces))
    bucket(state.reduceEnd, WaitCause::Reduce, compiled.reduces);
  if (step > 0 && contains(compiled.afterGathers))
    bucket(stateOf(step - 1, rankClass).gatherEnd, WaitCause::Gather,
           compiled.gathers);
  if (by == kNone) {
    addWait(rankClass, wait);
  } else if (compiled.tasks[by].kind == TaskKind::Collective) {
    chargeCollective(rankClass, step, by, begin, end);
  } else {
    wait.cause = WaitCause::Recv;
    wait.kind = CommunicationKind::Pipeline;
    wait.splitAt = within(state.begin[by], begin, end);
    wait.task = program::TaskId(by);
    addWait(rankClass, wait);
  }
}

void EngineState::finishTimeline() {
  for (std::uint32_t c = 0; c < classes_.size(); ++c) {
    timeline::ClassTimeline &timeline = timelineOf(c);
    const ClassIssue &issue = program_.order->classes[program::RankClassId(c)];
    timeline.reduces = issue.reduces;
    timeline.gathers = issue.gathers;
    std::sort(timeline.communications.begin(), timeline.communications.end(),
              [](const auto &a, const auto &b) {
                return std::tuple(a.begin, a.stream, a.step, a.source,
                                  a.index) <
                       std::tuple(b.begin, b.stream, b.step, b.source, b.index);
              });
  }
  for (std::size_t step = 0; step < timeline_.steps.size(); ++step) {
    timeline::StepTimes &times = timeline_.steps[step];
    bool first = true;
    for (std::uint32_t c = 0; c < classes_.size(); ++c)
      for (const timeline::Run &run : timelineOf(c).runs) {
        const CompiledTask &task = program_.classes[c].tasks[run.task.index()];
        if (run.step != static_cast<std::int32_t>(step) ||
            task.pass == program::PassKind::Update)
          continue;
        times.pipelineBegin =
            first ? run.begin : std::min(times.pipelineBegin, run.begin);
        times.pipelineEnd = std::max(times.pipelineEnd, run.end);
        first = false;
      }
  }
  splitTails();
  for (std::uint32_t c = 0; c < classes_.size(); ++c)
    timeline_.stepTime = std::max(
        timeline_.stepTime,
        timeline::windowOf(timeline_, program::RankClassId(c)).length());
}

/// Where a rank has no pipeline operation left in a step, it waits for the
/// pipeline first and for anything else only after (METRICS M5).
void EngineState::splitTails() {
  for (std::uint32_t c = 0; c < classes_.size(); ++c) {
    std::vector<Duration> lastEnd(timeline_.steps.size());
    for (const timeline::Run &run : timelineOf(c).runs)
      if (program_.classes[c].tasks[run.task.index()].pass !=
          program::PassKind::Update)
        lastEnd[static_cast<std::size_t>(run.step)] = run.end;
    std::vector<Wait> waits;
    for (Wait wait : timelineOf(c).waits) {
      auto step = static_cast<std::size_t>(wait.step);
      Duration until = std::min(wait.end, timeline_.steps[step].pipelineEnd);
      bool tail = wait.cause != WaitCause::Instruction &&
                  wait.begin >= lastEnd[step] && lastEnd[step] > Duration(0);
      if (tail && until > wait.begin) {
        Wait nothing = wait;
        nothing.cause = WaitCause::NothingLeft;
        nothing.kind = CommunicationKind::None;
        nothing.end = nothing.splitAt = until;
        waits.push_back(nothing);
        wait.begin = until;
        wait.splitAt = std::max(wait.splitAt, until);
      }
      if (wait.end > wait.begin)
        waits.push_back(wait);
    }
    timelineOf(c).waits = std::move(waits);
  }
}

} // namespace planc::sim
