#include "compiler/driver/Costs.h"

#include "compiler/lower/HideExchanges.h"
#include "compiler/lower/HostLaunch.h"
#include "compiler/lower/OverlapTensor.h"
#include "compiler/pipeline/StageGraph.h"

#include <algorithm>

namespace planc::driver {

using program::Instruction;
using program::InstructionClass;

cost::Options costOptionsOf(const sema::Plan &plan) {
  cost::Options options;
  options.accelerators = plan.mesh.devices();
  if (plan.kernels.attentionGiven)
    options.attention = plan.kernels.attention;
  if (plan.kernels.graphs)
    options.launch = cost::Options::Launch::Graphs;
  return options;
}

namespace {

/// With `overlap tensor` in both orders of the gradients of weights; the
/// quicker backward, of equal ones the first.
lower::LoweredBody inBestOrder(const LowerRequest &request, ops::BodyId body,
                               const lower::RerunChoice &choice,
                               lower::Scatters scatters) {
  const auto made = [&](lower::WeightOrder order) {
    lower::LoweredBody out =
        lower::lowerBody(*request.sharded, body, choice, {scatters, order});
    if (request.module->plan.overlap.experts)
      lower::hideExchanges(out);
    if (request.module->plan.overlap.tensor)
      lower::overlapTensor(
          {request.sharded, body, instructionTimes(*request.cost)}, out);
    return out;
  };
  lower::LoweredBody inPlace = made(lower::WeightOrder::InPlace);
  if (!request.module->plan.overlap.tensor)
    return inPlace;
  lower::LoweredBody under = made(lower::WeightOrder::UnderReductions);
  const lower::InstructionTime time = instructionTimes(*request.cost);
  return lower::lengthOf(under.backward.instructions, time) <
                 lower::lengthOf(inPlace.backward.instructions, time)
             ? under
             : inPlace;
}

lower::LoweredBody lowerOne(const LowerRequest &request, ops::BodyId body,
                            const lower::RerunChoice &choice,
                            lower::Scatters scatters) {
  lower::LoweredBody out = inBestOrder(request, body, choice, scatters);
  const sema::Kernels &kernels = request.module->plan.kernels;
  if (!kernels.graphs)
    lower::waitForHost(
        out,
        {durationFromSeconds(
             request.module->cluster.accelerator.constants.hostLaunch),
         sema::kModuleLaunches[static_cast<std::size_t>(kernels.modules)],
         kernels.blocksLaunches ? lower::HostPace::Launches::Blocking
                                : lower::HostPace::Launches::Queued},
        instructionTimes(*request.cost));
  return out;
}

} // namespace

lower::LoweredModel lowerModel(const LowerRequest &request,
                               std::vector<lower::RerunChoice> choices) {
  const shard::ShardedGraph &sharded = *request.sharded;
  const sema::Plan &plan = request.module->plan;
  std::vector<bool> isLayer(sharded.bodies.size(), false);
  for (const ops::Segment &segment : sharded.graph->model.segments)
    for (ops::BodyId body : segment.iterations)
      isLayer[body.index()] = segment.isRepeat;
  lower::Scatters scatters = plan.pipeline && plan.pipeline->virtualStages > 1
                                 ? lower::Scatters::ByStage
                                 : lower::Scatters::InPass;
  lower::LoweredModel out;
  for (ops::BodyId body : sharded.bodies.ids()) {
    std::vector<lower::LoweredBody> forms;
    std::vector<lower::RerunChoice> known;
    for (lower::RerunChoice choice : choices) {
      if (!isLayer[body.index()])
        choice.all = choice.attention = false;
      forms.push_back(lowerOne(request, body, choice, scatters));
      known.push_back(std::move(choice));
    }
    bool isOne = std::all_of(known.begin(), known.end(), [&](const auto &each) {
      return each == known.front();
    });
    if (isOne)
      forms.resize(1);
    out.forms.add(std::move(forms));
  }
  out.choices = std::move(choices);
  return out;
}

namespace {

Duration costOf(const Instruction &instruction, const cost::CostModel &cost) {
  return program::classOf(instruction.kind) == InstructionClass::Compute
             ? cost.compute(instruction.kind, instruction.work).total
             : cost.communicate(instruction.kind, instruction.message).total;
}

} // namespace

Duration costOf(const std::vector<Instruction> &instructions,
                const cost::CostModel &cost) {
  Duration total;
  for (const Instruction &instruction : instructions)
    total += costOf(instruction, cost);
  return total;
}

std::function<Duration(const program::Instruction &)>
instructionTimes(const cost::CostModel &cost) {
  return [&cost](const Instruction &instruction) {
    return costOf(instruction, cost);
  };
}

std::vector<Duration> unitCostsOf(const ops::Model &model,
                                  const lower::LoweredModel &bodies,
                                  const cost::CostModel &cost) {
  Table<ops::BodyId, std::vector<Duration>> byBody;
  for (const std::vector<lower::LoweredBody> &forms : bodies.forms) {
    std::vector<Duration> costs;
    for (const lower::LoweredBody &form : forms)
      costs.push_back(costOf(form.forward.instructions, cost) +
                      costOf(form.backward.instructions, cost));
    byBody.add(std::move(costs));
  }
  std::vector<Duration> out;
  std::vector<pipeline::Unit> units = pipeline::unitsOf(model);
  for (std::size_t u = 0; u < units.size(); ++u) {
    Duration total;
    for (ops::BodyId body : units[u].bodies)
      total += byBody[body][bodies.formOf(u, body)];
    out.push_back(total);
  }
  return out;
}

} // namespace planc::driver
