// Rules of a Timeline.
//
//   T1  no two entries of one stream overlap; receives may
//   T2  every task of every step is there once, every bucket as often
//   T3  a task begins when its dependences have ended
//   T4  an instruction begins when its dependences have ended, inside its run
//   T5  waits and what runs fill the compute stream, without gaps or overlaps
//   T6  a send and its receive are on the wire from the same moment
//   T7  an update begins when the reductions of its class have ended
#include "runtime/timeline/Queries.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace planc::timeline {

namespace {

struct Span {
  Duration begin, end;
  auto operator<=>(const Span &) const = default;
};

class ClassVerifier {
public:
  ClassVerifier(const Timeline &timeline, const program::ProgramSet &set,
                RankClassId id, std::vector<std::string> &broken)
      : timeline_(timeline), set_(set), id_(id), of_(timeline.classes[id]),
        source_(set.classes[id]), broken_(broken),
        spans_(timeline.steps.size()) {}

  void verify() {
    collect();
    verifyStreams();
    verifyTasks();
    for (const Run &run : of_.runs)
      verifyRun(run);
    verifyCompute();
    verifyUpdates();
  }

private:
  void check(bool holds, int rule, std::string_view what) {
    if (!holds)
      broken_.push_back(
          fmt::format("T{} class `{}`: {}", rule, source_.name, what));
  }

  /// Sums up where everything was: tasks by step, streams by span.
  void collect() {
    for (auto &step : spans_)
      step.assign(source_.tasks.size(), {Duration(-1), Duration(-1)});
    for (const Run &run : of_.runs) {
      note(run.step, run.task, {run.begin, run.end});
      RunInstructions inside = instructionsOf(timeline_, run);
      const program::Block &block = set_.blocks[run.block];
      for (std::size_t i = 0; i < inside.times.size(); ++i)
        streams_[static_cast<std::size_t>(block.instructions[i].stream)]
            .push_back({inside.origin + inside.times[i].begin,
                        inside.origin + inside.times[i].end});
    }
    for (const Communication &one : of_.communications) {
      check(one.begin <= one.end && one.ready <= one.begin, 1,
            "an entry ends before it begins");
      streams_[static_cast<std::size_t>(one.stream)].push_back(
          {one.begin, one.end});
      if (one.source < CommunicationSource::Reduce)
        note(one.step, TaskId(one.index), {one.begin, one.end});
    }
  }

  void note(std::int32_t step, TaskId task, Span span) {
    Span &at = spans_[static_cast<std::size_t>(step)][task.index()];
    check(at.begin < Duration(0), 2,
          fmt::format("task {} is there twice", task.index()));
    at = span;
  }

  void verifyStreams() {
    for (std::size_t s = 0; s < streams_.size(); ++s) {
      if (s == static_cast<std::size_t>(Stream::Recv))
        continue;
      std::sort(streams_[s].begin(), streams_[s].end());
      for (std::size_t i = 1; i < streams_[s].size(); ++i)
        check(streams_[s][i].begin >= streams_[s][i - 1].end, 1,
              fmt::format("two entries of stream {} overlap at {}",
                          toString(static_cast<Stream>(s)),
                          streams_[s][i].begin.value));
    }
  }

  void verifyTasks() {
    for (std::size_t step = 0; step < spans_.size(); ++step)
      for (TaskId id : source_.tasks.ids()) {
        const Span &span = spans_[step][id.index()];
        check(span.begin >= Duration(0), 2,
              fmt::format("task {} of step {} is not there", id.index(), step));
        for (TaskId dep : source_.tasks[id].deps)
          check(spans_[step][dep.index()].end <= span.begin, 3,
                fmt::format("task {} of step {} begins before {} has ended",
                            id.index(), step, dep.index()));
      }
    std::vector<std::size_t> reduces(of_.reduces.size());
    for (const Communication &one : of_.communications)
      if (one.source == CommunicationSource::Reduce)
        ++reduces[one.index];
    for (std::size_t count : reduces)
      check(count == timeline_.steps.size(), 2,
            "a bucket is not there once a step");
  }

  void verifyRun(const Run &run) {
    RunInstructions inside = instructionsOf(timeline_, run);
    const program::Block &block = set_.blocks[run.block];
    for (std::size_t i = 0; i < inside.times.size(); ++i) {
      Duration begin = inside.origin + inside.times[i].begin;
      Duration end = inside.origin + inside.times[i].end;
      check(begin >= run.begin && end <= run.end && begin <= end, 4,
            "an instruction is outside its run");
      for (std::uint32_t dep : block.instructions[i].deps)
        check(inside.times[dep].end <= inside.times[i].begin, 4,
              "an instruction begins before what it needs has ended");
    }
  }

  /// Kernels, waits and blocking collectives, one after the other from 0.
  void verifyCompute() {
    std::vector<Span> spans;
    Window all{Duration(0),
               of_.runs.empty() ? Duration(0) : of_.runs.back().end};
    for (const Wait &wait : waitsIn(timeline_, id_, all)) {
      check(wait.begin <= wait.splitAt && wait.splitAt <= wait.end, 5,
            "a wait is split outside itself");
      spans.push_back({wait.begin, wait.end});
    }
    for (const Run &run : of_.runs) {
      RunInstructions inside = instructionsOf(timeline_, run);
      const program::Block &block = set_.blocks[run.block];
      for (std::size_t i = 0; i < inside.times.size(); ++i)
        if (block.instructions[i].stream == Stream::Compute &&
            classOf(block.instructions[i].kind) ==
                program::InstructionClass::Compute)
          spans.push_back({inside.origin + inside.times[i].begin,
                           inside.origin + inside.times[i].end});
    }
    std::sort(spans.begin(), spans.end());
    Duration at(0);
    for (const Span &span : spans) {
      check(span.begin == at, 5,
            fmt::format("the compute stream is not filled at {}", at.value));
      at = span.end;
    }
    check(at == all.end, 5, "the compute stream ends early");
  }

  void verifyUpdates() {
    for (const Run &run : of_.runs)
      if (source_.tasks[run.task].pass == program::PassKind::Update)
        for (const Communication &one : of_.communications)
          if (one.source == CommunicationSource::Reduce && one.step == run.step)
            check(one.end <= run.begin, 7,
                  "an update begins before a reduction has ended");
  }

  const Timeline &timeline_;
  const program::ProgramSet &set_;
  RankClassId id_;
  const ClassTimeline &of_;
  const program::RankProgram &source_;
  std::vector<std::string> &broken_;
  std::vector<std::vector<Span>> spans_; ///< by step and task
  std::array<std::vector<Span>, program::kStreamCount> streams_;
};

void verifyTransfers(const Timeline &timeline, const program::ProgramSet &set,
                     std::vector<std::string> &broken) {
  struct End {
    std::size_t from, to;
    std::int64_t tag;
    std::int32_t step;
    Duration begin;
    auto operator<=>(const End &) const = default;
  };
  std::vector<End> sent, got;
  for (RankClassId id : timeline.classes.ids())
    for (const Communication &one : timeline.classes[id].communications) {
      if (one.source > CommunicationSource::Recv)
        continue;
      const program::Task &task = set.classes[id].tasks[TaskId(one.index)];
      bool send = one.source == CommunicationSource::Send;
      std::size_t me = id.index(), peer = task.peer.index();
      (send ? sent : got)
          .push_back({send ? me : peer, send ? peer : me, task.tag, one.step,
                      one.begin});
    }
  std::sort(sent.begin(), sent.end());
  std::sort(got.begin(), got.end());
  if (sent != got)
    broken.push_back("T6: a send and its receive differ");
}

} // namespace

std::vector<std::string> verify(const Timeline &timeline,
                                const program::ProgramSet &set) {
  std::vector<std::string> broken;
  for (RankClassId id : timeline.classes.ids())
    ClassVerifier(timeline, set, id, broken).verify();
  verifyTransfers(timeline, set, broken);
  return broken;
}

} // namespace planc::timeline
