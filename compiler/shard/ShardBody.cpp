#include "compiler/shard/BodySharding.h"
#include "runtime/base/Checked.h"

#include <algorithm>
#include <limits>

namespace planc::shard {

using ops::DimId;
using ops::Op;
using ops::OpKind;
using ops::ValueId;
using ops::ValueKind;
using program::CommunicationKind;
using program::Phase;

// --- values ------------------------------------------------------------------

Layout BodySharding::homeOf(ValueId id) const {
  const ops::Value &v = value(id);
  if (v.kind == ValueKind::Weight || v.kind == ValueKind::WeightGradient)
    return weights_[v.weight].layout;
  return homes_.layout(v.dims);
}

/// Indices have the home of the one-hot tensor they stand for.
DimId BodySharding::homeOnAxis(const Op &op, std::size_t operand,
                               AxisId axis) const {
  const ops::OperandUse &use = op.rules[0].operands[operand];
  ValueId id = op.operands[operand];
  if (!use.oneHot && value(id).kind != ValueKind::Given)
    return emission_.layout(relay_.made(id)).cut[axis.index()];
  ops::Dims dims;
  for (const ops::DimUse &each : use.dims)
    dims.push_back(each.dim);
  return homes_.home(dims, axis);
}

OperandState BodySharding::stateOf(const Op &op, std::size_t operand,
                                   AxisId axis) const {
  OperandState state;
  ValueId id = op.operands[operand];
  state.cut = homeOnAxis(op, operand, axis);
  if (value(id).kind == ValueKind::Given)
    return state;
  state.partial = emission_.layout(relay_.made(id)).partial[axis.index()];
  bool gradientOp =
      op.phase == Phase::InputGradient || op.phase == Phase::WeightGradient;
  state.linear =
      gradientOp && !op.again && value(id).kind == ValueKind::Gradient;
  return state;
}

MoveContext BodySharding::contextOf(const Op &op) const {
  MoveContext context;
  context.phase = op.phase;
  context.origin = op.origin;
  if (op.kind == OpKind::Attention)
    context.keys = value(op.operands[1]).dims[1];
  if (op.kind == OpKind::AttentionGrad)
    context.keys = value(op.operands[2]).dims[1];
  if (op.kind == OpKind::SinkGrad)
    context.keys = value(op.operands[0]).dims[1];
  return context;
}

// --- ports -------------------------------------------------------------------

void BodySharding::arrive(const std::vector<ops::Port> &ports,
                          std::vector<Port> &out) {
  for (const ops::Port &port : ports) {
    if (relay_.isDefined(port.value) ||
        value(port.value).kind == ValueKind::Given)
      continue;
    ShardedValueId id = emission_.add(port.value, homeOf(port.value));
    relay_.define(port.value, id);
    out.push_back({port.slot, id});
  }
}

void BodySharding::leave(const std::vector<ops::Port> &ports,
                         std::vector<Port> &out) {
  for (const ops::Port &port : ports) {
    if (!relay_.isDefined(port.value))
      continue;
    MoveContext context;
    context.phase =
        pass_ == &out_.forward ? Phase::Forward : Phase::InputGradient;
    context.origin = value(port.value).origin;
    Relay::Wanted home{homeOf(port.value),
                       std::vector<bool>(axisCount(), false)};
    out.push_back({port.slot, relay_.lay(port.value, home, context)});
  }
}

/// A given tensor is loaded in every laying some reader wants.
void BodySharding::addGivenPorts() {
  std::vector<Port> given;
  for (const ops::Port &port : body_.forward.inputs) {
    if (value(port.value).kind != ValueKind::Given)
      continue;
    for (ShardedValueId id : out_.values.ids())
      if (out_.values[id].source == port.value)
        given.push_back({port.slot, id});
  }
  out_.inputs.insert(out_.inputs.end(), given.begin(), given.end());
}

void BodySharding::findReaders() {
  onlyAdded_.assign(body_.forward.values.size(), false);
  readers_.assign(body_.forward.values.size(), {});
  std::vector<bool> readOtherwise(body_.forward.values.size(), false);
  for (const Op &op : body_.backward)
    for (ValueId operand : op.operands) {
      readers_[operand.index()].push_back(&op);
      (isContributions(op) ? onlyAdded_ : readOtherwise)[operand.index()] =
          true;
    }
  for (const ops::Port &port : body_.gradientOutputs)
    readOtherwise[port.value.index()] = true;
  for (std::size_t i = 0; i < onlyAdded_.size(); ++i)
    onlyAdded_[i] = onlyAdded_[i] && !readOtherwise[i];
}

bool BodySharding::isContributions(const Op &op) const {
  if (op.kind != OpKind::Add || op.again || op.phase == Phase::Forward ||
      op.phase == Phase::Recompute)
    return false;
  return std::all_of(op.operands.begin(), op.operands.end(), [&](ValueId id) {
    return value(id).kind == ValueKind::Gradient ||
           value(id).kind == ValueKind::WeightGradient;
  });
}

// --- passes ------------------------------------------------------------------

void BodySharding::forward() {
  pass_ = &out_.forward;
  emission_.into(*pass_);
  arrive(body_.forward.inputs, out_.inputs);
  for (std::uint32_t i = 0; i < body_.forward.forward.size(); ++i)
    run(body_.forward.forward[i], i);
  leave(body_.forward.outputs, out_.outputs);
}

void BodySharding::backward() {
  pass_ = &out_.backward;
  emission_.into(*pass_);
  relay_.beginBackward();
  gatheredParameters_.clear();
  arrive(body_.gradientInputs, out_.gradientInputs);
  for (std::uint32_t i = 0; i < body_.backward.size(); ++i)
    run(body_.backward[i], i);
  leave(body_.gradientOutputs, out_.gradientOutputs);
  for (const graph::Body::WeightGradient &gradient : body_.weightGradients)
    if (relay_.isDefined(gradient.value))
      out_.weightGradients.push_back(
          {gradient.weight, relay_.made(gradient.value), 0});
  addGivenPorts();
}

void BodySharding::findSaved() {
  std::vector<bool> ofForward(out_.values.size(), false);
  for (const Port &port : out_.inputs)
    ofForward[port.value.index()] = true;
  for (const Step &step : out_.forward)
    for (ShardedValueId id : step.results)
      ofForward[id.index()] = true;
  std::vector<bool> read(out_.values.size(), false);
  for (const Step &step : out_.backward)
    for (ShardedValueId id : step.operands)
      read[id.index()] = ofForward[id.index()];
  for (ShardedValueId id : out_.values.ids()) {
    ValueKind kind = emission_.source(id).kind;
    if (read[id.index()] && kind != ValueKind::Weight &&
        kind != ValueKind::Given)
      out_.saved.push_back(id);
  }
}

/// Before the first reader of one of them: all weights of the body that are cut
/// as one flat buffer over the same axes.
void BodySharding::gatherParameters(ValueId weight) {
  const std::vector<AxisId> &axes =
      weights_[value(weight).weight].parameterState;
  if (axes.empty() || homes_.plan().reshard == sema::Reshard::Never ||
      std::count(gatheredParameters_.begin(), gatheredParameters_.end(), axes))
    return;
  gatheredParameters_.push_back(axes);
  Step step;
  step.kind = StepKind::AllGather;
  step.phase = pass_ == &out_.forward ? Phase::Forward : Phase::InputGradient;
  setGroup(step, {StepKind::AllGather, axes, {}, {}, Members::All}, homes_);
  std::vector<ops::WeightId> done;
  std::int64_t elements = 0;
  for (ValueId id : body_.forward.values.ids()) {
    const ops::Value &v = value(id);
    if (v.kind != ValueKind::Weight ||
        weights_[v.weight].parameterState != axes)
      continue;
    if (!relay_.isDefined(id))
      relay_.define(id, emission_.add(id, homeOf(id)));
    step.results.push_back(relay_.made(id));
    if (!std::count(done.begin(), done.end(), v.weight))
      elements = checkedAdd(elements, weights_[v.weight].localElements)
                     .value_or(std::numeric_limits<std::int64_t>::max());
    done.push_back(v.weight);
  }
  step.bytes = bytesOf(elements, gatherFormat(graph_.options));
  step.communication = CommunicationKind::Parameters;
  step.name = body_.forward.name + " parameters";
  step.origin = body_.forward.origin;
  step.clause = homes_.plan().parameters.clause;
  emission_.push(std::move(step));
}

ShardedBody shardBody(const BodyRequest &request) {
  return BodySharding(request).run();
}

} // namespace planc::shard
