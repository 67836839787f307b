#include "compiler/lower/OptimizerState.h"

#include "compiler/lower/StageWeights.h"
#include "runtime/base/Checked.h"

#include <algorithm>

namespace planc::lower {

using sema::OptimizerKind;

namespace {

/// The roles of a weight's dimensions in a product: contracted, kept by it
/// alone, or shared with the other operand.
MatrixShape shapeIn(const ops::Op &op, std::size_t operand,
                    const std::vector<std::int64_t> &sizes) {
  MatrixShape shape;
  const std::vector<ops::OperandUse> &uses = op.rules[0].operands;
  auto isElsewhere = [&](ops::DimId as) {
    for (std::size_t i = 0; i < uses.size(); ++i)
      for (const ops::DimUse &dim : uses[i].dims)
        if (i != operand && dim.role == ops::Role::Map && dim.as == as)
          return true;
    return false;
  };
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    const ops::DimUse &dim = uses[operand].dims[d];
    std::int64_t &into = dim.role == ops::Role::Contract ? shape.rows
                         : isElsewhere(dim.as)           ? shape.batch
                                                         : shape.columns;
    into *= sizes[d];
  }
  shape.isProduct = true;
  return shape;
}

std::optional<MatrixShape> shapeFrom(const shard::ShardedGraph &graph,
                                     const ops::Body &body,
                                     ops::WeightId weight) {
  const std::vector<std::int64_t> &sizes = graph.weights[weight].sizes;
  for (const ops::Op &op : body.forward)
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      const ops::Value &value = body.values[op.operands[i]];
      if (value.kind != ops::ValueKind::Weight || value.weight != weight)
        continue;
      if (op.kind == ops::OpKind::MatMul)
        return shapeIn(op, i, sizes);
      if (op.kind != ops::OpKind::Embed)
        continue;
      MatrixShape shape;
      shape.rows = sizes.front();
      for (std::size_t d = 1; d < sizes.size(); ++d)
        shape.columns *= sizes[d];
      return shape;
    }
  return std::nullopt;
}

std::int64_t momentElements(const sema::Plan &plan, std::int64_t elements,
                            const std::optional<MatrixShape> &shape) {
  switch (plan.optimizer.kind) {
  case OptimizerKind::AdamW:
    return 2 * elements;
  case OptimizerKind::Sgd:
    return elements;
  case OptimizerKind::Adafactor:
    return shape ? shape->batch * (shape->rows + shape->columns) : elements;
  case OptimizerKind::Muon:
    return isOrthogonalised(plan, shape) ? elements : 2 * elements;
  }
  return 0;
}

} // namespace

std::optional<MatrixShape> matrixOf(const shard::ShardedGraph &graph,
                                    ops::WeightId weight) {
  if (graph.weights[weight].sizes.size() < 2)
    return std::nullopt;
  for (const ops::Segment &segment : graph.graph->model.segments)
    for (ops::BodyId body : segment.iterations)
      if (auto shape =
              shapeFrom(graph, graph.graph->bodies[body].forward, weight)) {
        shape->isInLayer = segment.isRepeat;
        return shape;
      }
  return std::nullopt;
}

bool isOrthogonalised(const sema::Plan &plan,
                      const std::optional<MatrixShape> &shape) {
  return plan.optimizer.kind == OptimizerKind::Muon && shape &&
         shape->isProduct && shape->isInLayer;
}

std::int64_t stateBytes(const shard::ShardedGraph &graph,
                        const sema::Plan &plan, ops::WeightId weight) {
  if (graph.graph->model.weights[weight].isFrozen)
    return 0;
  const shard::WeightState &state = graph.weights[weight];
  std::int64_t elements =
      cutElements(plan.mesh, state.localElements, state.optimizerState);
  bool isElementwise = plan.optimizer.kind == OptimizerKind::AdamW ||
                       plan.optimizer.kind == OptimizerKind::Sgd;
  std::optional<MatrixShape> shape =
      isElementwise ? std::nullopt : matrixOf(graph, weight);
  std::int64_t moments =
      isElementwise
          ? momentElements(plan, elements, shape)
          : cutElements(plan.mesh,
                        momentElements(plan, state.localElements, shape),
                        state.optimizerState);
  std::int64_t master =
      plan.optimizer.master ? bytesOf(*plan.optimizer.master) : 0;
  if (master <= bytesOf(plan.precision.parameters))
    master = 0;
  return elements * master + moments * bytesOf(plan.optimizer.moments);
}

} // namespace planc::lower
