#include "compiler/shard/ShardBody.h"
#include "compiler/shard/ShardState.h"

#include "compiler/graph/ChooseFormats.h"

namespace planc::shard {

ShardedGraph shardGraph(const graph::OpGraph &graph, const sema::Plan &plan) {
  Homes homes(graph, plan);
  ShardedGraph out;
  out.graph = &graph;
  out.mesh = plan.mesh;
  out.weights = storeWeights(graph, homes);
  for (const ops::Slot &slot : graph.model.slots)
    out.slots.add(homes.layout(slot.dims));
  for (ops::BodyId body : graph.bodies.ids())
    out.bodies.add(shardBody({&graph, body, &homes, &out.weights}));
  settleGradients(out, homes);
  reduceGradients(out, homes);
  return out;
}

Precision gatherFormat(const graph::GraphOptions &options) {
  const Precision held = graph::activationFormat(options);
  return bytesOf(options.parameters) < bytesOf(held) ? options.parameters
                                                     : held;
}

} // namespace planc::shard
