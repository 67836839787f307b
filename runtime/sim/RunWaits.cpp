#include "runtime/sim/BlockRun.h"

#include <optional>

namespace planc::sim {

namespace {

using timeline::InstructionTimes;
using timeline::Wait;
using timeline::WaitCause;

class RunWaits {
public:
  RunWaits(const CompiledBlock &block, std::span<const InstructionTimes> times,
           const GatherEnds &gathers, std::vector<Wait> &out)
      : block_(block), times_(times), gathers_(gathers), out_(out) {}

  void find(RunSpan span) {
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
    if (const auto bucket = lastGather(i))
      return {WaitCause::Gather, *bucket};
    Cause latest{WaitCause::Instruction, i};
    Time end = -1;
    for (std::uint32_t dep : deps)
      if (times_[dep].end.value > end) {
        end = times_[dep].end.value;
        latest.index = dep;
      }
    return latest;
  }

  /// The bucket of the last gather that instruction i waited for, where it
  /// began with that one's end.
  std::optional<std::uint32_t> lastGather(std::uint32_t i) const {
    Time end = -1;
    std::uint32_t bucket = 0;
    for (const Hook &use : gathers_.uses)
      if (use.instruction == i && gathers_.ends[use.bucket] > end) {
        end = gathers_.ends[use.bucket];
        bucket = use.bucket;
      }
    return end == times_[i].begin.value ? std::optional(bucket) : std::nullopt;
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
    out_.push_back(wait);
  }

  const CompiledBlock &block_;
  std::span<const InstructionTimes> times_;
  const GatherEnds &gathers_;
  std::vector<Wait> &out_;
};

} // namespace

void findWaits(const CompiledBlock &block,
               std::span<const InstructionTimes> times, RunSpan span,
               const GatherEnds &gathers, std::vector<Wait> &out) {
  RunWaits(block, times, gathers, out).find(span);
}

} // namespace planc::sim
