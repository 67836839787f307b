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

ModelFlops flopsOf(const OpGraph &graph, const Body &body) {
  ModelFlops sum;
  for (const ops::Op &op : body.forward.forward) {
    program::Work work = workOfWhole(graph, body.forward, op);
    sum.forwardExact += work.modelFlops.value;
    sum.full += work.modelFlopsFull.value;
  }
  sum.exact = sum.forwardExact;
  for (const ops::Op &op : body.backward) {
    program::Work work = workOfWhole(graph, body.forward, op);
    sum.exact += work.modelFlops.value;
    sum.full += work.modelFlopsFull.value;
  }
  return sum;
}

} // namespace

ModelFlops modelFlops(const OpGraph &graph) {
  std::vector<Int128> runs(graph.bodies.size(), 0);
  for (const ops::Segment &segment : graph.model.segments)
    for (ops::BodyId body : segment.iterations)
      ++runs[body.index()];
  ModelFlops sum;
  for (ops::BodyId id : graph.bodies.ids()) {
    ModelFlops one = flopsOf(graph, graph.bodies[id]);
    sum.exact += one.exact * runs[id.index()];
    sum.full += one.full * runs[id.index()];
    sum.forwardExact += one.forwardExact * runs[id.index()];
  }
  return sum;
}

} // namespace planc::graph
