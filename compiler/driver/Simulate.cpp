#include "compiler/driver/Simulate.h"

#include <algorithm>

namespace planc::driver {

using program::PassKind;
using program::ProgramSet;
using sim::BucketPolicy;

namespace {

/// What the plan's users run today: Megatron's buckets where layers are cut in
/// stages or states are, PyTorch's elsewhere.
BucketPolicy frameworkPolicy(const sema::Plan &plan) {
  BucketPolicy policy;
  policy.gradientBytes = bytesOf(plan.precision.gradients);
  policy.kind = plan.pipeline || !plan.optimizerState.axes.empty()
                    ? BucketPolicy::Kind::Megatron
                    : BucketPolicy::Kind::Ddp;
  return policy;
}

BucketPolicy policyOf(const sema::Plan &plan) {
  BucketPolicy policy = frameworkPolicy(plan);
  policy.size = plan.bucket.size;
  switch (plan.bucket.kind) {
  case sema::BucketKind::Auto:
    break;
  case sema::BucketKind::Size:
    policy.kind = BucketPolicy::Kind::Size;
    break;
  case sema::BucketKind::Layer:
    policy.kind = BucketPolicy::Kind::Layer;
    break;
  case sema::BucketKind::One:
    policy.kind = BucketPolicy::Kind::One;
    break;
  case sema::BucketKind::Ddp:
    policy.kind = BucketPolicy::Kind::Ddp;
    break;
  case sema::BucketKind::Megatron:
    policy.kind = BucketPolicy::Kind::Megatron;
    break;
  }
  return policy;
}

class OrderRunner {
public:
  OrderRunner(const ProgramSet &programs, const sim::Costs &costs,
              const Options &options)
      : programs_(programs), costs_(costs) {
    simOptions_.mode = options.simulation == Options::Simulation::Flat
                           ? sim::Mode::Flat
                           : sim::Mode::Reuse;
  }

  /// False after a failure, which is kept.
  bool run(const sim::IssueOrder &order, timeline::Timeline &into) {
    Result<timeline::Timeline> result =
        sim::simulate(programs_, costs_, order, simOptions_);
    if (!result) {
      failure_ = result.failure();
      return false;
    }
    into = std::move(*result);
    return true;
  }

  const Failure &failure() const { return failure_; }

private:
  const ProgramSet &programs_;
  const sim::Costs &costs_;
  sim::Options simOptions_;
  Failure failure_;
};

} // namespace

Result<Runs> simulateOrders(const ProgramSet &programs,
                            const cost::CostModel &cost, const sema::Plan &plan,
                            const Options &options) {
  Runs runs;
  runs.costs = sim::modelCosts(programs, cost);
  OrderRunner runner(programs, runs.costs, options);
  sim::IssueOrder programOrder = sim::programIssue(programs),
                  framework =
                      sim::frameworkIssue(programs, frameworkPolicy(plan));
  timeline::Timeline byProgram, byFramework;
  if (!runner.run(programOrder, byProgram) ||
      !runner.run(framework, byFramework))
    return runner.failure();
  runs.orders.program = byProgram.stepTime;
  runs.orders.framework = byFramework.stepTime;

  if (!plan.overlap.gradients) {
    runs.order = std::move(programOrder);
    runs.chosen = std::move(byProgram);
  } else if (plan.bucket.kind == sema::BucketKind::Auto) {
    runs.order = sim::chosenIssue(programs, runs.costs, byFramework);
    if (!runner.run(runs.order, runs.chosen))
      return runner.failure();
    if (byFramework.stepTime <= runs.chosen.stepTime) {
      runs.order = std::move(framework);
      runs.chosen = std::move(byFramework);
    }
  } else {
    runs.order = sim::frameworkIssue(programs, policyOf(plan));
    if (!runner.run(runs.order, runs.chosen))
      return runner.failure();
  }
  runs.orders.chosen = runs.chosen.stepTime;
  runs.orders.bound = stepBound(programs, runs.costs, runs.chosen);
  return runs;
}

namespace {

/// Of one class: its runs of a step, and what of the chunks before its first
/// one must run before and after it.
struct ClassWork {
  Duration own, before, after;
};

/// First runs of every chunk, over all classes: a micro-batch passes through
/// them in order before a later chunk can begin.
std::vector<Duration> chunkTimes(const ProgramSet &programs,
                                 const timeline::Timeline &timeline,
                                 PassKind kind) {
  std::vector<Duration> times;
  for (const program::RankProgram &rank : programs.classes)
    for (const program::Task &task : rank.tasks) {
      if (task.kind != program::TaskKind::Run || task.pass != kind ||
          task.chunk < 0)
        continue;
      auto chunk = static_cast<std::size_t>(task.chunk);
      if (times.size() <= chunk)
        times.resize(chunk + 1);
      times[chunk] = timeline.isolated[task.block].duration;
    }
  return times;
}

ClassWork workOf(const program::RankProgram &rank,
                 const timeline::Timeline &timeline,
                 const std::vector<Duration> &forward,
                 const std::vector<Duration> &backward) {
  ClassWork work;
  std::size_t first = forward.size();
  for (const program::Task &task : rank.tasks) {
    if (task.kind != program::TaskKind::Run)
      continue;
    work.own += timeline.isolated[task.block].duration;
    if (task.chunk >= 0)
      first = std::min(first, static_cast<std::size_t>(task.chunk));
  }
  for (std::size_t c = 0; c < first && c < backward.size(); ++c) {
    work.before += forward[c];
    work.after += backward[c];
  }
  return work;
}

Duration reductionTime(const program::RankProgram &rank,
                       const sim::Costs &costs) {
  // Without latencies: bytes alone, whatever the buckets.
  Duration total;
  for (const program::Piece &piece : rank.reduces) {
    sim::OpCost cost = costs.bucket(rank, piece, piece.message.bytes);
    total += cost.duration - cost.latency;
  }
  return total;
}

} // namespace

Duration stepBound(const ProgramSet &programs, const sim::Costs &costs,
                   const timeline::Timeline &timeline) {
  std::vector<Duration> forward =
      chunkTimes(programs, timeline, PassKind::Forward);
  std::vector<Duration> backward =
      chunkTimes(programs, timeline, PassKind::Backward);
  bool joined = programs.stepEnd == ProgramSet::StepEnd::Joined;
  Duration bound;
  for (const program::RankProgram &rank : programs.classes) {
    ClassWork work = workOf(rank, timeline, forward, backward);
    Duration own = work.own;
    if (joined)
      own += work.before + work.after;
    bound = std::max({bound, own, reductionTime(rank, costs)});
  }
  return bound;
}

} // namespace planc::driver
