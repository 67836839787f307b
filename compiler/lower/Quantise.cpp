#include "compiler/lower/Quantise.h"

#include "compiler/lower/Kernels.h"
#include "compiler/shard/Homes.h"
#include "runtime/base/Checked.h"

#include <algorithm>
#include <set>

namespace planc::lower {

using shard::ShardedValueId;

namespace {

constexpr std::int64_t kCopies = 2;

/// What a rank holds: of dispatched tokens those that there are.
std::int64_t elementsOf(const ops::Body &body,
                        const shard::ShardedValue &value) {
  return shard::heldElements(body.values[value.source], value.sizes);
}

/// Whether every backward operator that reads the value reads a copy.
bool onlyCopies(const shard::ShardedGraph &graph, ops::BodyId body,
                ShardedValueId value) {
  const graph::Body &source = graph.graph->bodies[body];
  const shard::ShardedBody &sharded = graph.bodies[body];
  bool isRead = false;
  for (const shard::Step &step : sharded.backward) {
    if (std::find(step.operands.begin(), step.operands.end(), value) ==
        step.operands.end())
      continue;
    isRead = true;
    if (step.kind != shard::StepKind::Compute ||
        step.phase == program::Phase::Forward ||
        !isQuantised(source.forward, source.backward[step.op],
                     sharded.values[value]))
      return false;
  }
  return isRead;
}

/// The format in which products read copies of the weight.
std::optional<Precision> formatOf(const shard::ShardedGraph &graph,
                                  ops::WeightId weight) {
  for (const graph::Body &body : graph.graph->bodies)
    for (const ops::Op &op : body.forward.forward)
      for (ops::ValueId operand : op.operands) {
        const ops::Value &value = body.forward.values[operand];
        if (value.kind == ops::ValueKind::Weight && value.weight == weight &&
            op.attributes.compute && planc::isQuantised(*op.attributes.compute))
          return op.attributes.compute;
      }
  return std::nullopt;
}

} // namespace

bool isQuantised(const ops::Body &body, const ops::Op &op,
                 const shard::ShardedValue &value) {
  const ops::OpClass kind = ops::classOf(op.kind);
  const bool isProduct =
      kind == ops::OpClass::Contraction || kind == ops::OpClass::Attention;
  const ops::Value &source = body.values[value.source];
  return isProduct && op.attributes.compute &&
         planc::isQuantised(*op.attributes.compute) &&
         source.kind != ops::ValueKind::Statistic &&
         planc::bytesOf(source.precision) > 1;
}

Bytes quantisedBytes(Precision format, const ops::Body &body,
                     const shard::ShardedValue &value) {
  return Bytes(
      saturatingMul(kCopies, bytesHeld(format, elementsOf(body, value))));
}

Bytes savedBytes(const shard::ShardedGraph &graph, ops::BodyId body,
                 const std::vector<ShardedValueId> &kept) {
  const Precision format = graph.graph->options.compute;
  if (!planc::isQuantised(format))
    return bytesOf(graph, body, kept);
  Bytes total;
  for (ShardedValueId value :
       std::set<ShardedValueId>(kept.begin(), kept.end()))
    total += onlyCopies(graph, body, value)
                 ? Bytes(bytesHeld(
                       format, elementsOf(graph.graph->bodies[body].forward,
                                          graph.bodies[body].values[value])))
                 : bytesOf(graph, body, value);
  return total;
}

Bytes weightCopies(const shard::ShardedGraph &graph, ops::WeightId weight) {
  std::optional<Precision> format = formatOf(graph, weight);
  if (!format)
    return Bytes();
  const bool isStored = planc::bytesOf(graph.graph->options.parameters) == 1;
  return Bytes((isStored ? kCopies - 1 : kCopies) *
               bytesHeld(*format, graph.weights[weight].localElements));
}

} // namespace planc::lower
