#include "runtime/timeline/Queries.h"

#include <algorithm>

namespace planc::timeline {

namespace {

Duration overlap(Duration begin, Duration end, Window window) {
  Duration from = std::max(begin, window.begin);
  Duration to = std::min(end, window.end);
  return to > from ? to - from : Duration(0);
}

/// Calls visit(instruction, begin, end) for what runs of the class did inside
/// the window.
template <class Visit>
void forEachInstruction(const Timeline &timeline,
                        const program::ProgramSet &set, RankClassId rankClass,
                        Window window, Visit visit) {
  for (const Run &run : timeline.classes[rankClass].runs) {
    if (run.end <= window.begin || run.begin >= window.end)
      continue;
    RunInstructions inside = instructionsOf(timeline, run);
    const program::Block &block = set.blocks[run.block];
    for (std::size_t i = 0; i < inside.times.size(); ++i)
      visit(block.instructions[i], inside.origin + inside.times[i].begin,
            inside.origin + inside.times[i].end);
  }
}

} // namespace

RunInstructions instructionsOf(const Timeline &timeline, const Run &run) {
  const IsolatedRun &apart = timeline.isolated[run.form];
  if (run.isReused())
    return {run.begin, apart.instructions};
  std::span<const InstructionTimes> all = timeline.instructions;
  return {Duration(0), all.subspan(run.first, apart.instructions.size())};
}

std::vector<Wait> waitsIn(const Timeline &timeline, RankClassId rankClass,
                          Window window) {
  std::vector<Wait> out;
  auto add = [&](Wait wait) {
    wait.begin = std::max(wait.begin, window.begin);
    wait.end = std::min(wait.end, window.end);
    wait.splitAt =
        std::clamp(wait.splitAt, wait.begin, std::max(wait.begin, wait.end));
    if (wait.begin < wait.end)
      out.push_back(wait);
  };
  const ClassTimeline &of = timeline.classes[rankClass];
  auto next = of.waits.begin();
  for (const Run &run : of.runs) {
    for (; next != of.waits.end() && next->begin < run.begin; ++next)
      add(*next);
    if (!run.isReused() || run.end <= window.begin || run.begin >= window.end)
      continue;
    for (Wait wait : timeline.isolated[run.form].waits) {
      wait.rankClass = rankClass;
      wait.step = run.step;
      wait.task = run.task;
      wait.begin += run.begin;
      wait.splitAt += run.begin;
      wait.end += run.begin;
      add(wait);
    }
  }
  for (; next != of.waits.end(); ++next)
    add(*next);
  return out;
}

Duration busy(const Timeline &timeline, const program::ProgramSet &set,
              RankClassId rankClass, Stream stream, Window window) {
  Duration sum(0);
  for (const Communication &one : timeline.classes[rankClass].communications)
    if (one.stream == stream)
      sum += overlap(one.begin, one.end, window);
  forEachInstruction(timeline, set, rankClass, window,
                     [&](const program::Instruction &instruction,
                         Duration begin, Duration end) {
                       if (instruction.stream == stream)
                         sum += overlap(begin, end, window);
                     });
  return sum;
}

std::vector<Duration> inFlight(const Timeline &timeline,
                               const program::ProgramSet &set,
                               RankClassId rankClass, Window window) {
  std::vector<Duration> sums(static_cast<std::size_t>(CommunicationKind::Host) +
                             1); // the last of them
  const auto add = [&](CommunicationKind kind, Duration begin, Duration end) {
    sums[static_cast<std::size_t>(kind)] += overlap(begin, end, window);
  };
  for (const Communication &one : timeline.classes[rankClass].communications)
    add(one.kind, one.begin, one.end);
  forEachInstruction(timeline, set, rankClass, window,
                     [&](const program::Instruction &instruction,
                         Duration begin, Duration end) {
                       if (classOf(instruction.kind) !=
                           program::InstructionClass::Compute)
                         add(instruction.message.kind, begin, end);
                     });
  return sums;
}

Duration pipelineWork(const Timeline &timeline, const program::ProgramSet &set,
                      RankClassId rankClass, std::int32_t step) {
  Duration sum(0);
  for (const Run &run : timeline.classes[rankClass].runs)
    if (run.step == step && set.classes[rankClass].tasks[run.task].pass !=
                                program::PassKind::Update)
      sum += run.end - run.begin;
  return sum;
}

} // namespace planc::timeline
