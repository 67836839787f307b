#include "runtime/report/Attribution.h"

#include "runtime/report/Kernels.h"
#include "runtime/report/RankTime.h"
#include "runtime/report/WaitShares.h"
#include "runtime/timeline/Queries.h"

#include <algorithm>
#include <span>

namespace planc::report {

namespace {

using program::BlockId;
using program::CommunicationKind;
using program::Instruction;
using program::InstructionClass;
using program::Phase;
using program::RankClassId;
using timeline::InstructionTimes;
using timeline::Run;
using timeline::Wait;
using timeline::WaitCause;

std::size_t indexOf(CommunicationKind kind) {
  return static_cast<std::size_t>(kind);
}

std::string lastPart(const std::string &name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string::npos ? name : name.substr(dot + 1);
}

/// What a block's instructions are made of, and its waits that cannot be
/// avoided.
struct BlockParts {
  std::vector<KernelParts> kernels;     ///< by instruction
  std::vector<std::int32_t> memoryName; ///< by instruction; −1: none
  std::array<Duration, kKinds> unavoidable{};
};

class Attributor {
public:
  explicit Attributor(const ReportInputs &inputs)
      : inputs_(inputs),
        lastStep_(static_cast<std::int32_t>(inputs.timeline.steps.size()) - 1) {
    blocks_.resize(inputs.programs.blocks.size());
    for (BlockId block : inputs.programs.blocks.ids())
      blocks_[block] = partsOfBlock(inputs.programs.blocks[block]);
  }

  Attribution run() && {
    for (RankClassId id : inputs_.programs.classes.ids())
      addClass(id);
    settleModelArithmetic();
    for (std::size_t i = 0; i < memoryTimes_.size(); ++i)
      result_.memoryKernels[memoryNames_[i]] = memoryTimes_[i];
    chargeClause(inputs_.clauses.recompute, Charge::Recomputation,
                 result_.waterfall[Cause::Recomputation]);
    chargeClause(inputs_.clauses.optimizerState.isValid()
                     ? inputs_.clauses.optimizerState
                     : inputs_.clauses.optimizer,
                 Charge::Update, result_.waterfall[Cause::Update]);
    chargeClause(inputs_.clauses.batch, Charge::SmallMatrices, smallness_);
    chargeClause(inputs_.clauses.repeated, Charge::Repeated,
                 result_.waterfall[Cause::Repeated]);
    return std::move(result_);
  }

private:
  BlockParts partsOfBlock(const program::Block &block);
  void addClass(RankClassId id);
  void addRun(BlockId block, std::span<const InstructionTimes> times,
              std::int64_t weight);
  void addKernel(const KernelParts &parts, const InstructionTimes &times,
                 std::int64_t weight);
  void addWait(const Wait &wait, OriginId clause, std::int64_t weight);
  OriginId clauseOf(const Wait &wait, RankClassId id) const;
  void settleModelArithmetic();

  void chargeClause(OriginId clause, Charge charge, Int128 rankTime) {
    if (clause.isValid() && rankTime > 0)
      result_.charges[clause][static_cast<std::size_t>(charge)] += rankTime;
  }

  const ReportInputs &inputs_;
  std::int32_t lastStep_;
  Table<BlockId, BlockParts> blocks_;
  std::map<std::string, std::int32_t> memoryIndex_;
  std::vector<std::string> memoryNames_;
  std::vector<Int128> memoryTimes_;
  Int128 flopsRun_ = 0, smallness_ = 0;
  Attribution result_;
};

BlockParts Attributor::partsOfBlock(const program::Block &block) {
  BlockParts parts;
  for (const Instruction &instruction : block.instructions) {
    std::int32_t name = -1;
    if (classOf(instruction.kind) != InstructionClass::Compute) {
      parts.kernels.emplace_back();
    } else {
      parts.kernels.push_back(partsOf(instruction, inputs_));
      if (parts.kernels.back().sort == KernelParts::Sort::Memory) {
        const auto [at, isNew] = memoryIndex_.try_emplace(
            lastPart(instruction.name),
            static_cast<std::int32_t>(memoryNames_.size()));
        if (isNew) {
          memoryNames_.push_back(at->first);
          memoryTimes_.push_back(0);
        }
        name = at->second;
      }
    }
    parts.memoryName.push_back(name);
  }
  parts.unavoidable = unavoidableWaits(block, inputs_.cost);
  return parts;
}

void Attributor::addClass(RankClassId id) {
  const timeline::Timeline &timeline = inputs_.timeline;
  const std::int64_t ranks = inputs_.programs.classes[id].ranks;
  for (const Run &run : timeline.classes[id].runs) {
    if (run.step != lastStep_)
      continue;
    for (std::size_t kind = 0; kind < kKinds; ++kind)
      result_.exposedAtLeast[kind] +=
          Int128(ranks) * blocks_[run.block].unavoidable[kind].value;
    if (!run.isReused())
      addRun(run.block, instructionsOf(timeline, run).times, ranks);
  }
  const auto reused = reusedRuns(timeline, id);
  for (timeline::FormId form : reused.ids())
    if (const auto [block, runs] = reused[form]; runs > 0)
      addRun(block, timeline.isolated[form].instructions, ranks * runs);
  forEachWait(
      timeline, id, [&](const Wait &wait, BlockId block, std::int64_t runs) {
        addWait(
            wait,
            block.isValid()
                ? inputs_.programs.blocks[block].instructions[wait.index].clause
                : clauseOf(wait, id),
            ranks * runs);
      });

  const timeline::Window window = windowOf(timeline, id);
  result_.waterfall[Cause::StepEnd] +=
      Int128(ranks) * (timeline.stepTime - window.length()).value;
  const std::vector<Duration> inFlight =
      timeline::inFlight(timeline, inputs_.programs, id, window);
  for (std::size_t kind = 1; kind < inFlight.size(); ++kind)
    result_.inFlight[kind] += Int128(ranks) * inFlight[kind].value;
}

void Attributor::addRun(BlockId block, std::span<const InstructionTimes> times,
                        std::int64_t weight) {
  const program::Block &code = inputs_.programs.blocks[block];
  const BlockParts &parts = blocks_[block];
  for (std::size_t i = 0; i < code.instructions.size(); ++i) {
    if (classOf(code.instructions[i].kind) != InstructionClass::Compute)
      continue;
    addKernel(parts.kernels[i], times[i], weight);
    const auto name = parts.memoryName[i];
    const Phase phase = code.instructions[i].phase;
    if (name >= 0 && phase != Phase::Recompute && phase != Phase::Update)
      memoryTimes_[static_cast<std::size_t>(name)] +=
          Int128(weight) * (times[i].end - times[i].begin).value;
  }
}

void Attributor::addKernel(const KernelParts &parts,
                           const InstructionTimes &times, std::int64_t weight) {
  Waterfall &waterfall = result_.waterfall;
  const std::int64_t alone = (times.end - times.begin - times.slowed).value;
  waterfall[Cause::Slowed] += Int128(weight) * times.slowed.value;
  result_.launches += Int128(weight) * parts.launches;
  result_.recomputedFlops += weight * parts.recomputedFlops;
  if (parts.phase == Phase::Recompute || parts.phase == Phase::Update) {
    waterfall[parts.phase == Phase::Update ? Cause::Update
                                           : Cause::Recomputation] +=
        Int128(weight) * alone;
    return;
  }
  const std::int64_t launch = std::min(parts.launch, alone);
  const std::int64_t after = std::min(parts.after, alone - launch);
  const std::int64_t straggle =
      std::min(parts.straggle, alone - launch - after);
  waterfall[Cause::LaunchGaps] += Int128(weight) * launch;
  waterfall[Cause::MemoryBound] += Int128(weight) * after;
  waterfall[Cause::Stragglers] += Int128(weight) * straggle;
  waterfall[Cause::ModelArithmetic] += Int128(weight) * parts.model;
  waterfall[Cause::LowerPeak] += Int128(weight) * parts.lower;
  waterfall[parts.rest] += Int128(weight) * (alone - launch - after - straggle -
                                             parts.model - parts.lower);
  flopsRun_ += weight * parts.modelFlops;
  smallness_ += Int128(weight) * parts.smallness;
  if (parts.sort == KernelParts::Sort::Memory)
    return;
  KernelShare &share = parts.sort == KernelParts::Sort::Product
                           ? result_.products
                           : result_.attention;
  share.time += Int128(weight) * (alone - launch - after - straggle);
  share.arithmetic += Int128(weight) * parts.arithmetic;
}

void Attributor::addWait(const Wait &wait, OriginId clause,
                         std::int64_t weight) {
  const WaitParts parts = partsOf(wait, inputs_.timeline);
  const Int128 before = Int128(weight) * parts.before.value;
  const Int128 after = Int128(weight) * parts.after.value;
  result_.waterfall[parts.beforeCause] += before;
  result_.waterfall[Cause::StepEnd] += Int128(weight) * parts.outside.value;
  result_.waterfall[parts.afterCause] += after;
  if (parts.beforeCause == Cause::Bubble)
    chargeClause(inputs_.clauses.pipeline, Charge::Bubble, before);
  if (wait.cause == WaitCause::Recv)
    chargeClause(inputs_.clauses.pipeline, Charge::Transfer, after);
  else if (wait.cause != WaitCause::NothingLeft)
    chargeClause(clause, Charge::Exposed, after);
}

/// The clause of the plan that made what the wait was for.
OriginId Attributor::clauseOf(const Wait &wait, RankClassId id) const {
  const program::RankProgram &code = inputs_.programs.classes[id];
  const timeline::ClassTimeline &times = inputs_.timeline.classes[id];
  switch (wait.cause) {
  case WaitCause::Instruction:
    return inputs_.programs.blocks[code.tasks[wait.task].block]
        .instructions[wait.index]
        .clause;
  case WaitCause::Recv:
  case WaitCause::Collective:
    return code.tasks[wait.task].clause;
  case WaitCause::Reduce:
    return code.reduces[times.reduces[wait.index].pieces.front()].clause;
  case WaitCause::Gather:
    return code.gathers[times.gathers[wait.index].pieces.front()].clause;
  case WaitCause::Join:
  case WaitCause::NothingLeft:
    return OriginId();
  }
  return OriginId();
}

/// Model arithmetic counts what the model asks for, once. What ranks do beyond
/// it (a key head computed on every copy) is a cause of its own; what rounding
/// every kernel down leaves goes to `below peak`, or where all of that is
/// rounding (products that memory binds) to `memory bound`.
void Attributor::settleModelArithmetic() {
  Waterfall &waterfall = result_.waterfall;
  const FlopRate peak = inputs_.peak.rate;
  const Int128 run = waterfall[Cause::ModelArithmetic];
  const Int128 asked = timeAtRate(inputs_.modelFlops.exact, peak);
  const Int128 surplus = flopsRun_ - inputs_.modelFlops.exact;
  const Int128 repeated =
      surplus >= 0 ? timeAtRate(surplus, peak) : -timeAtRate(-surplus, peak);
  waterfall[Cause::ModelArithmetic] = asked;
  waterfall[Cause::Repeated] += repeated;
  waterfall[Cause::BelowPeak] += run - asked - repeated;
  if (waterfall[Cause::BelowPeak] < 0) {
    waterfall[Cause::MemoryBound] += waterfall[Cause::BelowPeak];
    waterfall[Cause::BelowPeak] = 0;
  }
}

} // namespace

std::array<Duration, kKinds> unavoidableWaits(const program::Block &block,
                                              const cost::CostModel &cost) {
  std::array<Duration, kKinds> waits{};
  std::vector<Duration> end(block.instructions.size());
  Duration compute;
  for (std::size_t i = 0; i < block.instructions.size(); ++i) {
    const Instruction &instruction = block.instructions[i];
    const bool isKernel =
        classOf(instruction.kind) == InstructionClass::Compute;
    Duration ready;
    CommunicationKind last = CommunicationKind::None;
    for (std::uint32_t dep : instruction.deps)
      if (end[dep] > ready) {
        ready = end[dep];
        last = block.instructions[dep].message.kind;
      }
    const Duration length =
        instruction.duration ? *instruction.duration
        : isKernel
            ? cost.compute(instruction.kind, instruction.work).total
            : cost.communicate(instruction.kind, instruction.message).total;
    if (!isKernel) {
      end[i] = ready + length;
      continue;
    }
    if (ready > compute) {
      waits[indexOf(last)] += ready - compute;
      compute = ready;
    }
    end[i] = compute = compute + length;
  }
  // The run holds the compute stream until everything of it has ended.
  const auto last = std::max_element(end.begin(), end.end());
  if (last != end.end() && *last > compute)
    waits[indexOf(
        block.instructions[static_cast<std::size_t>(last - end.begin())]
            .message.kind)] += *last - compute;
  return waits;
}

Attribution attribute(const ReportInputs &inputs) {
  return Attributor(inputs).run();
}

} // namespace planc::report
