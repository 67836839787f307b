// The whole compile on one page. Each line makes the next value from those
// above it; nothing here decides anything.
#include "compiler/driver/Compilation.h"
#include "compiler/driver/Costs.h"
#include "compiler/driver/Evaluate.h"
#include "compiler/driver/MakeReport.h"
#include "compiler/driver/Prefetch.h"
#include "compiler/driver/Refine.h"
#include "compiler/driver/Simulate.h"
#include "compiler/driver/Verify.h"
#include "compiler/sema/Elaborate.h"

namespace planc::driver {

namespace {

graph::GraphOptions graphOptionsOf(const sema::Plan &plan) {
  graph::GraphOptions options;
  options.compute = plan.precision.compute;
  options.parameters = plan.precision.parameters;
  options.gradients = plan.precision.gradients;
  options.logits = plan.precision.logits;
  options.router = plan.precision.router;
  options.dispatch = plan.precision.dispatch;
  options.saved = plan.precision.saved;
  options.attentionFormat = plan.precision.attention;
  if (plan.kernels.attention == sema::AttentionKernel::Unfused)
    options.attention = graph::GraphOptions::AttentionKernel::Unfused;
  if (plan.kernels.unfusedNorm)
    options.norm = graph::GraphOptions::Fusion::Unfused;
  if (plan.kernels.unfusedAccumulation)
    options.accumulation = graph::GraphOptions::Fusion::Unfused;
  if (plan.kernels.unfusedElementwise)
    options.elementwise = graph::GraphOptions::Fusion::Unfused;
  if (plan.kernels.normWeightsApart)
    options.normWeights = graph::GraphOptions::Fusion::Unfused;
  options.loss = plan.kernels.loss;
  options.document = plan.batch.documents;
  return options;
}

} // namespace

std::optional<Failure> compile(Compilation &c, const Options &options,
                               std::optional<Stage> last,
                               diag::Emitter &emitter) {
  Checks checks(options.verify);
  // 2. Names, units, values: the plan, its model and its cluster.
  c.module =
      options.ground
          ? sema::elaborateOn(*c.program, *options.ground, c.origins, emitter)
          : sema::elaborate(*c.program, {options.planName, options.overrides},
                            c.origins, emitter);
  if (!c.module || last == Stage::Sema)
    return std::nullopt;
  const sema::Plan &plan = c.module->plan;

  // 3. Forward and backward on one logical device.
  c.graph = graph::buildGraph(c.module->model, graphOptionsOf(plan));
  checks.run("operator graph", [&] { return graph::verify(*c.graph); });
  if (checks.failed() || last == Stage::Graph)
    return checks.failure();

  // 4. The collectives that follow from `shard`.
  c.sharded = shard::shardGraph(*c.graph, plan);
  checks.run("sharded graph", [&] { return shard::verify(*c.sharded); });
  if (checks.failed() || last == Stage::Sharded)
    return checks.failure();

  // 5. Layers to stages, by what they cost; what is made again, by what fits;
  // passes in the schedule's order. First, where the plan leaves it open, how
  // far ahead parameters are gathered, which all of these go by.
  c.cost.emplace(c.model.emplace(c.module->cluster, costOptionsOf(plan)));
  c.module->plan.prefetch = chosenPrefetch(c, options);
  Refined refined = refine({&*c.sharded, &*c.module, &*c.cost});
  c.bodies = std::move(refined.bodies);
  c.stages = std::move(refined.stages);
  checks.run("stage graph", [&] { return pipeline::verify(*c.stages); });
  if (checks.failed() || last == Stage::Stages)
    return checks.failure();

  // 6. One program a class of equal ranks.
  c.programs = lower::emitProgram({&*c.sharded, &*c.stages, &plan, &c.bodies,
                                   c.module->accelerators, plan.name,
                                   instructionTimes(*c.cost)});
  checks.run("rank programs", [&] { return program::verify(*c.programs); });
  if (checks.failed() || last == Stage::Program)
    return checks.failure();
  return simulate(c, options, last);
}

std::optional<Failure> simulate(Compilation &c, const Options &options,
                                std::optional<Stage> last) {
  Checks checks(options.verify);
  // 7, 8. Issue order and virtual time.
  Result<Runs> runs =
      simulateOrders(c, sim::modelCosts(*c.programs, *c.cost), options);
  if (!runs)
    return runs.failure();
  c.runs = std::move(*runs);
  checks.run("timeline",
             [&] { return timeline::verify(c.runs->chosen, *c.programs); });
  if (checks.failed() || last == Stage::Schedule || last == Stage::Timeline)
    return checks.failure();

  // 9. What it costs and why.
  c.report = makeReport(c, options);
  if (options.asides == Options::Asides::Made) {
    Result<std::optional<report::WithoutReduction>> without =
        withoutReduction(c, options);
    if (!without)
      return without.failure();
    c.report->withoutReduction = std::move(*without);
  }
  checks.run("report", [&] { return report::verify(*c.report); });
  return checks.failure();
}

} // namespace planc::driver
