#include "compiler/graph/OpGraph.h"
#include "compiler/ops/Work.h"

namespace planc::graph {
namespace {

/// Sizes of the whole model: one logical device.
program::Work workOfWhole(const OpGraph &graph, const ops::Body &body,
                          const ops::Op &op) {
  ops::WorkRequest request;
  request.op = &op;
  request.model = &graph.model;
  auto sizes = [&](ops::ValueId value) {
    std::vector<std::int64_t> out;
    for (ops::DimId dim : body.values[value].dims)
      out.push_back(graph.model.dims[dim].size);
    return out;
  };
  for (ops::ValueId value : op.operands)
    request.addOperand(body.values[value], sizes(value));
  for (ops::ValueId value : op.results)
    request.addResult(body.values[value], sizes(value));
  return ops::workOf(request);
}

bool isAttention(const ops::Op &op) {
  return op.kind == ops::OpKind::Attention ||
         op.kind == ops::OpKind::AttentionGrad;
}

/// `repeatForward` is that of one run, whether or not a repeat has it.
ModelFlops flopsOf(const OpGraph &graph, const Body &body) {
  ModelFlops sum;
  auto count = [&](const ops::Op &op) {
    const program::Work work = workOfWhole(graph, body.forward, op);
    sum.exact += work.modelFlops.value;
    sum.full += work.modelFlopsFull.value;
    if (isAttention(op))
      sum.attention += work.modelFlopsFull.value;
  };
  for (const ops::Op &op : body.forward.forward)
    count(op);
  sum.forwardExact = sum.exact;
  sum.repeatForward = sum.full;
  for (const ops::Op &op : body.backward)
    count(op);
  return sum;
}

} // namespace

ModelFlops modelFlops(const OpGraph &graph) {
  std::vector<Int128> runs(graph.bodies.size(), 0);
  std::vector<Int128> repeats(graph.bodies.size(), 0);
  for (const ops::Segment &segment : graph.model.segments)
    for (ops::BodyId body : segment.iterations) {
      ++runs[body.index()];
      repeats[body.index()] += segment.isRepeat ? 1 : 0;
    }
  ModelFlops sum;
  for (ops::BodyId id : graph.bodies.ids()) {
    const ModelFlops one = flopsOf(graph, graph.bodies[id]);
    sum.exact += one.exact * runs[id.index()];
    sum.full += one.full * runs[id.index()];
    sum.forwardExact += one.forwardExact * runs[id.index()];
    sum.attention += one.attention * runs[id.index()];
    sum.repeatForward += one.repeatForward * repeats[id.index()];
  }
  return sum;
}

Int128 lookupParameterCount(const OpGraph &graph) {
  std::vector<bool> isLookedUp(graph.model.weights.size(), false);
  for (const Body &body : graph.bodies)
    for (const ops::Op &op : body.forward.forward)
      for (ops::ValueId value : op.operands) {
        const ops::WeightId weight = body.forward.values[value].weight;
        if (op.kind == ops::OpKind::Embed && weight.isValid())
          isLookedUp[weight.index()] = true;
      }
  Int128 sum = 0;
  for (ops::WeightId id : graph.model.weights.ids()) {
    const ops::Weight &weight = graph.model.weights[id];
    Int128 elements = isLookedUp[id.index()] ? weight.instances : 0;
    for (ops::DimId dim : weight.dims)
      elements *= graph.model.dims[dim].size;
    sum += elements;
  }
  return sum;
}

} // namespace planc::graph
