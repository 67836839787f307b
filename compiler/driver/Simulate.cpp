#include "compiler/driver/Simulate.h"

#include "runtime/report/WaitShares.h"
#include "runtime/sim/CompareOrders.h"

namespace planc::driver {

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
  case sema::BucketKind::Eager:
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

sim::Overlap overlapOf(const sema::Plan &plan) {
  const bool reductions = plan.overlap.gradients,
             gathers = plan.overlap.parameters;
  return reductions && gathers ? sim::Overlap::Allowed
         : reductions          ? sim::Overlap::Reductions
         : gathers             ? sim::Overlap::Gathers
                               : sim::Overlap::None;
}

report::Orders ordersOf(const sim::Comparison &compared,
                        const sim::Wanted &wanted, const ProgramSet &programs) {
  report::Orders orders;
  orders.program = report::figuresOf(programs, compared.program.timeline);
  orders.framework = report::figuresOf(programs, compared.framework.timeline);
  orders.frameworkBuckets =
      wanted.framework.kind == BucketPolicy::Kind::Megatron ? "megatron"
                                                            : "ddp";
  orders.bound = compared.bounds.inOrder;
  orders.anyOrderBound = compared.bounds.anyOrder;
  return orders;
}

} // namespace

sim::Options simulationOptions(const Options &options) {
  sim::Options simulation;
  if (options.simulation == Options::Simulation::Flat)
    simulation.mode = sim::Mode::Flat;
  return simulation;
}

Result<Runs> simulateOrders(const Compilation &compilation, sim::Costs costs,
                            const Options &options) {
  const ProgramSet &programs = *compilation.programs;
  const sema::Plan &plan = compilation.module->plan;
  sim::Wanted wanted;
  wanted.framework = frameworkPolicy(plan);
  wanted.overlap = overlapOf(plan);
  wanted.holds = plan.bucket.kind == sema::BucketKind::Auto;
  if (!wanted.holds && plan.bucket.kind != sema::BucketKind::Eager)
    wanted.buckets = policyOf(plan);
  wanted.moveWeights = plan.overlap.weights;
  const hardware::Cluster &cluster = compilation.module->cluster;
  for (const program::RankProgram &rankClass : programs.classes)
    wanted.spare.add(
        std::max(Bytes(0), cluster.usableMemory() - rankClass.memory.total()));

  if (options.asides == Options::Asides::Skipped)
    wanted.compared = sim::Compared::ChosenOnly;

  Runs runs;
  runs.costs = std::move(costs);
  Result<sim::Comparison> compared = sim::compareOrders(
      programs, runs.costs, wanted, simulationOptions(options));
  if (!compared)
    return compared.failure();
  if (wanted.compared == sim::Compared::All)
    runs.orders = ordersOf(*compared, wanted, programs);
  runs.order = std::move(compared->chosen.order);
  runs.chosen = std::move(compared->chosen.timeline);
  return runs;
}

Result<Duration> frameworkStep(const ProgramSet &programs,
                               const cost::CostModel &cost,
                               const sema::Plan &plan, const Options &options) {
  Result<timeline::Timeline> timeline = sim::simulate(
      programs, sim::modelCosts(programs, cost),
      sim::frameworkIssue(programs, policyOf(plan), overlapOf(plan)),
      simulationOptions(options));
  if (!timeline)
    return timeline.failure();
  return timeline->stepTime;
}

} // namespace planc::driver
