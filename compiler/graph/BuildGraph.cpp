#include "compiler/graph/BuildBackward.h"
#include "compiler/graph/ChooseFormats.h"
#include "compiler/graph/FoldElementwise.h"
#include "compiler/graph/GradientFlow.h"
#include "compiler/graph/OpGraph.h"

namespace planc::graph {
namespace {

/// The body whose forward makes the loss.
ops::BodyId lastBody(const ops::Model &model) {
  if (model.segments.empty() || model.segments.back().iterations.empty())
    return {};
  return model.segments.back().iterations.back();
}

void foldForward(ops::Body &body, ops::ValueId loss,
                 const GraphOptions &options) {
  KernelGroups groups(body.forward);
  std::vector<bool> outside(body.values.size(), false);
  for (const ops::Port &port : body.outputs)
    outside[port.value.index()] = true;
  if (loss.isValid())
    outside[loss.index()] = true;
  if (options.elementwise == GraphOptions::Fusion::Fused)
    groups.joinNeighbours(outside);
  groups.lay(body.forward, 0);
}

} // namespace

OpGraph buildGraph(const ops::Model &model, const GraphOptions &options) {
  OpGraph graph;
  graph.model = model;
  graph.options = options;
  chooseFormats(graph.model, options);
  Table<ops::BodyId, GradientFlow> flows = findGradientFlow(graph.model);
  Table<ops::BodyId, ops::Body> bodies = std::move(graph.model.bodies);
  graph.model.bodies = {};
  for (ops::BodyId id : bodies.ids()) {
    BackwardRequest request;
    request.model = &graph.model;
    request.options = &graph.options;
    request.flow = &flows[id];
    if (id == lastBody(model))
      request.loss = model.loss;
    Body body;
    body.forward = std::move(bodies[id]);
    foldForward(body.forward, request.loss, options);
    buildBackward(body, request);
    graph.bodies.add(std::move(body));
  }
  return graph;
}

} // namespace planc::graph
