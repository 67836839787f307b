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
  Time joined = std::clamp(state.tasks[task].begin, begin, end);
  Time free =
      std::min(joined, lastDependence(rankClass, step, task, begin).end);
  if (free > begin)
    chargeTask(rankClass, step, task, begin, free);
  Wait wait;
  wait.step = step;
  wait.cause = WaitCause::Collective;
  wait.kind = program_.classes[rankClass]
                  .source->tasks[program::TaskId(task)]
                  .message.kind;
  wait.task = program::TaskId(task);
  // Behind others on its own stream it is exposed already.
  wait.begin = wait.splitAt = Duration(free);
  wait.end = Duration(joined);
  addWait(rankClass, wait);
  wait.begin = Duration(joined);
  wait.end = Duration(end);
  wait.splitAt =
      within(groups_[static_cast<std::size_t>(step)][group].begin, joined, end);
  addWait(rankClass, wait);
}

EngineState::Blame EngineState::lastDependence(std::uint32_t rankClass,
                                               std::int32_t step,
                                               std::uint32_t task,
                                               Time begin) const {
  const CompiledClass &compiled = program_.classes[rankClass];
  const StepState &state = stateOf(step, rankClass);
  Blame blame;
  blame.end = begin;
  auto later = [&](Time end, WaitCause cause, std::uint32_t index) {
    if (end > blame.end)
      blame = {end, cause, index, true};
  };
  const CompiledTask &what = compiled.tasks[task];
  for (std::uint32_t at = what.awaitedAt; at < what.awaitedEnd; ++at) {
    const std::uint32_t dep = compiled.awaited[at];
    later(state.tasks[dep].end,
          compiled.tasks[dep].kind == TaskKind::Collective
              ? WaitCause::Collective
              : WaitCause::Recv,
          dep);
  }
  auto waitsFor = [&](const std::vector<std::uint32_t> &tasks) {
    return std::find(tasks.begin(), tasks.end(), task) != tasks.end();
  };
  if (waitsFor(compiled.afterReduces))
    for (std::uint32_t b = 0; b < state.reduceEnd.size(); ++b)
      later(state.reduceEnd[b], WaitCause::Reduce, b);
  if (step > 0 && waitsFor(compiled.afterGathers))
    for (std::uint32_t b = 0; b < state.gatherEnd.size(); ++b)
      later(stateOf(step - 1, rankClass).gatherEnd[b], WaitCause::Gather, b);
  return blame;
}

void EngineState::chargeTask(std::uint32_t rankClass, std::int32_t step,
                             std::uint32_t task, Time begin, Time end) {
  Blame blame = lastDependence(rankClass, step, task, begin);
  if (blame.known && blame.cause == WaitCause::Collective) {
    chargeCollective(rankClass, step, blame.index, begin, end);
    return;
  }
  Wait wait;
  wait.step = step;
  wait.begin = wait.splitAt = Duration(begin);
  wait.end = Duration(end);
  wait.task = program::TaskId(task);
  wait.cause = blame.cause;
  if (blame.known && blame.cause == WaitCause::Recv) {
    wait.kind = CommunicationKind::Pipeline;
    wait.splitAt =
        within(stateOf(step, rankClass).tasks[blame.index].begin, begin, end);
    wait.task = program::TaskId(blame.index);
  } else if (blame.known) {
    wait.index = blame.index;
    chargeBuckets(rankClass, wait);
    return;
  }
  addWait(rankClass, wait);
}

/// A bucket that queued behind others was not what the rank waited for while
/// they were on the wire.
void EngineState::chargeBuckets(std::uint32_t rankClass, Wait wait) {
  const bool reduce = wait.cause == WaitCause::Reduce;
  const StepState &state =
      stateOf(reduce ? wait.step : wait.step - 1, rankClass);
  const std::vector<Time> &begins =
                              reduce ? state.reduceBegin : state.gatherBegin,
                          &ends = reduce ? state.reduceEnd : state.gatherEnd;
  const CompiledClass &compiled = program_.classes[rankClass];
  const Duration begin = wait.begin;
  std::vector<Wait> parts;
  for (bool behind = true; behind;) {
    const Time started = begins[wait.index];
    wait.kind = (reduce ? compiled.reduces : compiled.gathers)[wait.index].kind;
    wait.begin = wait.splitAt = begin;
    std::uint32_t before = kNone;
    for (std::uint32_t b = 0; b < ends.size() && started > begin.value; ++b)
      if (ends[b] == started && begins[b] < started)
        before = b;
    behind = before != kNone;
    if (behind)
      wait.begin = wait.splitAt = Duration(started);
    parts.push_back(wait);
    wait.end = wait.begin;
    wait.index = before;
  }
  for (std::size_t i = parts.size(); i-- > 0;)
    addWait(rankClass, parts[i]);
}

/// The list is in order of time; what begins at one moment is put in order of
/// stream, step, source and index.
static void sortMoments(std::vector<timeline::Communication> &list) {
  for (std::size_t begin = 0, end; begin < list.size(); begin = end) {
    for (end = begin + 1;
         end < list.size() && list[end].begin == list[begin].begin;)
      ++end;
    const auto at = [&](std::size_t i) {
      return list.begin() + static_cast<std::ptrdiff_t>(i);
    };
    if (end - begin > 1)
      std::sort(at(begin), at(end), [](const auto &a, const auto &b) {
        return std::tuple(a.stream, a.step, a.source, a.index) <
               std::tuple(b.stream, b.step, b.source, b.index);
      });
  }
}

void EngineState::finishTimeline() {
  for (std::uint32_t c = 0; c < classes_.size(); ++c) {
    timeline::ClassTimeline &timeline = timelineOf(c);
    const ClassIssue &issue = program_.order->classes[program::RankClassId(c)];
    timeline.reduces = issue.reduces;
    timeline.gathers = issue.gathers;
    sortMoments(timeline.communications);
  }
  findPipelines();
  splitTails();
  for (std::uint32_t c = 0; c < classes_.size(); ++c)
    timeline_.stepTime = std::max(
        timeline_.stepTime,
        timeline::windowOf(timeline_, program::RankClassId(c)).length());
}

void EngineState::findPipelines() {
  std::vector<char> seen(timeline_.steps.size());
  for (std::uint32_t c = 0; c < classes_.size(); ++c)
    for (const timeline::Run &run : timelineOf(c).runs) {
      auto step = static_cast<std::size_t>(run.step);
      timeline::StepTimes &times = timeline_.steps[step];
      if (program_.classes[c].tasks[run.task.index()].pass ==
          program::PassKind::Update)
        continue;
      times.pipelineBegin =
          seen[step] ? std::min(times.pipelineBegin, run.begin) : run.begin;
      times.pipelineEnd = std::max(times.pipelineEnd, run.end);
      seen[step] = 1;
    }
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
