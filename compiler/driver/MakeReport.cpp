#include "compiler/driver/MakeReport.h"

#include "compiler/driver/Costs.h"
#include "compiler/driver/Prefetch.h"
#include "compiler/driver/Refine.h"
#include "compiler/lower/MergePasses.h"
#include "compiler/pipeline/StageGraph.h"
#include "compiler/schedules/Schedules.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace planc::driver {

namespace {

std::string scheduleName(const sema::Pipeline &pipeline) {
  std::string name(schedules::toString(pipeline.schedule));
  if (pipeline.schedule == sema::Schedule::Own)
    return name;
  schedules::ChunksPerRank chunks = schedules::infoOf(pipeline.schedule).chunks;
  bool isChosen = chunks == schedules::ChunksPerRank::AsAsked ||
                  chunks == schedules::ChunksPerRank::Waves;
  return isChosen ? fmt::format("{} × {}", name, pipeline.virtualStages) : name;
}

/// What is made again, stages in a row that do the same on one line.
std::vector<std::string> recomputeOf(const Compilation &c) {
  const std::vector<std::string> texts = recomputeByStage(c.bodies, *c.stages);
  std::vector<std::string> lines;
  for (std::size_t first = 0; first < texts.size();) {
    std::size_t end = first + 1;
    while (end < texts.size() && texts[end] == texts[first])
      ++end;
    std::string stages;
    if (texts.size() > 1)
      stages = end - first == 1
                   ? fmt::format("stage {}: ", first)
                   : fmt::format("stages {} to {}: ", first, end - 1);
    lines.push_back(stages + texts[first]);
    first = end;
  }
  return lines;
}

report::Planned plannedOf(const Compilation &c) {
  const sema::Module &module = *c.module;
  const sema::Plan &plan = module.plan;
  report::Planned planned;
  planned.plan = plan.name;
  planned.model = module.model.name;
  planned.cluster = module.cluster.name;
  planned.accelerator = module.cluster.accelerator.name;
  report::ResolvedLine line = resolve(c, plan.origin);
  planned.place = {line.file, line.line};
  for (const sema::Axis &axis : plan.mesh.axes)
    planned.mesh.push_back({axis.name, axis.size});
  if (plan.pipeline)
    planned.schedule = scheduleName(*plan.pipeline);
  planned.accelerators = module.accelerators;
  planned.leftOver = module.leftOver;
  planned.sequences = plan.batch.sequences;
  planned.sequenceLength = plan.batch.sequenceLength;
  planned.microBatches = plan.batch.microBatches;
  planned.parameters = ops::parameterCount(module.model);
  planned.activeParameters = ops::activeParameterCount(module.model);
  planned.recompute = recomputeOf(c);
  if (choosesPrefetch(plan))
    planned.prefetch = plan.prefetch;
  return planned;
}

report::ModelFlops modelFlopsOf(const Compilation &c) {
  graph::ModelFlops micro = graph::modelFlops(*c.graph);
  const sema::Batch &batch = c.module->plan.batch;
  report::ModelFlops flops;
  flops.exact = micro.exact * batch.microBatches;
  flops.full = micro.full * batch.microBatches;
  const Int128 perParameter =
      Int128(6) * batch.sequences * batch.sequenceLength;
  flops.sixNd = perParameter * ops::activeParameterCount(c.module->model);
  flops.attention = micro.attention * batch.microBatches;
  flops.repeatForward = micro.repeatForward * batch.microBatches;
  flops.lookups = perParameter * graph::lookupParameterCount(*c.graph);
  return flops;
}

std::vector<report::Expectation> expectationsOf(const sema::Plan &plan) {
  using From = sema::Expectation::Comparison;
  using To = report::Expectation::Comparison;
  std::vector<report::Expectation> out;
  for (const sema::Expectation &expectation : plan.expectations) {
    report::Expectation made;
    made.metric = expectation.metric;
    made.argument = expectation.argument;
    switch (expectation.comparison) {
    case From::Less:
      made.comparison = To::Less;
      break;
    case From::LessEqual:
      made.comparison = To::LessEqual;
      break;
    case From::Greater:
      made.comparison = To::Greater;
      break;
    case From::GreaterEqual:
      made.comparison = To::GreaterEqual;
      break;
    case From::Equal:
      made.comparison = To::Equal;
      break;
    }
    made.value = expectation.value;
    made.text = expectation.text;
    made.origin = expectation.origin;
    out.push_back(std::move(made));
  }
  return out;
}

/// The closed form for a number of micro-batches that the schedule runs with.
std::optional<schedules::BubbleFormula> formulaAt(const sema::Plan &plan,
                                                  std::int64_t microBatches) {
  if (plan.pipeline->schedule == sema::Schedule::Own)
    return std::nullopt;
  const schedules::ScheduleInfo &info =
      schedules::infoOf(plan.pipeline->schedule);
  const schedules::Shape shape = plan.pipeline->shape(microBatches);
  return info.fits(shape) ? info.bubble(shape) : std::nullopt;
}

std::optional<report::PipelineShape> pipelineOf(const Compilation &c) {
  const sema::Plan &plan = c.module->plan;
  if (!plan.pipeline)
    return std::nullopt;
  const schedules::Shape shape = plan.pipeline->shape(plan.batch.microBatches);
  const auto formula = formulaAt(plan, plan.batch.microBatches);
  report::PipelineShape out;
  out.stages = shape.stages;
  out.microBatches = shape.microBatches;
  out.virtualStages = shape.virtualStages;
  out.formulaNumerator = formula ? formula->numerator : 0;
  out.formulaDenominator = formula ? formula->denominator : 0;
  return out;
}

/// The first axis that cuts no dimension: its ranks run the same; else the
/// mesh.
OriginId repeatedBy(const sema::Plan &plan) {
  for (sema::AxisId id : plan.mesh.axes.ids()) {
    bool isPipeline = plan.pipeline && plan.pipeline->axis == id;
    if (plan.mesh.axes[id].size > 1 && !isPipeline &&
        plan.lists[id].list.empty())
      return plan.mesh.axes[id].origin;
  }
  return plan.meshClause;
}

/// Layers of a repeat with the same times on one line, in the order in which
/// the first of each comes.
std::vector<report::LayerTimes> layersOf(const Compilation &c) {
  const lower::InstructionTime time = instructionTimes(*c.cost);
  std::map<const lower::LoweredBody *, std::pair<Duration, Duration>> known;
  std::vector<report::LayerTimes> out;
  const std::vector<pipeline::Unit> &units = c.stages->units;
  for (std::size_t u = 0; u < units.size(); ++u) {
    if (!units[u].isLayer)
      continue;
    const lower::LoweredBody &form = c.bodies.of(u, units[u].bodies.back());
    auto [at, isNew] = known.try_emplace(&form);
    if (isNew)
      at->second = {lower::lengthOf(form.forward.instructions, time),
                    lower::lengthOf(form.backward.instructions, time)};
    const auto [forward, backward] = at->second;
    const std::string name = units[u].name.substr(0, units[u].name.find('['));
    const auto same = std::find_if(
        out.begin(), out.end(), [&](const report::LayerTimes &layers) {
          return layers.name == name && layers.forward == forward &&
                 layers.backward == backward;
        });
    if (same != out.end())
      ++same->layers;
    else
      out.push_back({name, 1, forward, backward});
  }
  return out;
}

/// Numbers of micro-batches that are tried are multiples of it.
std::int64_t microBatchStep(const sema::Pipeline &pipeline) {
  if (pipeline.schedule == sema::Schedule::Own)
    return 1;
  const schedules::ScheduleInfo &info = schedules::infoOf(pipeline.schedule);
  std::int64_t step = schedules::copiesOf(info.placement);
  if (info.takes & schedules::kGroup)
    step *= pipeline.group.value_or(pipeline.virtualStages > 1 ? pipeline.stages
                                                               : 1);
  return step;
}

} // namespace

std::optional<BubbleAdvice> bubbleAdvice(const sema::Plan &plan) {
  constexpr std::int64_t kLarge = 5, kSmall = 10;
  if (!plan.pipeline)
    return std::nullopt;
  const std::int64_t most =
      sema::kMostPasses / plan.pipeline->stages / plan.pipeline->virtualStages;
  auto now = formulaAt(plan, plan.batch.microBatches);
  if (!now || now->numerator * kLarge <= now->denominator)
    return std::nullopt;
  BubbleAdvice advice{now->numerator, now->denominator, std::nullopt};
  // More of them never idle more.
  const std::int64_t step = microBatchStep(*plan.pipeline);
  auto isSmall = [&](std::int64_t groups) {
    auto at = formulaAt(plan, groups * step);
    return at && at->numerator * kSmall < at->denominator;
  };
  std::int64_t low = 0, high = 1; // too few, perhaps enough, in groups
  while (high * step <= most && !isSmall(high)) {
    low = high;
    high *= 2;
  }
  while (high - low > 1) {
    std::int64_t middle = low + (high - low) / 2;
    (isSmall(middle) ? high : low) = middle;
  }
  if (high * step <= most && isSmall(high))
    advice.microBatches = high * step;
  return advice;
}

report::ResolvedLine resolve(const Compilation &c, OriginId origin) {
  report::ResolvedLine line;
  if (!origin.isValid())
    return line;
  source::SourceSpan span = c.origins[origin].span;
  if (!span.isValid())
    return line;
  const source::SourceFile &file = c.program->sources()[span.file];
  source::LineColumn at = file.lineColumn(span.begin);
  line.file = file.name();
  line.line = at.line;
  line.column = at.column;
  line.text = std::string(file.line(at.line));
  return line;
}

report::ReportInputs reportInputs(const Compilation &c,
                                  const Options &options) {
  const sema::Module &module = *c.module;
  const sema::Plan &plan = module.plan;
  Precision precision = plan.precision.compute;
  report::NamedPeak peak{
      std::string(toString(precision)),
      module.cluster.accelerator.peak(precision).value_or(FlopRate(1))};
  std::optional<report::NamedPeak> printed;
  if (options.peakFlopsPerSecond)
    printed = report::NamedPeak{"--peak", FlopRate(static_cast<std::int64_t>(
                                              *options.peakFlopsPerSecond))};
  std::vector<Bytes> held;
  for (const sim::ClassIssue &issue : c.runs->order.classes)
    held.push_back(issue.extra);
  report::PlanClauses clauses;
  clauses.batch = plan.batch.clause;
  if (plan.pipeline)
    clauses.pipeline = plan.pipeline->clause;
  clauses.recompute = plan.recompute.clause;
  clauses.optimizer = plan.optimizer.clause;
  clauses.optimizerState = plan.optimizerState.clause;
  clauses.precision = plan.precision.clause;
  clauses.repeated = repeatedBy(plan);
  return {*c.programs,
          c.runs->chosen,
          *c.cost,
          module.cluster,
          plannedOf(c),
          modelFlopsOf(c),
          peak,
          printed,
          c.runs->orders,
          pipelineOf(c),
          expectationsOf(plan),
          [&c](OriginId origin) { return resolve(c, origin); },
          clauses,
          held,
          layersOf(c)};
}

report::Report makeReport(const Compilation &c, const Options &options) {
  return report::buildReport(reportInputs(c, options));
}

} // namespace planc::driver
