#include "compiler/ops/Roles.h"
#include "compiler/ops/Work.h"
#include "compiler/shard/BodySharding.h"
#include "compiler/shard/Contributions.h"

#include <algorithm>

namespace planc::shard {

using ops::DimId;
using ops::Op;
using ops::ValueId;
using ops::ValueKind;

/// The operands and results as the rule sees them on an axis. Where the axis
/// borrows heads for attention, they are seen as if at home on them.
RuleRequest BodySharding::requestFor(const Op &op, AxisId axis,
                                     Plan &plan) const {
  RuleRequest request{&op, axis, {}, {}};
  for (std::size_t i = 0; i < op.operands.size(); ++i)
    request.operands.push_back(stateOf(op, i, axis));
  for (ValueId result : op.results)
    request.homes.push_back(homeOf(result).cut[axis.index()]);
  bool isAttention = op.kind == ops::OpKind::Attention ||
                     op.kind == ops::OpKind::AttentionGrad ||
                     op.kind == ops::OpKind::SinkGrad;
  if (!isAttention || homes_.method(axis) != sema::ContextMethod::Ulysses)
    return request;
  plan.borrowed.push_back(axis);
  for (std::size_t i = 0; i < op.operands.size(); ++i)
    request.operands[i] = {homes_.borrowed(value(op.operands[i]).dims, axis),
                           false, false};
  for (std::size_t r = 0; r < op.results.size(); ++r)
    request.homes[r] = homes_.borrowed(value(op.results[r]).dims, axis);
  return request;
}

BodySharding::Plan BodySharding::planOp(const Op &op) const {
  Plan plan;
  plan.operands.assign(op.operands.size(),
                       {homes_.whole(), std::vector<bool>(axisCount(), false)});
  plan.results.assign(op.results.size(), homes_.whole());
  for (AxisId axis : homes_.plan().mesh.axes.ids()) {
    if (homes_.size(axis) == 1)
      continue;
    AxisChoice choice = applyRule(requestFor(op, axis, plan), homes_);
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
  ops::WorkRequest request;
  request.op = &op;
  request.model = &graph_.model;
  for (ShardedValueId id : operands)
    request.addOperand(emission_.source(id), out_.values[id].sizes);
  for (ShardedValueId id : results)
    request.addResult(emission_.source(id), out_.values[id].sizes);
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

/// On the axis nothing but this sum is left to do: `op` is linear in it, its
/// other operands and its results are whole.
bool BodySharding::carriesSum(const Op &op, ValueId sum, AxisId axis) const {
  if (isContributions(op) || op.again)
    return false;
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    ValueId id = op.operands[i];
    if (id == sum)
      continue;
    bool known = value(id).kind == ValueKind::Given || relay_.isDefined(id);
    if (!known || value(id).kind == ValueKind::Gradient ||
        homeOnAxis(op, i, axis).isValid())
      return false;
  }
  for (ValueId result : op.results)
    if (homeOf(result).cut[axis.index()].isValid() ||
        (value(result).kind != ValueKind::WeightGradient &&
         !mayStaySum(result, axis)))
      return false;
  return true;
}

/// A sum that goes nowhere but into the gradients of weights joins them as it
/// is.
bool BodySharding::mayStaySum(ValueId id, AxisId axis) const {
  const std::vector<const Op *> &readers = readers_[id.index()];
  for (const ops::Port &port : body_.gradientOutputs)
    if (port.value == id)
      return false;
  return value(id).kind == ValueKind::Gradient && !readers.empty() &&
         std::all_of(readers.begin(), readers.end(),
                     [&](const Op *op) { return carriesSum(*op, id, axis); });
}

/// Where a result stays until somebody reads it.
Layout BodySharding::restOf(ValueId id, const Layout &computed,
                            const Plan &plan) const {
  Layout rest = homeOf(id);
  ValueKind kind = value(id).kind;
  for (std::size_t a = 0; a < axisCount(); ++a) {
    if (std::count(plan.borrowed.begin(), plan.borrowed.end(), AxisId(a))) {
      // Given back at once, but for what nobody else reads.
      if (kind == ValueKind::Statistic)
        rest.cut[a] = computed.cut[a];
      continue;
    }
    bool isSum = computed.partial[a];
    bool staysSum = kind == ValueKind::WeightGradient ||
                    onlyAdded_[id.index()] || computed.cut[a].isValid() ||
                    (isSum && mayStaySum(id, AxisId(a)));
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
    // Attention's own backward wants its result as it was made.
    if (!plan.borrowed.empty() && relay_.made(op.results[r]) != results[r] &&
        std::count(plan.results[r].partial.begin(),
                   plan.results[r].partial.end(), true) == 0)
      relay_.remember(op.results[r], results[r]);
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

} // namespace planc::shard
