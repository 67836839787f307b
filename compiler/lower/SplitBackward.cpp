#include "compiler/lower/SplitBackward.h"

#include <algorithm>
#include <set>

namespace planc::lower {

using shard::ShardedValueId;

namespace {

/// The steps that something in `wanted` needs.
std::vector<bool> neededFor(std::set<ShardedValueId> wanted,
                            const std::vector<PlannedStep> &steps) {
  std::vector<bool> needed(steps.size(), false);
  for (std::size_t i = steps.size(); i-- > 0;) {
    const shard::Step &step = *steps[i].step;
    needed[i] =
        std::any_of(step.results.begin(), step.results.end(),
                    [&](ShardedValueId r) { return wanted.count(r) != 0; });
    if (needed[i])
      wanted.insert(step.operands.begin(), step.operands.end());
  }
  return needed;
}

/// Gradients of weights that are no products, biases and norms, read what is
/// at hand while gradients of inputs are made: they do not wait, unless they
/// read something that does.
void takeCheap(const graph::Body &body, const std::vector<PlannedStep> &steps,
               std::vector<bool> &isInput) {
  std::set<ShardedValueId> later;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const shard::Step &step = *steps[i].step;
    if (isInput[i])
      continue;
    const bool isCheap =
        steps[i].phase == program::Phase::WeightGradient &&
        step.kind == shard::StepKind::Compute &&
        ops::classOf(body.backward[step.op].kind) !=
            ops::OpClass::Contraction &&
        std::none_of(step.operands.begin(), step.operands.end(),
                     [&](ShardedValueId v) { return later.count(v) != 0; });
    if (isCheap)
      isInput[i] = true;
    else
      later.insert(step.results.begin(), step.results.end());
  }
}

/// By step: what the body's gradient outputs need, and cheap gradients of
/// weights.
std::vector<bool> inputSteps(const shard::ShardedGraph &graph, ops::BodyId body,
                             const std::vector<PlannedStep> &backward) {
  std::set<ShardedValueId> outputs;
  for (const shard::Port &port : graph.bodies[body].gradientOutputs)
    outputs.insert(port.value);
  std::vector<bool> isInput = neededFor(std::move(outputs), backward);
  takeCheap(graph.graph->bodies[body], backward, isInput);
  return isInput;
}

bool isReduction(const shard::Step &step) {
  return step.communication == program::CommunicationKind::Tensor &&
         (step.kind == shard::StepKind::ReduceScatter ||
          step.kind == shard::StepKind::AllReduce);
}

} // namespace

SplitSteps splitBackward(const shard::ShardedGraph &graph, ops::BodyId body,
                         const std::vector<PlannedStep> &backward,
                         const std::vector<ShardedValueId> &kept) {
  const shard::ShardedBody &sharded = graph.bodies[body];
  const std::vector<bool> isInput = inputSteps(graph, body, backward);

  SplitSteps out;
  for (std::size_t i = 0; i < backward.size(); ++i)
    (isInput[i] ? out.input : out.weight).push_back(backward[i]);

  std::set<ShardedValueId> own, seen;
  const std::set<ShardedValueId> keptSet(kept.begin(), kept.end());
  const ops::Body &forward = graph.graph->bodies[body].forward;
  for (const PlannedStep &planned : out.weight) {
    for (ShardedValueId operand : planned.step->operands) {
      ops::ValueKind kind = forward.values[sharded.values[operand].source].kind;
      if (kind == ops::ValueKind::Weight || kind == ops::ValueKind::Given ||
          own.count(operand) || !seen.insert(operand).second)
        continue;
      out.retained.push_back(operand);
      if (!keptSet.count(operand))
        out.made.push_back(operand);
    }
    own.insert(planned.step->results.begin(), planned.step->results.end());
  }
  return out;
}

std::vector<PlannedStep>
weightsUnderReductions(const shard::ShardedGraph &graph, ops::BodyId body,
                       const std::vector<PlannedStep> &backward) {
  const std::vector<bool> isInput = inputSteps(graph, body, backward);
  const graph::Body &source = graph.graph->bodies[body];
  std::vector<PlannedStep> out, waiting;
  std::set<ShardedValueId> made; // by what waits
  const auto waits = [&](const shard::Step &step) {
    const bool isProduct = step.kind == shard::StepKind::Compute &&
                           step.phase == program::Phase::WeightGradient &&
                           ops::classOf(source.backward[step.op].kind) ==
                               ops::OpClass::Contraction;
    return isProduct ||
           std::any_of(step.operands.begin(), step.operands.end(),
                       [&](ShardedValueId v) { return made.count(v) != 0; });
  };
  for (std::size_t i = 0; i < backward.size(); ++i) {
    const shard::Step &step = *backward[i].step;
    if (!isInput[i] && waits(step)) {
      made.insert(step.results.begin(), step.results.end());
      waiting.push_back(backward[i]);
      continue;
    }
    out.push_back(backward[i]);
    if (!isInput[i] || !isReduction(step))
      continue;
    out.insert(out.end(), waiting.begin(), waiting.end());
    waiting.clear();
    made.clear();
  }
  out.insert(out.end(), waiting.begin(), waiting.end());
  return out;
}

} // namespace planc::lower
