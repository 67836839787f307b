#include "compiler/lint/Lints.h"

#include "compiler/diag/Kinds.h"
#include "runtime/hardware/Placement.h"

#include <algorithm>

namespace planc::lint {

using diag::Kind;
using program::CommunicationKind;

namespace {

double gibOf(Bytes bytes) {
  return bytes.toDouble() / (1024.0 * 1024.0 * 1024.0);
}

double share(Int128 part, Int128 whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

const report::Communication *find(const report::Report &report,
                                  CommunicationKind kind) {
  for (const report::Communication &row : report.communication)
    if (row.kind == kind)
      return &row;
  return nullptr;
}

void lintStarved(const Subject &subject, diag::Emitter &emitter) {
  const sema::Plan &plan = subject.module.plan;
  if (!plan.pipeline || plan.batch.microBatches >= plan.pipeline->stages)
    return;
  const sema::Batch &batch = plan.batch;
  emitter
      .report(subject.span(plan.pipeline->clause), Kind::StarvedPipeline,
              "{} micro-batch{} for {} stages: some always have nothing to do",
              batch.microBatches, batch.microBatches == 1 ? "" : "es",
              plan.pipeline->stages)
      .label(subject.span(batch.clause), "{} sequences a step", batch.sequences)
      .help("{} sequences a step are a micro-batch for each stage",
            batch.sequences / batch.microBatches * plan.pipeline->stages);
}

void lintReserve(const Subject &subject, diag::Emitter &emitter) {
  const report::MemoryReport &memory = subject.report.memory;
  if (memory.fit != report::Fit::Tight)
    return;
  emitter
      .report(
          subject.span(subject.module.plan.origin), Kind::MemoryWithinReserve,
          "{} takes {:.1f} GiB of the reserve of {:.1f}: {:.1f} of {:.1f} "
          "GiB in all",
          memory.stages[memory.fullest].stage, gibOf(Bytes(0) - memory.slack()),
          gibOf(memory.reserve), gibOf(memory.peak()), gibOf(memory.capacity))
      .help("`recompute auto` frees what is needed at the least cost");
}

/// No order beats the bound; what it cannot win back of the wait is there in
/// all of them.
void lintReduction(const Subject &subject, diag::Emitter &emitter) {
  const report::Report &report = subject.report;
  const report::Communication *row = find(report, CommunicationKind::Gradients);
  if (row == nullptr || !report.orders)
    return;
  const report::Orders &orders = *report.orders;
  const Duration bound = std::min(orders.bound, orders.anyOrderBound);
  const double waits = share(row->exposed, report.rankStepTime());
  const double winnable =
      1 - bound.toDouble() / orders.chosen.stepTime.toDouble();
  if (waits - winnable < kWorthSaying)
    return;
  const sema::Plan &plan = subject.module.plan;
  emitter
      .report(subject.span(plan.batch.clause), Kind::CannotHideReduction,
              "{:.0f} % of the step waits for gradients, and no order of its "
              "work is more than {:.1f} % shorter",
              100 * waits, 100 * winnable)
      .note("{} micro-batch{} a step to reduce gradients under",
            plan.batch.microBatches, plan.batch.microBatches == 1 ? "" : "es")
      .help("gradients in fewer bits, more sequences a step, or fewer ranks "
            "that each hold a whole copy");
}

/// Axes whose collectives stand inside layers and pass slow links.
class TensorLinks {
public:
  explicit TensorLinks(const Subject &subject) : subject_(subject) {}

  void run(diag::Emitter &emitter) {
    const double waits =
        exposedShare(subject_.report, CommunicationKind::Tensor);
    if (waits < kWorthSaying)
      return;
    for (const ops::Segment &segment : subject_.module.model.segments)
      if (segment.isRepeat)
        for (ops::BodyId body : segment.iterations)
          for (const shard::Step &step : subject_.sharded.bodies[body].forward)
            if (const auto level = slowLevel(step))
              return say(step, *level, waits, emitter);
  }

private:
  /// The level that a layer's collective crosses, if its links have less than
  /// half the rate of the innermost.
  std::optional<std::size_t> slowLevel(const shard::Step &step) const {
    if (step.communication != CommunicationKind::Tensor)
      return std::nullopt;
    const hardware::Cluster &cluster = subject_.module.cluster;
    const auto level =
        hardware::shapeOf(cluster, {step.sizes, step.strides}).outermost();
    if (!level || *level >= cluster.levels.size() ||
        2 * cluster.levels[*level].link.toDouble() >=
            cluster.levels[0].link.toDouble())
      return std::nullopt;
    return level;
  }

  void say(const shard::Step &step, std::size_t level, double waits,
           diag::Emitter &emitter) const {
    const hardware::Cluster &cluster = subject_.module.cluster;
    std::string names;
    for (sema::AxisId axis : step.axes)
      names +=
          (names.empty() ? "" : ", ") + subject_.sharded.mesh.axes[axis].name;
    const double times = cluster.levels[0].link.toDouble() /
                         cluster.levels[level].link.toDouble();
    emitter
        .report(subject_.span(step.clause), Kind::CrossNodeTensor,
                "collectives of `{}` inside each layer cross `{}`, whose links "
                "have 1/{:.0f} of the rate inside a `{}`: {:.0f} % of the step "
                "waits for them",
                names, cluster.levels[level].name, times,
                cluster.levels[0].name, 100 * waits)
        .help("a `{}` has {} accelerators: let the axis be no larger and stand "
              "last in `mesh`",
              cluster.levels[0].name, cluster.levels[0].of);
  }

  const Subject &subject_;
};

} // namespace

double exposedShare(const report::Report &report, CommunicationKind kind) {
  const report::Communication *row = find(report, kind);
  return row ? share(row->exposed, report.rankStepTime()) : 0;
}

void lint(const Subject &subject, diag::Emitter &emitter) {
  lintTiles(subject, emitter);
  lintStarved(subject, emitter);
  TensorLinks(subject).run(emitter);
  lintReduction(subject, emitter);
  lintReserve(subject, emitter);
}

} // namespace planc::lint
