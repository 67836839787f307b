#include "tools/planc-opt/Summary.h"

#include "runtime/timeline/Queries.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace planc::tool {

using program::PassKind;
using program::RankClassId;
using program::RankProgram;
using program::Task;
using program::TaskKind;
using timeline::Run;
using timeline::Timeline;
using timeline::Wait;
using timeline::WaitCause;

namespace {

bool isPipeline(const Task &task) { return task.pass != PassKind::Update; }

Duration onTheWire(const std::vector<Wait> &waits) {
  Duration sum;
  for (const Wait &wait : waits)
    if (wait.cause == WaitCause::Recv)
      sum += wait.end - wait.splitAt;
  return sum;
}

ClassSummary summariseClass(const Timeline &timeline,
                            const program::ProgramSet &set, RankClassId id) {
  const RankProgram &rankClass = set.classes[id];
  ClassSummary out;
  std::int64_t inFlight = 0;
  bool any = false;
  for (const Run &run : timeline.classes[id].runs) {
    const Task &task = rankClass.tasks[run.task];
    if (!isPipeline(task))
      continue;
    out.busy += run.end - run.begin;
    if (!any)
      out.first = run.begin;
    any = true;
    out.last = std::max(out.last, run.end);
    inFlight += task.pass == PassKind::Forward;
    out.peak = std::max(out.peak, inFlight);
    inFlight -= task.sendsBack();
  }
  const timeline::StepTimes &step = timeline.steps.front();
  out.idle = step.pipelineEnd - step.pipelineBegin - out.busy;
  out.transfer =
      onTheWire(waitsIn(timeline, id, {step.pipelineBegin, step.pipelineEnd}));
  return out;
}

Duration lastEnd(const Timeline &timeline) {
  Duration end;
  for (const timeline::ClassTimeline &of : timeline.classes) {
    for (const Run &run : of.runs)
      end = std::max(end, run.end);
    for (const timeline::Communication &one : of.communications)
      end = std::max(end, one.end);
  }
  return end;
}

std::string digits(Int128 value) {
  std::string out;
  do {
    out.insert(out.begin(),
               static_cast<char>('0' + static_cast<int>(value % 10)));
    value /= 10;
  } while (value > 0);
  return out;
}

/// `15/31 0.483871`, cut, not rounded; for what is not negative.
std::string ratio(Int128 part, Int128 whole) {
  if (whole == 0)
    return "0/1 0.000000";
  Int128 a = part, b = whole;
  while (b != 0)
    a = std::exchange(b, a % b);
  part /= a;
  whole /= a;
  std::string decimals;
  Int128 rest = part % whole;
  for (int i = 0; i < 6; ++i) {
    rest *= 10;
    decimals += static_cast<char>('0' + static_cast<int>(rest / whole));
    rest %= whole;
  }
  return digits(part) + "/" + digits(whole) + " " + digits(part / whole) + "." +
         decimals;
}

} // namespace

Summary summarise(const Timeline &timeline, const program::ProgramSet &set) {
  Summary out;
  const timeline::StepTimes &step = timeline.steps.front();
  out.makespan = lastEnd(timeline);
  out.span = step.pipelineEnd - step.pipelineBegin;
  for (RankClassId id : set.classes.ids()) {
    const RankProgram &rankClass = set.classes[id];
    ClassSummary &one =
        out.classes.emplace_back(summariseClass(timeline, set, id));
    out.longest = std::max(out.longest, one.last - one.first);
    out.mostBusy = std::max(out.mostBusy, one.busy);
    for (const Task &task : rankClass.tasks)
      if (task.kind == TaskKind::Send)
        out.messages += rankClass.ranks;
  }
  return out;
}

std::string toText(const Summary &summary, const program::ProgramSet &set,
                   Duration stepTime) {
  Int128 ranks = 0, idle = 0, transfer = 0;
  for (RankClassId id : set.classes.ids()) {
    const ClassSummary &one = summary.classes[id.index()];
    std::int64_t count = set.classes[id].ranks;
    ranks += count;
    idle += Int128(count) * one.idle.value;
    transfer += Int128(count) * one.transfer.value;
  }
  Int128 all = ranks * summary.span.value;
  std::string out;
  auto line = [&out](std::string_view key, std::string_view value) {
    out += fmt::format("{:<14}{}\n", key, value);
  };
  auto time = [](Duration value) { return fmt::format("{} ps", value.value); };
  line("step time", time(stepTime));
  line("makespan", time(summary.makespan));
  line("pipeline span", time(summary.span));
  line("bubble global", ratio(idle, all));
  line("bubble span", ratio((summary.longest - summary.mostBusy).value,
                            summary.longest.value));
  line("transfer", ratio(transfer, all));
  line("messages", fmt::format("{}", summary.messages));
  for (RankClassId id : set.classes.ids()) {
    const ClassSummary &one = summary.classes[id.index()];
    out += fmt::format("class {} ranks {} busy {} ps idle {} ps peak {}\n",
                       id.index(), set.classes[id].ranks, one.busy.value,
                       one.idle.value, one.peak);
  }
  return out;
}

} // namespace planc::tool
