// Stages, chunks and micro-batches against the schedule.
#include "compiler/sema/Constraints.h"

#include "compiler/diag/Kinds.h"
#include "compiler/schedules/Execute.h"
#include "runtime/base/Checked.h"

#include <fmt/core.h>

namespace planc::sema {

using diag::Kind;
using source::SourceSpan;

using schedules::Fault;

bool Constraints::checkPipeline() {
  if (!plan_.pipeline)
    return checkPasses();
  const Pipeline &pipeline = *plan_.pipeline;
  if (!checkUnits(pipeline) || !checkPasses())
    return false;
  return pipeline.schedule == Schedule::Own ? checkOrder(pipeline)
                                            : checkFit(pipeline);
}

bool Constraints::takes(std::int64_t microBatches) const {
  if (!plan_.pipeline || plan_.pipeline->schedule == Schedule::Own)
    return true;
  return schedules::infoOf(plan_.pipeline->schedule)
      .fits(plan_.pipeline->shape(microBatches));
}

bool Constraints::checkPasses() {
  std::optional<std::int64_t> passes = plan_.batch.microBatches;
  if (plan_.pipeline)
    for (std::int64_t factor :
         {plan_.pipeline->stages, plan_.pipeline->virtualStages})
      if (passes)
        passes = checkedMul(*passes, factor);
  if (passes && *passes <= kMostPasses)
    return true;
  elaboration_.emitter()
      .report(spanOf(plan_.batch.clause), Kind::Unsupported,
              "{} are more than planc follows one by one",
              counted(plan_.batch.microBatches, "micro-batch", "es"))
      .note("micro-batches × stages × chunks may be at most {}", kMostPasses)
      .help("more sequences a micro-batch (`micro`), more ranks that cut "
            "`batch`, or fewer sequences a step");
  return false;
}

bool Constraints::checkFit(const Pipeline &pipeline) {
  const schedules::ScheduleInfo &info = schedules::infoOf(pipeline.schedule);
  const std::int64_t m = plan_.batch.microBatches;
  const schedules::Shape shape = pipeline.shape(m);
  if (info.fits(shape))
    return true;
  std::string groups, counts;
  if (info.takes & schedules::kGroup)
    groups = fmt::format(" in groups of {}",
                         pipeline.group.value_or(pipeline.stages));
  auto builder = elaboration_.emitter().report(
      spanOf(pipeline.clause), Kind::MicroBatchesDoNotFit,
      "{}{} do not fit {} of {}", counted(m, "micro-batch", "es"), groups,
      counted(pipeline.stages, "stage", "s"), info.name);
  std::move(builder).note(spanOf(plan_.batch.clause), "{} from here",
                          counted(m, "micro-batch", "es"));
  std::move(builder).note("{} takes {}", info.name, info.rule);
  const schedules::Nearest nearest = schedules::nearestLegal(info, shape);
  groups.clear();
  for (std::int64_t group : nearest.groups)
    groups += fmt::format("{}{}", groups.empty() ? "" : ", ", group);
  for (std::int64_t count : nearest.microBatches)
    counts += fmt::format("{}{}", counts.empty() ? "" : " or ", count);
  if (!groups.empty())
    std::move(builder).help("`group` may be {}", groups);
  if (!counts.empty())
    std::move(builder).help("{} micro-batches would do", counts);
  if (groups.empty() && counts.empty())
    std::move(builder).help("another number of stages, or another schedule");
  return false;
}

/// The plan's own order: complete, every pass where its chunk is, and runnable.
bool Constraints::checkOrder(const Pipeline &pipeline) {
  const std::int64_t lists = std::ssize(pipeline.order);
  if (lists != pipeline.stages) {
    elaboration_.emitter()
        .report(spanOf(pipeline.orderOrigin), Kind::OrderIncomplete,
                "{} for {}", counted(lists, "list", "s"),
                counted(pipeline.stages, "stage", "s"))
        .help("`order` takes the passes of every stage, one text each");
    return false;
  }
  const schedules::Shape shape = pipeline.shape(plan_.batch.microBatches);
  const schedules::Holders holders =
      schedules::holdersOf(pipeline.order, shape);
  const std::vector<Fault> faults =
      schedules::check(pipeline.order, shape, holders);
  constexpr std::size_t kMostShown = 4;
  for (std::size_t i = 0; i < std::min(faults.size(), kMostShown); ++i)
    reportFault(pipeline, faults[i]);
  return faults.empty() && checkHolders(pipeline, holders);
}

bool Constraints::checkHolders(const Pipeline &pipeline,
                               const schedules::Holders &holders) {
  for (std::int64_t stage = 0; stage < pipeline.stages; ++stage) {
    const auto held =
        std::count(holders.ranks.begin(), holders.ranks.end(), stage);
    if (held == pipeline.virtualStages)
      continue;
    elaboration_.emitter()
        .report(spanOf(pipeline.orderOrigin), Kind::OrderIncomplete,
                "stage {} holds {}, and `virtual` says {}", stage,
                counted(held, "chunk", "s"), pipeline.virtualStages)
        .note("a chunk is on the stage where it stands first");
    return false;
  }
  return true;
}

void Constraints::reportFault(const Pipeline &pipeline, const Fault &fault) {
  const std::vector<OriginId> &origins = pipeline.orderOrigins[fault.rank];
  const SourceSpan span =
      spanOf(fault.index < origins.size() ? origins[fault.index]
                                          : pipeline.orderOrigin);
  const schedules::PassText how =
      schedules::textOf(pipeline.order, pipeline.virtualStages);
  const std::string pass = schedules::toText(fault.pass, how);
  const std::int64_t m = plan_.batch.microBatches;
  diag::Emitter &emitter = elaboration_.emitter();
  switch (fault.kind) {
  case Fault::Kind::OutOfRange:
    emitter
        .report(span, Kind::OrderIncomplete, "there is no pass {}: {}, {}",
                pass, counted(m, "micro-batch", "es"),
                counted(pipeline.stages * pipeline.virtualStages, "chunk", "s"))
        .help("micro-batches and chunks are counted from 0; `virtual` says "
              "how many chunks a stage holds");
    return;
  case Fault::Kind::WrongRank:
    emitter
        .report(span, Kind::OrderIncomplete,
                "stage {} runs {}, whose chunk {} is on stage {}", fault.rank,
                pass, fault.pass.chunk, fault.holder)
        .help("a chunk is where it stands first; all of its passes belong "
              "there");
    return;
  case Fault::Kind::Twice:
    emitter.report(span, Kind::OrderIncomplete, "{} stands twice on stage {}",
                   pass, fault.rank);
    return;
  case Fault::Kind::Missing:
    emitter
        .report(span, Kind::OrderIncomplete, "stage {} does not run {}",
                fault.rank, pass)
        .note(spanOf(plan_.batch.clause), "{} from here",
              counted(m, "micro-batch", "es"))
        .help("every stage runs the forward and the backward of every "
              "micro-batch through each of its chunks");
    return;
  case Fault::Kind::TooEarly:
    emitter.report(span, Kind::OrderDeadlocks,
                   "{} stands before what it needs on the same stage", pass);
    return;
  case Fault::Kind::NoPair:
    emitter.report(span, Kind::OrderIncomplete,
                   "{} runs together with no forward before it", pass);
    return;
  case Fault::Kind::NeverRuns:
    emitter
        .report(span, Kind::OrderDeadlocks,
                "{} never runs: it waits for a stage that waits for this one",
                pass)
        .help("the passes before it on this stage keep others waiting; "
              "`planc emit --stage=stages` draws an order that runs");
    return;
  }
}

bool Constraints::checkUnits(const Pipeline &pipeline) {
  std::int64_t iterations = 0, before = 0, after = 0;
  for (const ops::Segment &segment : model_.segments) {
    if (segment.isRepeat)
      iterations += std::ssize(segment.iterations);
    else
      (iterations == 0 ? before : after) = 1;
  }
  // What stands between two repeats goes with the layer after it.
  if (!model_.segments.empty() && model_.segments.back().isRepeat)
    after = 0;
  std::int64_t units = iterations + before + after;
  auto chunks = checkedMul(pipeline.stages, pipeline.virtualStages);
  if (!chunks || *chunks > units) {
    bool isVirtual = pipeline.virtualStages != 1;
    elaboration_.emitter()
        .report(spanOf(isVirtual ? pipeline.virtualOrigin : pipeline.clause),
                Kind::MoreChunksThanUnits,
                "{} stages × {} chunks are more than the {} units of `{}`",
                pipeline.stages, pipeline.virtualStages, units, model_.name)
        .note("{} iterations of repeats, {} before and {} after them",
              iterations, before, after)
        .help("stages × virtual may be at most {}", units);
    return false;
  }
  return pipeline.layers.empty() || checkLayers(pipeline, iterations);
}

bool Constraints::checkLayers(const Pipeline &pipeline,
                              std::int64_t iterations) {
  std::int64_t chunks = pipeline.stages * pipeline.virtualStages;
  std::optional<std::int64_t> sum = 0;
  for (std::int64_t count : pipeline.layers)
    if (sum)
      sum = checkedAdd(*sum, count);
  if (sum && *sum == iterations && std::ssize(pipeline.layers) == chunks)
    return true;
  elaboration_.emitter()
      .report(spanOf(pipeline.layersOrigin), Kind::LayersDoNotAddUp,
              "{} {} up to {}", pipeline.layers.size(),
              pipeline.layers.size() == 1 ? "entry that adds"
                                          : "entries that add",
              sum ? fmt::format("{}", *sum) : "too many")
      .note("{} stages × {} chunks take {} entries, and `{}` has {} iterations",
            pipeline.stages, pipeline.virtualStages, chunks, model_.name,
            iterations)
      .help("`layers balanced` shares them out by cost");
  return false;
}

} // namespace planc::sema
