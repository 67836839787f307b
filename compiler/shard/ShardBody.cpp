#include "compiler/shard/ShardBody.h"

#include "compiler/ops/Roles.h"
#include "compiler/ops/Work.h"
#include "compiler/shard/ApplyRule.h"
#include "compiler/shard/Contributions.h"
#include "compiler/shard/Relay.h"
#include "runtime/base/Checked.h"

#include <algorithm>
#include <limits>

namespace planc::shard {
namespace {

using ops::DimId;
using ops::Op;
using ops::OpKind;
using ops::ValueId;
using ops::ValueKind;
using program::CommunicationKind;
using program::Phase;

class BodySharding {
public:
  explicit BodySharding(const BodyRequest &request)
      : graph_(*request.graph), body_(graph_.bodies[request.body]),
        homes_(*request.homes), weights_(*request.weights),
        emission_(body_.forward, homes_, out_),
        relay_(body_.forward, homes_, emission_) {}

  ShardedBody run() {
    findContributions();
    forward();
    backward();
    findSaved();
    return std::move(out_);
  }

private:
  const ops::Value &value(ValueId id) const { return body_.forward.values[id]; }
  std::size_t axisCount() const { return homes_.axisCount(); }

  void forward();
  void backward();
  void arrive(const std::vector<ops::Port> &ports, std::vector<Port> &out);
  void leave(const std::vector<ops::Port> &ports, std::vector<Port> &out);
  void addGivenPorts();
  void findContributions();
  void findSaved();

  void run(const Op &op, std::uint32_t index);
  void runContributions(const Op &op, std::uint32_t index);
  bool isContributions(const Op &op) const;
  void gatherParameters(ValueId weight);

  Layout homeOf(ValueId id) const;
  OperandState stateOf(const Op &op, std::size_t operand, AxisId axis) const;
  DimId homeOnAxis(const Op &op, std::size_t operand, AxisId axis) const;
  MoveContext contextOf(const Op &op) const;

  struct Plan {
    std::vector<Relay::Wanted> operands;
    std::vector<Layout> results; ///< as computed
    std::vector<AxisId> statistics;
  };
  Plan planOp(const Op &op) const;
  Step computeStep(const Op &op, std::uint32_t index,
                   std::vector<ShardedValueId> operands,
                   std::vector<ShardedValueId> results) const;
  void reduceStatistics(const Op &op, const std::vector<AxisId> &axes,
                        std::vector<ShardedValueId> &results);
  Layout restOf(ValueId id, const Layout &computed, const Plan &plan) const;

  const graph::OpGraph &graph_;
  const graph::Body &body_;
  const Homes &homes_;
  const Table<ops::WeightId, WeightState> &weights_;
  ShardedBody out_;
  Emission emission_;
  Relay relay_;
  std::vector<Step> *pass_ = nullptr;
  /// Values that only additions of contributions read: they stay partial.
  std::vector<bool> onlyAdded_;
  std::vector<std::vector<AxisId>> gatheredParameters_; ///< in this pass
};

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

void BodySharding::findContributions() {
  onlyAdded_.assign(body_.forward.values.size(), false);
  std::vector<bool> readOtherwise(body_.forward.values.size(), false);
  for (const Op &op : body_.backward)
    for (ValueId operand : op.operands)
      (isContributions(op) ? onlyAdded_ : readOtherwise)[operand.index()] =
          true;
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
  if (axes.empty() ||
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
  step.bytes = bytesOf(elements, graph_.options.compute);
  step.communication = CommunicationKind::Parameters;
  step.name = body_.forward.name + " parameters";
  step.origin = body_.forward.origin;
  step.clause = homes_.plan().parameters.clause;
  emission_.push(std::move(step));
}

// --- operators ---------------------------------------------------------------

BodySharding::Plan BodySharding::planOp(const Op &op) const {
  Plan plan;
  plan.operands.assign(op.operands.size(),
                       {homes_.whole(), std::vector<bool>(axisCount(), false)});
  plan.results.assign(op.results.size(), homes_.whole());
  for (AxisId axis : homes_.plan().mesh.axes.ids()) {
    if (homes_.size(axis) == 1)
      continue;
    RuleRequest request{&op, axis, {}, {}};
    for (std::size_t i = 0; i < op.operands.size(); ++i)
      request.operands.push_back(stateOf(op, i, axis));
    for (ValueId result : op.results)
      request.homes.push_back(homeOf(result).cut[axis.index()]);
    AxisChoice choice = applyRule(request, homes_);
    std::size_t a = axis.index();
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      const AxisChoice::Operand &operand = choice.operands[i];
      Relay::Wanted &wanted = plan.operands[i];
      if (ops::contains(value(op.operands[i]).dims, operand.cut))
        wanted.layout.cut[a] = operand.cut;
      wanted.layout.partial[a] = operand.partial;
      wanted.gathered[a] = operand.gathered;
    }
    for (std::size_t r = 0; r < op.results.size(); ++r) {
      plan.results[r].cut[a] = choice.results[r].cut;
      plan.results[r].partial[a] = choice.results[r].partial;
    }
    if (choice.statistics)
      plan.statistics.push_back(axis);
  }
  return plan;
}

Step BodySharding::computeStep(const Op &op, std::uint32_t index,
                               std::vector<ShardedValueId> operands,
                               std::vector<ShardedValueId> results) const {
  Step step;
  step.phase = op.phase;
  step.op = index;
  step.name = op.name;
  step.origin = op.origin;
  ops::WorkRequest request{&op, &graph_.model, {}, {}, {}};
  for (ShardedValueId id : operands) {
    request.shapes.operands.push_back(out_.values[id].sizes);
    request.operandPrecisions.push_back(emission_.source(id).precision);
  }
  for (ShardedValueId id : results) {
    request.shapes.results.push_back(out_.values[id].sizes);
    request.resultPrecisions.push_back(emission_.source(id).precision);
  }
  step.work = ops::workOf(request);
  step.operands = std::move(operands);
  step.results = std::move(results);
  return step;
}

/// One all-reduce a statistic; the loss itself, result 0, comes last.
void BodySharding::reduceStatistics(const Op &op,
                                    const std::vector<AxisId> &axes,
                                    std::vector<ShardedValueId> &results) {
  Move move{StepKind::AllReduce, axes, {}, {}, Members::All};
  for (std::size_t i = 0; i < results.size(); ++i) {
    std::size_t r = (i + 1) % results.size();
    results[r] = emission_.move(results[r], move, contextOf(op));
  }
}

/// Where a result stays until somebody reads it.
Layout BodySharding::restOf(ValueId id, const Layout &computed,
                            const Plan &plan) const {
  Layout rest = homeOf(id);
  ValueKind kind = value(id).kind;
  for (std::size_t a = 0; a < axisCount(); ++a) {
    bool isSum = computed.partial[a];
    bool staysSum = kind == ValueKind::WeightGradient ||
                    onlyAdded_[id.index()] || computed.cut[a].isValid();
    bool isStatistic = std::count(plan.statistics.begin(),
                                  plan.statistics.end(), AxisId(a)) > 0;
    if (isStatistic)
      rest.cut[a] = DimId();
    else if (isSum && staysSum) {
      rest.cut[a] = computed.cut[a];
      rest.partial[a] = true;
    } else if (kind == ValueKind::Statistic)
      rest.cut[a] = computed.cut[a];
  }
  return rest;
}

void BodySharding::run(const Op &op, std::uint32_t index) {
  for (ValueId operand : op.operands) {
    if (value(operand).kind == ValueKind::Weight)
      gatherParameters(operand);
    if (!relay_.isDefined(operand) && value(operand).kind != ValueKind::Given)
      relay_.define(operand, emission_.add(operand, homeOf(operand)));
  }
  if (isContributions(op)) {
    runContributions(op, index);
    return;
  }
  Plan plan = planOp(op);
  std::vector<ShardedValueId> operands, results;
  for (std::size_t i = 0; i < op.operands.size(); ++i)
    operands.push_back(
        relay_.lay(op.operands[i], plan.operands[i], contextOf(op)));
  for (std::size_t r = 0; r < op.results.size(); ++r)
    results.push_back(emission_.add(op.results[r], plan.results[r]));
  emission_.push(computeStep(op, index, operands, results));
  if (!plan.statistics.empty())
    reduceStatistics(op, plan.statistics, results);
  for (std::size_t r = 0; r < op.results.size(); ++r) {
    Layout rest = restOf(op.results[r], plan.results[r], plan);
    relay_.define(op.results[r],
                  emission_.moveAll(results[r], rest, contextOf(op)));
  }
}

void BodySharding::runContributions(const Op &op, std::uint32_t index) {
  ValueId result = op.results[0];
  Contributions contributions;
  for (ValueId operand : op.operands)
    contributions.values.push_back(relay_.made(operand));
  contributions.home = homeOf(result);
  bool stays = value(result).kind == ValueKind::WeightGradient ||
               onlyAdded_[result.index()];
  contributions.rest =
      stays ? Contributions::Rest::Partial : Contributions::Rest::AtHome;
  contributions.add = [&](const std::vector<ShardedValueId> &operands) {
    Op part = op;
    part.operands.resize(operands.size());
    for (ops::ResultRule &rule : part.rules)
      rule.operands.resize(operands.size());
    ShardedValueId sum = emission_.add(result, emission_.layout(operands[0]));
    emission_.push(computeStep(part, index, operands, {sum}));
    return sum;
  };
  std::vector<ShardedValueId> left =
      settle(contributions, emission_, contextOf(op));
  relay_.define(result, left.size() == 1 ? left[0] : contributions.add(left));
}

} // namespace

ShardedBody shardBody(const BodyRequest &request) {
  return BodySharding(request).run();
}

} // namespace planc::shard
