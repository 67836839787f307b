#include "runtime/report/BuildReport.h"

#include "runtime/hardware/Placement.h"
#include "runtime/report/Attribution.h"
#include "runtime/report/NumberText.h"
#include "runtime/report/Reasons.h"
#include "runtime/report/WaitShares.h"
#include "runtime/timeline/Queries.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace planc::report {

namespace {

using program::CommunicationKind;
using program::Message;
using program::PassKind;
using program::RankClassId;
using program::RankProgram;
using program::TaskKind;

// --- Memory -----------------------------------------------------------------

std::string remedyOf(const program::Memory &peak) {
  // What a pass holds besides goes with what it works on.
  const bool isLoss = peak.logits > peak.activations;
  const Bytes kept = isLoss ? peak.activations : peak.logits + peak.activations;
  const std::pair<Bytes, std::string_view> parts[] = {
      {isLoss ? kept : kept + peak.workspace,
       "`recompute`, smaller micro-batches or an axis that cuts `seq`"},
      {isLoss ? peak.logits + peak.workspace : Bytes(0),
       "`kernels loss = linear`, smaller micro-batches or an axis that cuts "
       "`vocab` or `seq`"},
      {peak.optimizer, "`shard optimizer` over the axes that hold copies"},
      {peak.gradients, "`shard gradients` over the axes that hold copies"},
      {peak.parameters + peak.gathered,
       "more pipeline stages, or `shard parameters`"},
  };
  const auto *largest =
      std::max_element(std::begin(parts), std::end(parts),
                       [](auto &a, auto &b) { return a.first < b.first; });
  static constexpr std::string_view kNames[] = {
      "activations", "logits and their gradient", "optimizer states",
      "gradients", "parameters"};
  return fmt::format("largest are {} with {}; less with {}",
                     kNames[largest - parts], bytesText(largest->first),
                     largest->second);
}

MemoryReport memoryOf(const ReportInputs &inputs) {
  MemoryReport memory;
  memory.capacity = inputs.cluster.accelerator.memory;
  memory.reserve = inputs.cluster.reserve;
  for (RankClassId id : inputs.programs.classes.ids()) {
    const RankProgram &code = inputs.programs.classes[id];
    memory.stages.push_back({code.name, code.ranks, code.memory});
    program::Memory &peak = memory.stages.back().peak;
    if (!inputs.held.empty())
      peak.workspace += inputs.held[id.index()];
    if (peak.total() > memory.peak())
      memory.fullest = memory.stages.size() - 1;
    memory.hostUsed =
        std::max(memory.hostUsed, code.memory.host * inputs.cluster.perHost());
  }
  if (memory.hostUsed > Bytes(0))
    memory.hostCapacity = inputs.cluster.host.memory;
  if (memory.hostOverflows()) {
    memory.fit = Fit::DoesNotFit;
    memory.remedy =
        fmt::format("offload less: a host has {} and would hold {}",
                    bytesText(memory.hostCapacity), bytesText(memory.hostUsed));
  } else if (memory.peak() > memory.capacity) {
    memory.fit = Fit::DoesNotFit;
    memory.remedy = remedyOf(memory.stages[memory.fullest].peak);
  } else if (memory.slack() < Bytes(0)) {
    memory.fit = Fit::Tight;
  }
  return memory;
}

// --- Bubble -----------------------------------------------------------------

/// First begin to last end of the class's pipeline runs in the last step.
Duration ownSpanOf(const ReportInputs &inputs, RankClassId id) {
  const auto last = static_cast<std::int32_t>(inputs.timeline.steps.size()) - 1;
  std::optional<Duration> begin, end;
  for (const timeline::Run &run : inputs.timeline.classes[id].runs) {
    const program::Task &task = inputs.programs.classes[id].tasks[run.task];
    if (run.step != last || task.pass == PassKind::Update)
      continue;
    begin = begin ? std::min(*begin, run.begin) : run.begin;
    end = end ? std::max(*end, run.end) : run.end;
  }
  return begin ? *end - *begin : Duration(0);
}

Bubble bubbleOf(const ReportInputs &inputs, const Waterfall &waterfall) {
  Bubble bubble;
  const timeline::StepTimes &step = inputs.timeline.steps.back();
  bubble.rankTime = waterfall[Cause::Bubble];
  bubble.spanRankTime = Int128(inputs.programs.accelerators) *
                        (step.pipelineEnd - step.pipelineBegin).value;
  const auto last = static_cast<std::int32_t>(inputs.timeline.steps.size()) - 1;
  Duration mostWork;
  Int128 allWork = 0;
  for (RankClassId id : inputs.programs.classes.ids()) {
    const Duration work =
        pipelineWork(inputs.timeline, inputs.programs, id, last);
    bubble.ownSpan = std::max(bubble.ownSpan, ownSpanOf(inputs, id));
    mostWork = std::max(mostWork, work);
    allWork += Int128(inputs.programs.classes[id].ranks) * work.value;
  }
  bubble.ownIdle = bubble.ownSpan - mostWork;
  bubble.uneven =
      Int128(inputs.programs.accelerators) * mostWork.value - allWork;
  bubble.formulaNumerator = inputs.pipeline->formulaNumerator;
  bubble.formulaDenominator = inputs.pipeline->formulaDenominator;
  return bubble;
}

// --- Communication ----------------------------------------------------------

/// Outermost level that messages of each kind cross.
class Reach {
public:
  explicit Reach(const ReportInputs &inputs) : inputs_(inputs) {
    for (const program::Block &block : inputs.programs.blocks)
      for (const program::Instruction &instruction : block.instructions)
        add(instruction.message);
    for (const RankProgram &code : inputs.programs.classes) {
      for (const program::Task &task : code.tasks)
        if (task.kind != TaskKind::Run)
          add(task.message);
      for (const program::Piece &piece : code.reduces)
        add(piece.message);
      for (const program::Piece &piece : code.gathers)
        add(piece.message);
    }
  }

  std::string levelOf(CommunicationKind kind) const {
    const auto &level = levels_[static_cast<std::size_t>(kind)];
    return level ? inputs_.cluster.levels[*level].name : std::string();
  }

private:
  void add(const Message &message) {
    if (message.kind == CommunicationKind::None || message.sizes.empty())
      return;
    const Message *&last = last_[static_cast<std::size_t>(message.kind)];
    if (last != nullptr && last->sizes == message.sizes &&
        last->strides == message.strides)
      return;
    last = &message;
    const auto outermost =
        shapeOf(inputs_.cluster, {message.sizes, message.strides}).outermost();
    auto &level = levels_[static_cast<std::size_t>(message.kind)];
    if (outermost && *outermost < inputs_.cluster.levels.size())
      level = std::max(level.value_or(0), *outermost);
  }

  const ReportInputs &inputs_;
  std::array<const Message *, kKinds> last_{};
  std::array<std::optional<std::size_t>, kKinds> levels_{};
};

std::vector<Communication> communicationOf(const ReportInputs &inputs,
                                           const Attribution &attribution) {
  std::vector<Communication> rows;
  const Reach reach(inputs);
  for (std::size_t i = 1; i < kKinds; ++i) {
    Communication row;
    row.kind = static_cast<CommunicationKind>(i);
    row.exposed = attribution.waterfall[exposedBy(row.kind)];
    // A rank may wait for one that waits for its stream, before it flies.
    row.inFlight = std::max(attribution.inFlight[i], row.exposed);
    row.exposedAtLeast = std::min(attribution.exposedAtLeast[i], row.exposed);
    row.over = reach.levelOf(row.kind);
    if (row.inFlight > 0 || row.exposed > 0)
      rows.push_back(std::move(row));
  }
  return rows;
}

// --- Lines ------------------------------------------------------------------

/// The charges that make up at least a tenth of a line's cost, named.
std::string namesOf(const Charges &charges, Int128 total) {
  static constexpr std::array<std::string_view, kCharges> kNames = {
      "exposed",           "bubble",        "transfer",
      "small matrices",    "recomputation", "optimizer update",
      "repeated on copies"};
  std::string out;
  for (std::size_t i = 0; i < kCharges; ++i)
    if (charges[i] * 10 >= total)
      out += (out.empty() ? "" : " and ") + std::string(kNames[i]);
  return out;
}

std::vector<CostLine> linesOf(const ReportInputs &inputs,
                              const Attribution &attribution) {
  if (!inputs.resolve)
    return {};
  std::map<std::pair<std::string, std::int64_t>,
           std::pair<std::string, Charges>>
      byLine;
  for (const auto &[clause, charges] : attribution.charges) {
    ResolvedLine at = inputs.resolve(clause);
    if (at.line == 0)
      continue;
    auto &[text, sum] = byLine[{at.file, at.line}];
    text = std::move(at.text);
    for (std::size_t i = 0; i < kCharges; ++i)
      sum[i] += charges[i];
  }
  std::vector<CostLine> lines;
  for (const auto &[place, entry] : byLine) {
    Int128 total = 0;
    for (Int128 part : entry.second)
      total += part;
    if (total > 0)
      lines.push_back({{place.first, place.second},
                       oneLine(entry.first),
                       namesOf(entry.second, total),
                       total});
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](auto &a, auto &b) { return a.rankTime > b.rankTime; });
  if (lines.size() > Report::kLines)
    lines.resize(Report::kLines);
  return lines;
}

// --- Expectations -----------------------------------------------------------

bool holds(const Expectation &expectation, double found) {
  using Comparison = Expectation::Comparison;
  switch (expectation.comparison) {
  case Comparison::Less:
    return found < expectation.value;
  case Comparison::LessEqual:
    return found <= expectation.value;
  case Comparison::Greater:
    return found > expectation.value;
  case Comparison::GreaterEqual:
    return found >= expectation.value;
  case Comparison::Equal:
    return std::fabs(found - expectation.value) <=
           1e-9 * std::fabs(expectation.value);
  }
  return false;
}

ExpectationResult resultOf(const Expectation &expectation,
                           const ReportInputs &inputs, const Report &report) {
  ExpectationResult result;
  result.text = expectation.text;
  result.metric = expectation.metric;
  result.expected = expectation.value;
  if (inputs.resolve && expectation.origin.isValid()) {
    ResolvedLine at = inputs.resolve(expectation.origin);
    result.place = {std::move(at.file), at.line};
  }
  const std::optional<double> found =
      metric(report, expectation.metric, expectation.argument);
  if (!found)
    return result;
  result.found = *found;
  result.verdict = holds(expectation, *found)
                       ? ExpectationResult::Verdict::Holds
                       : ExpectationResult::Verdict::Fails;
  return result;
}

} // namespace

Report buildReport(const ReportInputs &inputs) {
  const Attribution attribution = attribute(inputs);
  Report report;
  report.planned = inputs.planned;
  report.stepTime = inputs.timeline.stepTime;
  report.modelFlops = inputs.modelFlops;
  report.recomputedFlops = attribution.recomputedFlops;
  report.peak = inputs.peak;
  report.printedPeak = inputs.printedPeak;
  report.waterfall = attribution.waterfall;
  report.communication = communicationOf(inputs, attribution);
  if (inputs.pipeline)
    report.bubble = bubbleOf(inputs, attribution.waterfall);
  report.memory = memoryOf(inputs);
  report.layers = inputs.layers;
  report.lines = linesOf(inputs, attribution);
  report.orders = inputs.orders;
  if (report.orders)
    report.orders->chosen = figuresOf(inputs.programs, inputs.timeline);
  addReasons(report, attribution);
  for (const Expectation &expectation : inputs.expectations)
    report.expectations.push_back(resultOf(expectation, inputs, report));
  return report;
}

} // namespace planc::report
