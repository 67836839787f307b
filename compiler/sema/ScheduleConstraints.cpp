// Stages, chunks and micro-batches against the schedule.
#include "compiler/sema/Constraints.h"

#include "compiler/diag/Kinds.h"
#include "runtime/base/Checked.h"

#include <fmt/core.h>

namespace planc::sema {

using diag::Kind;
using source::SourceSpan;

namespace {

std::string_view nameOf(Schedule schedule) {
  switch (schedule) {
  case Schedule::GPipe:
    return "GPipe";
  case Schedule::OneFOneB:
    return "1F1B";
  case Schedule::Interleaved1F1B:
    return "Interleaved1F1B";
  }
  return "";
}

/// Would groups of n run without a rank waiting for ever? (Megatron's rule; the
/// shapes it leaves out deadlock or stall.)
bool runs(std::int64_t stages, std::int64_t microBatches, std::int64_t n) {
  return n >= stages && n <= microBatches &&
         (microBatches % n == 0 || microBatches % n >= stages);
}

} // namespace

bool Constraints::checkPipeline() {
  if (!plan_.pipeline)
    return checkPasses();
  const Pipeline &pipeline = *plan_.pipeline;
  bool isSound = checkVirtual(pipeline);
  isSound = checkUnits(pipeline) && isSound;
  return isSound && checkPasses() && checkGroup(pipeline);
}

bool Constraints::takes(std::int64_t microBatches) const {
  if (!plan_.pipeline ||
      plan_.pipeline->schedule != Schedule::Interleaved1F1B ||
      plan_.pipeline->virtualStages == 1)
    return true;
  std::int64_t stages = plan_.pipeline->stages;
  return runs(stages, microBatches, plan_.pipeline->group.value_or(stages));
}

bool Constraints::checkPasses() {
  // Time and memory of a compile grow with them: about a second at the limit.
  constexpr std::int64_t kMostPasses = 100'000;
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

bool Constraints::checkVirtual(const Pipeline &pipeline) {
  if (pipeline.schedule == Schedule::Interleaved1F1B)
    return true;
  if (pipeline.virtualStages == 1 && !pipeline.group)
    return true;
  bool isVirtual = pipeline.virtualStages != 1;
  SourceSpan span =
      isVirtual ? spanOf(pipeline.virtualOrigin) : spanOf(pipeline.clause);
  elaboration_.emitter()
      .report(span, Kind::VirtualWithoutInterleaving,
              "{} has no `{}`: one chunk of the model a rank",
              nameOf(pipeline.schedule), isVirtual ? "virtual" : "group")
      .help("`schedule Interleaved1F1B` has");
  return false;
}

bool Constraints::checkGroup(const Pipeline &pipeline) {
  if (pipeline.schedule != Schedule::Interleaved1F1B ||
      pipeline.virtualStages == 1)
    return true;
  std::int64_t stages = pipeline.stages, m = plan_.batch.microBatches;
  std::int64_t n = pipeline.group.value_or(stages);
  if (runs(stages, m, n))
    return true;
  auto builder = elaboration_.emitter().report(
      spanOf(pipeline.clause), Kind::MicroBatchesDoNotFit,
      "{} in groups of {} do not fit {} interleaved stages",
      counted(m, "micro-batch", "es"), n, stages);
  std::move(builder).note(spanOf(plan_.batch.clause), "{} from here",
                          counted(m, "micro-batch", "es"));
  if (m < stages) {
    std::move(builder).help(
        "at least {} micro-batches are needed: more sequences, or a smaller "
        "micro-batch",
        stages);
    return false;
  }
  std::string groups;
  std::int64_t shown = 0;
  constexpr std::int64_t kMostShown = 6, kMostTried = 4096;
  for (std::int64_t each = stages;
       each <= m && each < stages + kMostTried && shown < kMostShown; ++each)
    if (runs(stages, m, each)) {
      groups += fmt::format("{}{}", groups.empty() ? "" : ", ", each);
      ++shown;
    }
  std::int64_t below = m / stages * stages;
  if (!groups.empty())
    std::move(builder).help("`group` may be {}", groups);
  std::move(builder).help("{} or {} micro-batches would do", below,
                          below + stages);
  return false;
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
