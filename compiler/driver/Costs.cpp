#include "compiler/driver/Costs.h"

#include "compiler/pipeline/StageGraph.h"

namespace planc::driver {

using program::Instruction;
using program::InstructionClass;

cost::Options costOptionsOf(const sema::Plan &plan) {
  cost::Options options;
  options.accelerators = plan.mesh.devices();
  if (plan.kernels.attentionGiven)
    switch (plan.kernels.attention) {
    case sema::AttentionKernel::Flash2:
      options.attention = cost::AttentionKernel::Flash2;
      break;
    case sema::AttentionKernel::Flash3:
      options.attention = cost::AttentionKernel::Flash3;
      break;
    case sema::AttentionKernel::Cudnn:
      options.attention = cost::AttentionKernel::Cudnn;
      break;
    case sema::AttentionKernel::Unfused:
      options.attention = cost::AttentionKernel::Unfused;
      break;
    }
  if (plan.kernels.graphs)
    options.launch = cost::Options::Launch::Graphs;
  return options;
}

Table<ops::BodyId, lower::LoweredBody>
lowerBodies(const shard::ShardedGraph &sharded, const sema::Plan &plan) {
  const ops::Model &model = sharded.graph->model;
  std::vector<bool> isLayer(sharded.bodies.size(), false);
  for (const ops::Segment &segment : model.segments)
    for (ops::BodyId body : segment.iterations)
      isLayer[body.index()] = segment.isRepeat;
  lower::Scatters scatters = plan.pipeline && plan.pipeline->virtualStages > 1
                                 ? lower::Scatters::ByStage
                                 : lower::Scatters::InPass;
  Table<ops::BodyId, lower::LoweredBody> bodies;
  for (ops::BodyId body : sharded.bodies.ids())
    bodies.add(lower::lowerBody(sharded, body,
                                isLayer[body.index()] ? plan.recompute
                                                      : sema::Recompute::None,
                                scatters));
  return bodies;
}

namespace {

Duration costOf(const std::vector<Instruction> &instructions,
                const cost::CostModel &cost) {
  Duration total;
  for (const Instruction &instruction : instructions)
    total +=
        program::classOf(instruction.kind) == InstructionClass::Compute
            ? cost.compute(instruction.kind, instruction.work).total
            : cost.communicate(instruction.kind, instruction.message).total;
  return total;
}

} // namespace

std::vector<Duration>
unitCostsOf(const ops::Model &model,
            const Table<ops::BodyId, lower::LoweredBody> &bodies,
            const cost::CostModel &cost) {
  Table<ops::BodyId, Duration> byBody;
  for (const lower::LoweredBody &body : bodies)
    byBody.add(costOf(body.forward.instructions, cost) +
               costOf(body.backward.instructions, cost));
  std::vector<Duration> costs;
  for (const pipeline::Unit &unit : pipeline::unitsOf(model)) {
    Duration total;
    for (ops::BodyId body : unit.bodies)
      total += byBody[body];
    costs.push_back(total);
  }
  return costs;
}

} // namespace planc::driver
