#include "compiler/lower/Rerun.h"

#include <algorithm>
#include <set>

namespace planc::lower {

using shard::ShardedValueId;
using shard::Step;
using shard::StepKind;

namespace {

bool isAttention(const graph::Body &body, const Step &step) {
  return step.kind == StepKind::Compute &&
         step.phase == program::Phase::Forward &&
         body.forward.forward[step.op].kind == ops::OpKind::Attention;
}

Rerun everything(const shard::ShardedBody &sharded, const ops::Body &body) {
  Rerun rerun;
  for (std::uint32_t i = 0; i < sharded.forward.size(); ++i)
    rerun.steps.push_back(i);
  for (const shard::Port &port : sharded.inputs)
    if (body.values[sharded.values[port.value].source].kind !=
        ops::ValueKind::Given)
      rerun.kept.push_back(port.value);
  return rerun;
}

/// Steps that make `wanted` again from what is kept, from weights and from what
/// the body is given.
std::vector<std::uint32_t> closure(const shard::ShardedBody &sharded,
                                   std::set<ShardedValueId> wanted,
                                   const std::set<ShardedValueId> &kept) {
  std::vector<std::uint32_t> steps;
  for (std::size_t i = sharded.forward.size(); i-- > 0;) {
    const Step &step = sharded.forward[i];
    bool makes = std::any_of(step.results.begin(), step.results.end(),
                             [&](ShardedValueId r) { return wanted.count(r); });
    if (!makes)
      continue;
    steps.push_back(static_cast<std::uint32_t>(i));
    for (ShardedValueId operand : step.operands)
      if (!kept.count(operand))
        wanted.insert(operand);
  }
  std::reverse(steps.begin(), steps.end());
  return steps;
}

Rerun onlyAttention(const shard::ShardedBody &sharded,
                    const graph::Body &body) {
  std::set<ShardedValueId> dropped;
  for (const Step &step : sharded.forward)
    if (isAttention(body, step))
      for (std::size_t r = 1; r < step.results.size(); ++r)
        dropped.insert(step.results[r]);
  Rerun rerun;
  std::set<ShardedValueId> wanted;
  for (ShardedValueId value : sharded.saved)
    if (dropped.count(value))
      wanted.insert(value);
    else
      rerun.kept.push_back(value);
  std::set<ShardedValueId> kept(rerun.kept.begin(), rerun.kept.end());
  for (const shard::Port &port : sharded.inputs)
    kept.insert(port.value);
  rerun.steps = closure(sharded, wanted, kept);
  return rerun;
}

} // namespace

Rerun planRerun(const shard::ShardedGraph &graph, ops::BodyId body,
                sema::Recompute recompute) {
  const shard::ShardedBody &sharded = graph.bodies[body];
  switch (recompute) {
  case sema::Recompute::None:
    return {{}, sharded.saved};
  case sema::Recompute::All:
    return everything(sharded, graph.graph->bodies[body].forward);
  case sema::Recompute::Attention:
    return onlyAttention(sharded, graph.graph->bodies[body]);
  }
  return {};
}

} // namespace planc::lower
