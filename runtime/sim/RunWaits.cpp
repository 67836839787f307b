#include "runtime/sim/BlockRun.h"

namespace planc::sim {

namespace {

using timeline::InstructionTimes;
using timeline::Wait;
using timeline::WaitCause;

class RunWaits {
public:
  RunWaits(const CompiledBlock &block, std::span<const InstructionTimes> times,
           const std::function<GatherEnd(std::uint32_t)> &gatherEnd)
      : block_(block), times_(times), gatherEnd_(gatherEnd) {}

  std::vector<Wait> find(RunSpan span) {
    Time last = span.begin;
    for (std::uint32_t at = block_.orderAt[0]; at < block_.orderAt[1]; ++at) {
      std::uint32_t i = block_.order[at];
      if (times_[i].begin.value > last)
        add(last, times_[i].begin.value, causeOf(i));
      last = times_[i].end.value;
      if (!block_.isKernel[i] && times_[i].end > times_[i].begin)
        add(times_[i].begin.value, last, {WaitCause::Instruction, i});
    }
    if (span.end > last)
      add(last, span.end, {WaitCause::Instruction, lastEnded(span.end)});
    return std::move(waits_);
  }

private:
  struct Cause {
    WaitCause kind;
    std::uint32_t index;
  };

  /// The dependence whose end let instruction i begin.
  Cause causeOf(std::uint32_t i) const {
    const std::vector<std::uint32_t> &deps =
        block_.source->instructions[i].deps;
    GatherEnd gather = gatherEnd_ ? gatherEnd_(i) : GatherEnd{};
    if (gather.time == times_[i].begin.value)
      return {WaitCause::Gather, gather.bucket};
    Cause latest{WaitCause::Instruction, i};
    Time end = -1;
    for (std::uint32_t dep : deps)
      if (times_[dep].end.value > end) {
        end = times_[dep].end.value;
        latest.index = dep;
      }
    return latest;
  }

  std::uint32_t lastEnded(Time end) const {
    for (std::uint32_t i = 0; i < block_.count; ++i)
      if (times_[i].end.value == end)
        return i;
    return 0;
  }

  void add(Time begin, Time end, Cause cause) {
    Wait wait;
    wait.begin = wait.splitAt = Duration(begin);
    wait.end = Duration(end);
    wait.cause = cause.kind;
    wait.index = cause.index;
    wait.kind = cause.kind == WaitCause::Gather
                    ? program::CommunicationKind::Parameters
                    : block_.source->instructions[cause.index].message.kind;
    waits_.push_back(wait);
  }

  const CompiledBlock &block_;
  std::span<const InstructionTimes> times_;
  const std::function<GatherEnd(std::uint32_t)> &gatherEnd_;
  std::vector<Wait> waits_;
};

} // namespace

std::vector<Wait>
waitsOfRun(const CompiledBlock &block, std::span<const InstructionTimes> times,
           RunSpan span,
           const std::function<GatherEnd(std::uint32_t)> &gatherEnd) {
  return RunWaits(block, times, gatherEnd).find(span);
}

} // namespace planc::sim
