#include "compiler/shard/ShardState.h"

#include "compiler/shard/Relay.h"
#include "runtime/base/Checked.h"

#include <algorithm>
#include <limits>

namespace planc::shard {

using program::CommunicationKind;
using program::Phase;

namespace {

bool has(const std::vector<AxisId> &axes, AxisId axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

/// Those of `asked` that do not cut the weight, in mesh order.
std::vector<AxisId> flatAxes(const std::vector<AxisId> &asked,
                             const Layout &layout, const Homes &homes) {
  std::vector<AxisId> axes;
  for (AxisId axis : homes.plan().mesh.axes.ids())
    if (has(asked, axis) && homes.size(axis) > 1 &&
        !layout.cut[axis.index()].isValid())
      axes.push_back(axis);
  return axes;
}

std::int64_t add(std::int64_t a, std::int64_t b) {
  return checkedAdd(a, b).value_or(std::numeric_limits<std::int64_t>::max());
}

} // namespace

Table<ops::WeightId, WeightState> storeWeights(const graph::OpGraph &graph,
                                               const Homes &homes) {
  Table<ops::WeightId, Layout> layouts = weightLayouts(graph, homes);
  const sema::Plan &plan = homes.plan();
  // Who holds a part of the parameters updates that part only.
  std::vector<AxisId> updated = plan.optimizerState.axes;
  updated.insert(updated.end(), plan.parameters.axes.begin(),
                 plan.parameters.axes.end());
  Table<ops::WeightId, WeightState> states;
  for (ops::WeightId id : graph.model.weights.ids()) {
    WeightState state;
    state.layout = layouts[id];
    state.sizes = homes.localSizes(graph.model.weights[id].dims, layouts[id]);
    state.localElements = elementsOf(state.sizes);
    state.gradient = state.layout;
    state.gradientElements = state.localElements;
    state.optimizerState = flatAxes(updated, layouts[id], homes);
    state.gradientState = flatAxes(plan.gradients.axes, layouts[id], homes);
    state.parameterState = flatAxes(plan.parameters.axes, layouts[id], homes);
    states.add(std::move(state));
  }
  return states;
}

namespace {

/// The layout all bodies can leave a weight's gradient in.
Layout commonGradient(const ShardedGraph &graph, ops::WeightId weight) {
  const WeightState &state = graph.weights[weight];
  Layout common = state.layout;
  for (std::size_t a = 0; a < common.cut.size(); ++a) {
    const Layout *first = nullptr;
    bool alike = true;
    for (const ShardedBody &body : graph.bodies)
      for (const ShardedBody::WeightGradient &gradient : body.weightGradients) {
        if (gradient.weight != weight)
          continue;
        const Layout &layout = body.values[gradient.value].layout;
        alike = alike && (!first || (first->cut[a] == layout.cut[a] &&
                                     first->partial[a] == layout.partial[a]));
        first = &layout;
      }
    if (first && alike && first->partial[a]) {
      common.cut[a] = first->cut[a];
      common.partial[a] = true;
    }
  }
  return common;
}

void settleBody(ShardedGraph &graph, ops::BodyId id, const Homes &homes) {
  ShardedBody &body = graph.bodies[id];
  const graph::Body &source = graph.graph->bodies[id];
  Emission emission(source.forward, homes, body);
  emission.into(body.backward);
  for (ShardedBody::WeightGradient &gradient : body.weightGradients) {
    MoveContext context;
    context.phase = Phase::WeightGradient;
    context.communication = CommunicationKind::Gradients;
    context.origin = emission.source(gradient.value).origin;
    gradient.value = emission.moveAll(
        gradient.value, graph.weights[gradient.weight].gradient, context);
    for (std::size_t s = 0; s < body.backward.size(); ++s) {
      const std::vector<ShardedValueId> &results = body.backward[s].results;
      if (std::count(results.begin(), results.end(), gradient.value))
        gradient.step = static_cast<std::uint32_t>(s);
    }
  }
}

} // namespace

void settleGradients(ShardedGraph &graph, const Homes &homes) {
  for (ops::WeightId weight : graph.weights.ids()) {
    WeightState &state = graph.weights[weight];
    state.gradient = commonGradient(graph, weight);
    state.gradientElements = elementsOf(homes.localSizes(
        graph.graph->model.weights[weight].dims, state.gradient));
    for (std::size_t a = 0; a < state.gradient.partial.size(); ++a)
      if (state.gradient.partial[a])
        state.partial.push_back(AxisId(a));
  }
  for (ops::BodyId body : graph.bodies.ids())
    settleBody(graph, body, homes);
}

namespace {

/// Partial axes over which the gradient is reduce-scattered every micro-batch.
std::vector<AxisId> scatteredEarly(const WeightState &state) {
  std::vector<AxisId> axes;
  for (AxisId axis : state.gradientState)
    if (has(state.partial, axis))
      axes.push_back(axis);
  return axes;
}

void scatterBody(ShardedGraph &graph, ops::BodyId id, const Homes &homes) {
  ShardedBody &body = graph.bodies[id];
  std::vector<std::vector<AxisId>> done;
  for (const ShardedBody::WeightGradient &each : body.weightGradients) {
    std::vector<AxisId> axes = scatteredEarly(graph.weights[each.weight]);
    if (axes.empty() || std::count(done.begin(), done.end(), axes))
      continue;
    done.push_back(axes);
    Step step;
    step.kind = StepKind::ReduceScatter;
    step.phase = Phase::WeightGradient;
    setGroup(step, {StepKind::ReduceScatter, axes, {}, {}, Members::All},
             homes);
    std::int64_t elements = 0;
    for (ShardedBody::WeightGradient &gradient : body.weightGradients) {
      if (scatteredEarly(graph.weights[gradient.weight]) != axes)
        continue;
      step.operands.push_back(gradient.value);
      gradient.step = static_cast<std::uint32_t>(body.backward.size());
      elements = add(elements, graph.weights[gradient.weight].gradientElements);
    }
    const ops::Body &source = graph.graph->bodies[id].forward;
    step.bytes = bytesOf(elements, graph.graph->options.gradients);
    step.communication = CommunicationKind::Gradients;
    step.name = source.name + " gradients";
    step.origin = source.origin;
    step.clause = homes.plan().gradients.clause;
    body.backward.push_back(std::move(step));
  }
}

/// Writes down what happens to one instance of a weight once a step.
class StepEnd {
public:
  StepEnd(const ShardedGraph &graph, ops::WeightId id, const Homes &homes)
      : weight_(graph.graph->model.weights[id]), state_(graph.weights[id]),
        options_(graph.graph->options), homes_(homes),
        elements_(state_.gradientElements), layout_(state_.gradient) {}

  std::vector<Step> reduces() {
    std::vector<AxisId> early = scatteredEarly(state_);
    for (AxisId axis : early)
      scattered(axis);
    Layout home = state_.layout;
    std::vector<AxisId> flat, rest;
    for (AxisId axis : state_.partial) {
      if (has(early, axis))
        continue;
      if (state_.layout.cut[axis.index()].isValid())
        continue;
      home.partial[axis.index()] = true;
      (has(state_.optimizerState, axis) ? flat : rest).push_back(axis);
    }
    for (AxisId axis : early)
      home.partial[axis.index()] = layout_.partial[axis.index()] = false;
    for (const Move &move : planMoves(layout_, home, homes_))
      reduce(move);
    if (!flat.empty())
      reduce({StepKind::ReduceScatter, flat, {}, {}, Members::All});
    if (!rest.empty())
      reduce({StepKind::AllReduce, rest, {}, {}, Members::All});
    gatherGradient(early);
    return std::move(steps_);
  }

  std::vector<Step> gathers() {
    const bool isKept = homes_.plan().reshard == sema::Reshard::Never &&
                        !state_.parameterState.empty();
    std::vector<AxisId> axes;
    for (AxisId axis : state_.optimizerState)
      if (isKept || !has(state_.parameterState, axis))
        axes.push_back(axis);
    if (axes.empty() || (weight_.isFrozen && !isKept))
      return {};
    std::int64_t elements = state_.localElements;
    if (!isKept)
      for (AxisId axis : state_.parameterState)
        elements = ceilDiv(elements, homes_.size(axis));
    Step step = make({StepKind::AllGather, axes, {}, {}, Members::All});
    step.bytes = bytesOf(elements,
                         isKept ? gatherFormat(options_) : options_.parameters);
    step.communication = CommunicationKind::Parameters;
    step.name += " gather";
    step.clause = isKept ? homes_.plan().parameters.clause
                         : homes_.plan().optimizerState.clause;
    return {step};
  }

private:
  /// Cut over more axes than the optimizer's states: whole again for them.
  void gatherGradient(const std::vector<AxisId> &early) {
    std::vector<AxisId> axes;
    for (AxisId axis : early)
      if (!has(state_.optimizerState, axis)) {
        axes.push_back(axis);
        elements_ *= homes_.size(axis);
      }
    if (axes.empty())
      return;
    Step step = make({StepKind::AllGather, axes, {}, {}, Members::All});
    step.bytes = bytesOf(elements_, options_.gradients);
    step.communication = CommunicationKind::Gradients;
    step.name += " gradient gather";
    step.clause = homes_.plan().gradients.clause;
    steps_.push_back(std::move(step));
  }

  void scattered(AxisId axis) {
    elements_ = ceilDiv(elements_, homes_.size(axis));
  }

  Step make(const Move &move) const {
    Step step;
    step.kind = move.kind;
    step.phase = Phase::Update;
    step.from = move.from;
    step.to = move.to;
    setGroup(step, move, homes_);
    step.name = weight_.name;
    step.origin = weight_.origin;
    return step;
  }

  void reduce(const Move &move) {
    Step step = make(move);
    step.bytes = bytesOf(elements_, options_.gradients);
    step.communication = CommunicationKind::Gradients;
    step.name += move.kind == StepKind::AllReduce ? " gradient reduce"
                                                  : " gradient scatter";
    step.clause = homes_.plan().lists[move.axes[0]].clause;
    if (move.kind == StepKind::ReduceScatter)
      for (std::size_t i = 0; i < step.sizes.size(); ++i)
        elements_ = ceilDiv(elements_, step.sizes[i]);
    if (move.kind != StepKind::Slice)
      steps_.push_back(std::move(step));
  }

  const ops::Weight &weight_;
  const WeightState &state_;
  const graph::GraphOptions &options_;
  const Homes &homes_;
  std::int64_t elements_;
  Layout layout_;
  std::vector<Step> steps_;
};

} // namespace

void reduceGradients(ShardedGraph &graph, const Homes &homes) {
  for (ops::BodyId body : graph.bodies.ids())
    scatterBody(graph, body, homes);
  for (ops::WeightId weight : graph.weights.ids()) {
    std::vector<Step> reduces = StepEnd(graph, weight, homes).reduces();
    std::vector<Step> gathers = StepEnd(graph, weight, homes).gathers();
    graph.weights[weight].reduces = std::move(reduces);
    graph.weights[weight].gathers = std::move(gathers);
  }
}

} // namespace planc::shard
