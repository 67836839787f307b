#include "runtime/timeline/CriticalPath.h"

#include "runtime/timeline/Queries.h"

#include <algorithm>
#include <optional>

namespace planc::timeline {

namespace {

using program::Instruction;
using program::InstructionClass;
using program::TaskKind;

class Walk {
public:
  Walk(const Timeline &timeline, const program::ProgramSet &programs)
      : timeline_(timeline), programs_(programs) {
    for (const ClassTimeline &one : timeline.classes) {
      std::vector<std::uint32_t> &order = byEnd_.emplace_back();
      for (std::uint32_t i = 0; i < one.communications.size(); ++i)
        order.push_back(i);
      std::stable_sort(
          order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
            return one.communications[a].end < one.communications[b].end;
          });
    }
  }

  std::vector<PathPart> run() && {
    Duration longest(-1);
    for (RankClassId id : timeline_.classes.ids())
      if (const Window window = windowOf(timeline_, id);
          window.length() > longest) {
        longest = window.length();
        class_ = id;
        now_ = window.end;
      }
    if (!class_.isValid())
      return {};
    start_ = now_ - longest;
    while (now_ > start_)
      step();
    std::reverse(parts_.begin(), parts_.end());
    return std::move(parts_);
  }

private:
  const ClassTimeline &here() const { return timeline_.classes[class_]; }

  /// What ended now on this class, else on another, else nothing.
  void step() {
    if (const auto at = behind_ ? queuedBehind(*behind_) : std::nullopt) {
      take(*at);
      return;
    }
    behind_.reset();
    if (const Run *run = runAt(class_)) {
      inRun(*run);
      return;
    }
    if (const auto at = communicationEnding(class_)) {
      take(*at);
      return;
    }
    tried_.push_back(class_);
    for (RankClassId id : timeline_.classes.ids()) {
      const bool isTried =
          std::find(tried_.begin(), tried_.end(), id) != tried_.end();
      const Run *run = isTried ? nullptr : runAt(id);
      if (!isTried && ((run && run->end == now_) || communicationEnding(id))) {
        class_ = id;
        return;
      }
    }
    idle();
  }

  /// The run that is on the compute stream just before now.
  const Run *runAt(RankClassId id) const {
    const std::vector<Run> &runs = timeline_.classes[id].runs;
    auto at =
        std::partition_point(runs.begin(), runs.end(),
                             [&](const Run &run) { return run.begin < now_; });
    while (at != runs.begin()) {
      --at;
      if (at->end >= now_)
        return &*at;
      if (at->end > at->begin)
        break;
    }
    return nullptr;
  }

  /// What a rank waits for and ended now: anything but a send.
  std::optional<std::uint32_t> communicationEnding(RankClassId id) const {
    const auto &all = timeline_.classes[id].communications;
    const std::vector<std::uint32_t> &order = byEnd_[id.index()];
    auto at =
        std::partition_point(order.begin(), order.end(), [&](std::uint32_t i) {
          return all[i].end < now_;
        });
    for (; at != order.end() && all[*at].end == now_; ++at)
      if (all[*at].begin < now_ && all[*at].source != CommunicationSource::Send)
        return *at;
    return std::nullopt;
  }

  void inRun(const Run &run) {
    const RunInstructions inside = instructionsOf(timeline_, run);
    const auto &code = programs_.blocks[run.block].instructions;
    const auto chosen = instructionEnding(inside, code);
    if (!chosen) {
      // A bucket that the instruction or its stream waited for.
      if (const auto at = communicationEnding(class_))
        take(*at);
      else
        idle();
      return;
    }
    PathPart part;
    part.what = PathPart::What::Instruction;
    part.step = run.step;
    part.task = run.task;
    part.instruction = *chosen;
    add(part, inside.origin + inside.times[*chosen].begin);
    hint_ = now_ > run.begin ? chosen : std::nullopt;
  }

  std::optional<std::uint32_t>
  instructionEnding(const RunInstructions &inside,
                    const std::vector<Instruction> &code) const {
    const auto ends = [&](std::uint32_t i) {
      return inside.origin + inside.times[i].end == now_ &&
             inside.times[i].begin < inside.times[i].end;
    };
    const auto isKernel = [&](std::uint32_t i) {
      return classOf(code[i].kind) == InstructionClass::Compute;
    };
    std::optional<std::uint32_t> best;
    if (hint_ && *hint_ < code.size())
      for (std::uint32_t dep : code[*hint_].deps)
        if (ends(dep) && (!best || (isKernel(dep) && !isKernel(*best))))
          best = dep;
    if (best)
      return best;
    for (std::uint32_t i = 0; i < code.size(); ++i)
      if (ends(i) && (!hint_ || code[i].stream == code[*hint_].stream) &&
          (!best || (isKernel(i) && !isKernel(*best))))
        best = i;
    if (best || (hint_ && communicationEnding(class_)))
      return best;
    // Entered in the middle: the kernel that runs, else any of its collectives.
    for (std::uint32_t i = 0; i < code.size(); ++i) {
      const bool runs = inside.origin + inside.times[i].begin < now_ &&
                        now_ <= inside.origin + inside.times[i].end;
      if (runs && (!best || (isKernel(i) && !isKernel(*best))))
        best = i;
    }
    return best;
  }

  /// On the wire until now; goes on with what it waited for.
  void take(std::uint32_t index) {
    const Communication &taken = here().communications[index];
    PathPart part;
    part.what = PathPart::What::Communication;
    part.step = taken.step;
    part.communication = index;
    add(part, taken.begin);
    hint_.reset();
    switch (taken.source) {
    case CommunicationSource::Recv:
      toSender(taken);
      break;
    case CommunicationSource::Collective:
      toLastMember(taken);
      break;
    case CommunicationSource::Send:
    case CommunicationSource::Reduce:
    case CommunicationSource::Gather:
      break;
    }
    behind_ =
        taken.source == CommunicationSource::Recv ? Stream::Send : taken.stream;
  }

  const Communication *find(RankClassId id, CommunicationSource source,
                            std::int32_t step, std::int64_t tag,
                            RankClassId peer) const {
    for (const Communication &one : timeline_.classes[id].communications) {
      if (one.source != source || one.step != step)
        continue;
      const program::Task &task =
          programs_.classes[id].tasks[TaskId(one.index)];
      if (task.tag == tag && task.peer == peer)
        return &one;
    }
    return nullptr;
  }

  void toSender(const Communication &received) {
    const program::Task &task =
        programs_.classes[class_].tasks[TaskId(received.index)];
    const Communication *sent = find(task.peer, CommunicationSource::Send,
                                     received.step, task.tag, class_);
    if (sent &&
        (sent->ready == received.begin || received.ready < received.begin))
      class_ = task.peer;
  }

  void toLastMember(const Communication &taken) {
    const program::Task &task =
        programs_.classes[class_].tasks[TaskId(taken.index)];
    if (taken.ready == taken.begin || task.tag < 0)
      return;
    for (RankClassId id : timeline_.classes.ids()) {
      const Communication *other = find(id, CommunicationSource::Collective,
                                        taken.step, task.tag, RankClassId());
      if (other && other->ready == taken.begin) {
        class_ = id;
        return;
      }
    }
  }

  /// What was on the stream until now, where no run ended now.
  std::optional<std::uint32_t> queuedBehind(Stream stream) const {
    if (const Run *run = runAt(class_); run && run->end == now_)
      return std::nullopt;
    const auto &all = here().communications;
    const std::vector<std::uint32_t> &order = byEnd_[class_.index()];
    auto at =
        std::partition_point(order.begin(), order.end(), [&](std::uint32_t i) {
          return all[i].end < now_;
        });
    for (; at != order.end() && all[*at].end == now_; ++at)
      if (all[*at].stream == stream && all[*at].begin < now_)
        return *at;
    return std::nullopt;
  }

  /// Back to whatever ended last here.
  void idle() {
    Duration last = start_;
    for (const Run &run : here().runs)
      if (run.end < now_)
        last = std::max(last, run.end);
    for (const Communication &one : here().communications)
      if (one.end < now_)
        last = std::max(last, one.end);
    hint_.reset();
    add(PathPart(), last);
  }

  void add(PathPart part, Duration from) {
    part.rankClass = class_;
    part.begin = std::max(from, start_);
    part.end = now_;
    now_ = part.begin;
    tried_.clear();
    parts_.push_back(part);
  }

  const Timeline &timeline_;
  const program::ProgramSet &programs_;
  std::vector<std::vector<std::uint32_t>> byEnd_; ///< by class
  RankClassId class_;
  Duration now_, start_;
  /// The instruction that begins now, in the run that is walked.
  std::optional<std::uint32_t> hint_;
  /// The stream of a communication that begins now.
  std::optional<Stream> behind_;
  std::vector<RankClassId> tried_; ///< classes where nothing ended now
  std::vector<PathPart> parts_;
};

} // namespace

std::vector<PathPart> criticalPath(const Timeline &timeline,
                                   const program::ProgramSet &programs) {
  return Walk(timeline, programs).run();
}

} // namespace planc::timeline
