#include "compiler/lower/LowerBody.h"

#include "compiler/lower/Kernels.h"
#include "compiler/lower/Liveness.h"
#include "compiler/lower/PassBuilder.h"
#include "compiler/lower/Quantise.h"
#include "compiler/lower/Rerun.h"
#include "compiler/lower/SplitBackward.h"

#include <algorithm>

namespace planc::lower {

using program::InstructionKind;
using program::Phase;
using shard::ShardedValueId;
using shard::Step;
using shard::StepKind;

namespace {

/// A reduce-scatter of weight gradients into flat buffers (ZeRO-2).
bool isScatter(const Step &step) {
  return step.kind == StepKind::ReduceScatter && step.results.empty();
}

/// Parameters that what is made again has gathered already.
bool isGathered(const Step &step, const shard::ShardedBody &body,
                const Rerun &rerun) {
  return step.kind == StepKind::AllGather && step.operands.empty() &&
         std::any_of(rerun.steps.begin(), rerun.steps.end(),
                     [&](std::uint32_t index) {
                       const Step &again = body.forward[index];
                       return again.kind == StepKind::AllGather &&
                              again.results == step.results;
                     });
}

std::vector<PlannedStep> planned(const std::vector<Step> &steps) {
  std::vector<PlannedStep> out;
  for (const Step &step : steps)
    out.push_back({&step, step.phase});
  return out;
}

std::vector<LoweredBody::Gradient>
gradientsOf(const shard::ShardedBody &sharded, const PassBuilder &pass) {
  std::vector<LoweredBody::Gradient> gradients;
  for (const auto &gradient : sharded.weightGradients) {
    std::uint32_t at = pass.completes(gradient.value);
    if (at != kNoInstruction)
      gradients.push_back({gradient.weight, at});
  }
  std::stable_sort(gradients.begin(), gradients.end(),
                   [](const auto &a, const auto &b) {
                     return a.instruction < b.instruction;
                   });
  return gradients;
}

std::vector<LoweredBody::Scatter>
scattersAfter(const shard::ShardedBody &sharded, const PassBuilder &pass) {
  std::vector<LoweredBody::Scatter> scatters;
  for (const Step &step : sharded.backward)
    if (isScatter(step))
      scatters.push_back({&step, pass.lastOf(step.operands)});
  return scatters;
}

struct SplitRequest {
  const shard::ShardedGraph &graph;
  ops::BodyId body;
  const std::vector<PlannedStep> &backward;
  const std::vector<ShardedValueId> &kept;
  const NarrowCopies &narrow;
  Scatters scatters;
};

LoweredBody::Split lowerSplit(const SplitRequest &request) {
  const shard::ShardedGraph &graph = request.graph;
  const ops::BodyId body = request.body;
  const shard::ShardedBody &sharded = graph.bodies[body];
  const SplitSteps steps =
      splitBackward(graph, body, request.backward, request.kept);
  LoweredBody::Split split;

  PassBuilder input(graph, body);
  input.readSlots(sharded.gradientInputs);
  KernelRequest inputRequest{&graph, body, &steps.input, &steps.made,
                             &request.narrow};
  input.add(steps.input, groupKernels(inputRequest));
  split.inputGradients = gradientsOf(sharded, input);
  split.input = input.finish(sharded.gradientOutputs);

  // What it reads was there before it began: no slot is waited for.
  PassBuilder weight(graph, body);
  KernelRequest weightRequest{&graph, body, &steps.weight, nullptr,
                              &request.narrow};
  weight.add(steps.weight, groupKernels(weightRequest));
  split.weightGradients = gradientsOf(sharded, weight);
  if (request.scatters == Scatters::ByStage)
    split.scatters = scattersAfter(sharded, weight);
  split.weight = weight.finish({});

  const SavedRequest saved{graph, body, request.narrow};
  split.retained = savedBytes(saved, steps.retained);
  split.made = savedBytes(saved, steps.made);
  std::vector<ShardedValueId> held = request.kept;
  held.insert(held.end(), steps.made.begin(), steps.made.end());
  split.transient =
      std::max(peakTransient({&graph, body, &steps.input}, held),
               peakTransient({&graph, body, &steps.weight}, held));
  return split;
}

} // namespace

program::InstructionKind collectiveKind(StepKind kind) {
  switch (kind) {
  case StepKind::AllReduce:
    return InstructionKind::AllReduce;
  case StepKind::AllGather:
    return InstructionKind::AllGather;
  case StepKind::ReduceScatter:
    return InstructionKind::ReduceScatter;
  case StepKind::AllToAll:
    return InstructionKind::AllToAll;
  case StepKind::Compute:
  case StepKind::Slice:
    break;
  }
  return InstructionKind::Memory;
}

void setGroup(program::Message &message, const shard::Step &step) {
  for (std::size_t i = 0; i < step.sizes.size(); ++i) {
    if (step.sizes[i] == 1)
      continue;
    message.sizes.push_back(step.sizes[i]);
    message.strides.push_back(step.strides[i]);
  }
}

LoweredBody lowerBody(const shard::ShardedGraph &graph, ops::BodyId body,
                      const RerunChoice &recompute,
                      const LowerOptions &options) {
  const shard::ShardedBody &sharded = graph.bodies[body];
  const Scatters scatters = options.scatters;
  LoweredBody lowered;

  Rerun rerun = planRerun(graph, body, recompute);
  std::vector<PlannedStep> backward;
  for (std::uint32_t index : rerun.steps)
    backward.push_back({&sharded.forward[index], Phase::Recompute});
  for (const Step &step : sharded.backward)
    if ((scatters == Scatters::InPass || !isScatter(step)) &&
        !isGathered(step, sharded, rerun))
      backward.push_back({&step, step.phase});
  if (options.weights == WeightOrder::UnderReductions)
    backward = weightsUnderReductions(graph, body, backward);
  const NarrowCopies narrow = narrowCopies(graph, body, backward, rerun.kept);

  std::vector<PlannedStep> forward = planned(sharded.forward);
  PassBuilder forwardPass(graph, body);
  forwardPass.readSlots(sharded.inputs);
  KernelRequest forwardRequest{&graph, body, &forward, &sharded.saved, nullptr};
  forwardPass.add(forward, groupKernels(forwardRequest));
  forwardPass.keep(narrow);
  lowered.forward = forwardPass.finish(sharded.outputs);

  PassBuilder backwardPass(graph, body);
  backwardPass.readSlots(sharded.gradientInputs);
  // A value that is recomputed must reach memory if the backward reads it.
  KernelRequest backwardRequest{&graph, body, &backward, nullptr, &narrow};
  backwardPass.add(backward, groupKernels(backwardRequest));
  if (scatters == Scatters::ByStage)
    lowered.scatters = scattersAfter(sharded, backwardPass);
  lowered.gradients = gradientsOf(sharded, backwardPass);
  lowered.backward = backwardPass.finish(sharded.gradientOutputs);
  lowered.split =
      lowerSplit({graph, body, backward, rerun.kept, narrow, scatters});

  lowered.saved = savedBytes({graph, body, narrow}, rerun.kept);
  lowered.transient =
      std::max(peakTransient({&graph, body, &forward}, rerun.kept),
               peakTransient({&graph, body, &backward}, rerun.kept));
  return lowered;
}

} // namespace planc::lower
