#include "compiler/lower/Liveness.h"

#include "compiler/graph/ChooseFormats.h"

#include <algorithm>
#include <map>
#include <set>

namespace planc::lower {

using shard::ShardedValueId;

namespace {

/// What a loss made of several kernels holds while it runs, besides its
/// operands and results. The operand is the logits in the format of the loss,
/// and what is kept of it stands for the softmax; where the product made them
/// narrower, they are there as well until the loss has cast them.
///
/// PyTorch's cross entropy makes a log-softmax beside its operand, and backward
/// a gradient of either; over a vocabulary that is cut
/// (torch.distributed.tensor, _loss_parallel) forward an exponential as well,
/// and backward another and its product with the gradient. Megatron-LM's makes
/// all in the place of the operand.
Bytes ownOf(const LivenessRequest &request, const shard::Step &step) {
  const graph::GraphOptions &options = request.graph->graph->options;
  const graph::Body &source = request.graph->graph->bodies[request.body];
  if (step.kind != shard::StepKind::Compute ||
      !opOf(source, step).attributes.unfused)
    return Bytes();
  const ops::OpKind kind = opOf(source, step).kind;
  const bool isForward = kind == ops::OpKind::CrossEntropy;
  if (!isForward && kind != ops::OpKind::CrossEntropyGrad)
    return Bytes();
  const ShardedValueId logits = step.operands[isForward ? 0 : 1];
  const shard::ShardedValue &value =
      request.graph->bodies[request.body].values[logits];
  const ops::Value &whole = source.forward.values[value.source];
  const bool isCut = value.sizes.back() <
                     request.graph->graph->model.dims[whole.dims.back()].size;
  const Bytes one = bytesOf(*request.graph, request.body, logits);
  const std::int64_t copies = options.loss != graph::GraphOptions::Loss::Eager
                                  ? 0
                              : isForward ? (isCut ? 2 : 1)
                                          : (isCut ? 4 : 2);
  if (isForward) {
    const Bytes made = bytesIn(graph::activationFormat(options), *request.graph,
                               request.body, logits);
    return one * copies + (made < one ? made : Bytes());
  }
  // The result is cast when one of the others is let go.
  const Bytes result = bytesOf(*request.graph, request.body, step.results[0]);
  return std::max(Bytes(), one * copies - result);
}

} // namespace

Bytes peakTransient(const LivenessRequest &request,
                    const std::vector<ShardedValueId> &kept) {
  const std::vector<PlannedStep> &steps = *request.steps;
  const shard::ShardedBody &sharded = request.graph->bodies[request.body];
  std::set<ShardedValueId> ignored(kept.begin(), kept.end());
  for (const auto &gradient : sharded.weightGradients)
    ignored.insert(gradient.value);

  const ops::Body &body = request.graph->graph->bodies[request.body].forward;
  auto isWeight = [&](ShardedValueId value) {
    return body.values[sharded.values[value].source].kind ==
           ops::ValueKind::Weight;
  };

  std::vector<std::size_t> lastRead(sharded.values.size(), 0);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    for (ShardedValueId operand : steps[i].step->operands)
      lastRead[operand.index()] = i;
    for (ShardedValueId result : steps[i].step->results)
      lastRead[result.index()] = std::max(lastRead[result.index()], i);
  }
  // A view is its operand, which lives as long. So is a sum that products add
  // into the first of, whose others are never there by themselves; where the
  // sum has its place anyway, as a weight gradient has, the first is not
  // either.
  const graph::Body &source = request.graph->graph->bodies[request.body];
  for (std::size_t i = steps.size(); i-- > 0;) {
    const shard::Step &step = *steps[i].step;
    if (step.kind != shard::StepKind::Compute)
      continue;
    const bool isSum = opOf(source, step).attributes.accumulated;
    if (!isSum && classOf(opOf(source, step).kind) != ops::OpClass::View)
      continue;
    if (isSum) {
      if (ignored.count(step.results[0]) != 0)
        ignored.insert(step.operands[0]);
      ignored.insert(step.operands.begin() + 1, step.operands.end());
    }
    for (ShardedValueId result : step.results) {
      ignored.insert(result);
      std::size_t &last = lastRead[step.operands[0].index()];
      last = std::max(last, lastRead[result.index()]);
    }
  }
  // What travels around a ring: the block at work and the one that arrives.
  std::map<ShardedValueId, std::int64_t> rings;
  for (const PlannedStep &planned : steps) {
    const shard::Step &step = *planned.step;
    if (step.ring == shard::RingSteps::None)
      continue;
    std::int64_t members = 1;
    for (std::int64_t size : step.sizes)
      members *= size;
    rings[step.kind == shard::StepKind::AllGather ? step.results[0]
                                                  : step.operands[0]] = members;
  }
  std::vector<Bytes> freedAfter(steps.size());
  Bytes now, peak;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    for (ShardedValueId result : steps[i].step->results) {
      if (ignored.count(result) || isWeight(result))
        continue;
      Bytes size = heldBytes(*request.graph, request.body, result);
      if (auto ring = rings.find(result); ring != rings.end())
        size = Bytes(size.value / ring->second *
                     std::min<std::int64_t>(2, ring->second));
      now += size;
      freedAfter[lastRead[result.index()]] += size;
    }
    peak = std::max(peak, now + ownOf(request, *steps[i].step));
    now -= freedAfter[i];
  }
  return peak;
}

} // namespace planc::lower
