#include "runtime/report/Explanation.h"
#include "runtime/report/NumberText.h"
#include "runtime/report/RankTime.h"
#include "runtime/report/WaitShares.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace planc::report {

using program::CommunicationKind;
using program::RankClassId;
using timeline::CommunicationSource;
using timeline::Wait;
using timeline::WaitCause;
using Largest = Exposure::Largest;

namespace {

/// What waits are counted together: a bucket; messages of one stage to another;
/// else what has one name, on all classes.
struct Key {
  Largest::Source source = Largest::Source::Block;
  RankClassId rankClass;
  std::uint32_t index = 0; ///< of a bucket
  std::string name;
  auto operator<=>(const Key &) const = default;
};

struct Sum {
  Int128 rankTime = 0;
  Int128 times = 0;                  ///< over all ranks
  std::optional<Duration> uncovered; ///< first moment nothing hides it
};

class Collector {
public:
  explicit Collector(const ReportInputs &inputs) : inputs_(inputs) {
    for (RankClassId id : inputs.programs.classes.ids())
      forEachWait(inputs.timeline, id,
                  [&](const Wait &wait, program::BlockId block,
                      std::int64_t runs) { add(id, wait, block, runs); });
  }

  /// Of one kind.
  Largest largest(CommunicationKind kind) const {
    Largest out;
    const auto at = sums_.find(kind);
    if (at == sums_.end())
      return out;
    const auto most = std::max_element(
        at->second.begin(), at->second.end(),
        [](auto &a, auto &b) { return a.second.rankTime < b.second.rankTime; });
    const auto &[key, sum] = *most;
    out.source = key.source;
    out.name = key.name;
    std::int64_t ranks = inputs_.planned.accelerators;
    if (key.rankClass.isValid()) {
      out.stage = inputs_.programs.classes[key.rankClass].name;
      ranks = inputs_.programs.classes[key.rankClass].ranks;
    }
    out.rankTime = sum.rankTime;
    out.times = static_cast<std::int64_t>((sum.times + ranks - 1) / ranks);
    if (key.source == Largest::Source::Reduce ||
        key.source == Largest::Source::Gather)
      describeBucket(key, sum, out);
    return out;
  }

private:
  void add(RankClassId id, const Wait &wait, program::BlockId block,
           std::int64_t runs) {
    const WaitParts parts = partsOf(wait, inputs_.timeline);
    if (groupOf(parts.afterCause) != CauseGroup::Communication ||
        parts.after == Duration(0))
      return;
    const program::RankProgram &code = inputs_.programs.classes[id];
    Sum &sum = sums_[wait.kind][keyOf(id, wait, block)];
    sum.rankTime += Int128(code.ranks) * runs * parts.after.value;
    sum.times += Int128(code.ranks) * runs;
    const Duration from = wait.end - parts.after;
    sum.uncovered = std::min(sum.uncovered.value_or(from), from);
  }

  Key keyOf(RankClassId id, const Wait &wait, program::BlockId block) const {
    const program::RankProgram &code = inputs_.programs.classes[id];
    switch (wait.cause) {
    case WaitCause::Instruction:
      if (!block.isValid())
        block = code.tasks[wait.task].block;
      return {Largest::Source::Block, RankClassId(), 0,
              inputs_.programs.blocks[block].instructions[wait.index].name};
    case WaitCause::Recv:
      return {Largest::Source::Message, id, 0,
              inputs_.programs.classes[code.tasks[wait.task].peer].name};
    case WaitCause::Reduce:
      return {Largest::Source::Reduce, id, wait.index, ""};
    case WaitCause::Gather:
      return {Largest::Source::Gather, id, wait.index, ""};
    case WaitCause::Collective:
      return {Largest::Source::Collective, RankClassId(), 0,
              code.tasks[wait.task].name};
    case WaitCause::Join:
    case WaitCause::NothingLeft:
      break;
    }
    return {Largest::Source::Collective, RankClassId(), 0, ""};
  }

  void describeBucket(const Key &key, const Sum &sum, Largest &out) const {
    const bool isReduce = key.source == Largest::Source::Reduce;
    const program::RankProgram &code = inputs_.programs.classes[key.rankClass];
    const timeline::ClassTimeline &times =
        inputs_.timeline.classes[key.rankClass];
    const auto &pieces = isReduce ? code.reduces : code.gathers;
    const timeline::Bucket &bucket =
        (isReduce ? times.reduces : times.gathers)[key.index];
    out.name = pieces[bucket.pieces.front()].name;
    if (bucket.pieces.size() > 1)
      out.name += " .. " + pieces[bucket.pieces.back()].name;
    out.lastToCome = pieces[bucket.pieces.back()].name;
    out.bytes = bucket.bytes;
    const timeline::Window window = windowOf(inputs_.timeline, key.rankClass);
    const auto source =
        isReduce ? CommunicationSource::Reduce : CommunicationSource::Gather;
    const timeline::Communication *found = nullptr;
    for (const timeline::Communication &one : times.communications)
      if (one.source == source && one.index == key.index &&
          one.begin < window.end && one.end > window.begin)
        found = &one;
    if (found == nullptr)
      return;
    for (const timeline::Communication &one : times.communications)
      out.isBehind |= &one != found && one.stream == found->stream &&
                      one.end == found->begin && one.begin < one.end;
    out.leaves = found->begin - window.begin;
    out.lands = found->end - window.begin;
    out.uncovered = *sum.uncovered - window.begin;
  }

  const ReportInputs &inputs_;
  std::map<CommunicationKind, std::map<Key, Sum>> sums_;
};

} // namespace

bool isHidden(Int128 exposed, Int128 rankStepTime) {
  return exposed * 1000 < rankStepTime;
}

std::vector<Exposure> exposuresOf(const ReportInputs &inputs,
                                  const Report &report) {
  std::vector<Exposure> out;
  const Collector collector(inputs);
  for (const Communication &row : report.communication) {
    if (isHidden(row.exposed, report.rankStepTime()))
      continue;
    Exposure made;
    made.kind = row.kind;
    made.rankTime = row.exposed;
    made.over = row.over;
    made.largest = collector.largest(row.kind);
    out.push_back(std::move(made));
  }
  std::stable_sort(out.begin(), out.end(),
                   [](auto &a, auto &b) { return a.rankTime > b.rankTime; });
  if (out.size() > Explanation::kExposures)
    out.resize(Explanation::kExposures);
  return out;
}

} // namespace planc::report
