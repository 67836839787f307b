#include "tests/unit/shard/FlatGradient.h"
#include "tests/unit/shard/Interpreter.h"
#include "tests/unit/shard/Kernels.h"
#include "tests/unit/shard/Ranks.h"

#include <algorithm>
#include <cmath>

namespace planc::oracle {

using ops::ValueKind;
using shard::ShardedValueId;
using shard::Step;
using shard::StepKind;

namespace {

class Sharded {
public:
  Sharded(const shard::ShardedGraph &graph, const sema::Plan &plan,
          const Inputs &inputs, const Outcome &expected)
      : graph_(graph), source_(*graph.graph), inputs_(inputs),
        expected_(expected), splits_(source_, plan), runs_(runsOf(source_)) {}

  std::vector<std::string> run() {
    values_.resize(runs_.size());
    for (std::size_t r = 0; r < runs_.size(); ++r)
      forward(r);
    for (std::size_t r = runs_.size(); r-- > 0;)
      backward(r);
    for (auto &[parameter, gradient] : gradients_)
      bringHome(parameter, gradient);
    if (gradients_.size() != expected_.gradients.size())
      differ("number of weight gradients");
    return std::move(differences_);
  }

private:
  using Values = std::map<ShardedValueId, RankTensors>;

  const shard::ShardedBody &body(std::size_t run) const {
    return graph_.bodies[runs_[run].body];
  }
  const graph::Body &sourceBody(std::size_t run) const {
    return source_.bodies[runs_[run].body];
  }
  const ops::Value &sourceOf(std::size_t run, ShardedValueId id) const {
    return sourceBody(run).forward.values[body(run).values[id].source];
  }
  std::size_t ranks() const {
    return static_cast<std::size_t>(splits_.rankCount());
  }

  void differ(const std::string &what) {
    if (differences_.size() < 10)
      differences_.push_back(what);
  }

  RankTensors empty(std::size_t run, ShardedValueId id) const {
    RankTensors out;
    for (int rank = 0; rank < splits_.rankCount(); ++rank) {
      out.push_back(splits_.empty(sourceOf(run, id).dims,
                                  body(run).values[id].layout, rank));
      std::int64_t size = 1;
      for (std::int64_t each : body(run).values[id].sizes)
        size *= each;
      if (static_cast<std::int64_t>(out.back().size()) != size)
        complain(body(run).values[id].name + ": local sizes");
    }
    return out;
  }

  RankTensors cut(std::size_t run, ShardedValueId id,
                  const Tensor &whole) const {
    RankTensors out = empty(run, id);
    for (Tensor &part : out)
      cutFrom(whole, part);
    return out;
  }

  void compare(const Tensor &whole, const RankTensors &parts,
               const std::string &what) {
    for (Tensor part : parts)
      part.forEach([&](const std::vector<int> &at, double &value) {
        double wanted = whole.get(at);
        if (std::abs(value - wanted) > 1e-9 * (1 + std::abs(wanted)))
          differ(what);
      });
  }

  RankTensors &operand(std::size_t run, ShardedValueId id) {
    Values &values = values_[run];
    auto known = values.find(id);
    if (known != values.end())
      return known->second;
    const ops::Value &value = sourceOf(run, id);
    if (value.kind == ValueKind::Weight)
      return values[id] =
                 cut(run, id,
                     inputs_.weights.at(
                         {value.weight, runs_[run].instance.at(value.weight)}));
    if (value.kind == ValueKind::Given)
      return values[id] = cut(run, id, givenOf(run, id));
    complain(value.name + " is read before it is there");
    return values[id] = empty(run, id);
  }

  Tensor givenOf(std::size_t run, ShardedValueId id) const {
    const graph::Body &source = sourceBody(run);
    ops::ValueId value = body(run).values[id].source;
    for (const ops::Port &port : source.forward.inputs)
      if (port.value == value)
        return inputs_.given.at(port.slot);
    Tensor seed = splits_.empty(sourceOf(run, id).dims, wholeLayout(), 0);
    for (double &each : seed.data)
      each = 1.0 / static_cast<double>(seed.size());
    return seed;
  }

  shard::Layout wholeLayout() const {
    std::size_t axes = graph_.mesh.axes.size();
    return {std::vector<ops::DimId>(axes), std::vector<bool>(axes, false)};
  }

  void runStep(std::size_t run, const Step &step,
               const std::vector<ops::Op> &operators);
  void compute(std::size_t run, const Step &step, const ops::Op &op);
  bool reduceStatistic(std::size_t run, const Step &step);
  void forward(std::size_t run);
  void checkLoss(std::size_t run);
  void backward(std::size_t run);
  void collectGradients(std::size_t run);
  void bringHome(const Parameter &parameter,
                 std::vector<FlatGradient> &gradient);

  const shard::ShardedGraph &graph_;
  const graph::OpGraph &source_;
  const Inputs &inputs_;
  const Outcome &expected_;
  Splits splits_;
  std::vector<BodyRun> runs_;
  std::vector<Values> values_; ///< by run
  std::map<ops::SlotId, RankTensors> slots_, slotGradients_;
  std::map<Parameter, std::vector<FlatGradient>> gradients_; ///< by rank
  std::vector<std::string> differences_;
};

void Sharded::compute(std::size_t run, const Step &step, const ops::Op &op) {
  std::vector<RankTensors *> operands;
  for (ShardedValueId id : step.operands)
    operands.push_back(&operand(run, id));
  for (ShardedValueId id : step.results)
    values_[run][id] = empty(run, id);
  for (std::size_t rank = 0; rank < ranks(); ++rank) {
    KernelCall call;
    call.op = &op;
    call.seq = source_.model.seq;
    for (RankTensors *each : operands)
      call.operands.push_back(&(*each)[rank]);
    for (ShardedValueId id : step.results)
      call.results.push_back(&values_[run][id][rank]);
    runKernel(call);
  }
}

/// The loss's statistics: the largest logit, the sum of exponentials scaled to
/// it, and the loss from both and the target's logit.
bool Sharded::reduceStatistic(std::size_t run, const Step &step) {
  const Step *maker = nullptr;
  for (const Step &each : body(run).forward)
    if (each.kind == StepKind::Compute &&
        sourceBody(run).forward.forward[each.op].kind ==
            ops::OpKind::CrossEntropy)
      maker = &each;
  if (!maker || step.kind != StepKind::AllReduce)
    return false;
  auto found =
      std::find(maker->results.begin(), maker->results.end(), step.operands[0]);
  if (found == maker->results.end())
    return false;
  auto result = found - maker->results.begin();
  Values &values = values_[run];
  auto final = [&](std::size_t i) -> const RankTensors & {
    for (const Step &each : body(run).forward)
      if (each.kind == StepKind::AllReduce &&
          each.operands[0] == maker->results[i])
        return values.at(each.results[0]);
    complain("no statistic");
    return values.begin()->second;
  };
  const RankTensors &raw = values.at(step.operands[0]);
  const RankTensors &most = values.at(maker->results[1]);
  RankTensors out = empty(run, step.results[0]);
  for (std::size_t rank = 0; rank < ranks(); ++rank)
    for (std::size_t i = 0; i < out[rank].size(); ++i) {
      double value = result == 1 ? -1e300 : 0;
      for (int member : groupOf(step, static_cast<int>(rank))) {
        std::size_t m = static_cast<std::size_t>(member);
        if (result == 1)
          value = std::max(value, raw[m].data[i]);
        else if (result == 2)
          value +=
              raw[m].data[i] * std::exp(most[m].data[i] - final(1)[m].data[i]);
        else
          value += raw[m].data[i];
      }
      if (result == 0)
        value += std::log(final(2)[rank].data[i]) + final(1)[rank].data[i];
      out[rank].data[i] = value;
    }
  values[step.results[0]] = std::move(out);
  return true;
}

void Sharded::runStep(std::size_t run, const Step &step,
                      const std::vector<ops::Op> &operators) {
  if (step.kind == StepKind::Compute)
    return compute(run, step, operators[step.op]);
  if (step.operands.empty() || step.results.empty())
    return; // flat buffers: parameters are here, gradients are collected after
  if (reduceStatistic(run, step))
    return;
  RankTensors result = empty(run, step.results[0]);
  runCollective(step, operand(run, step.operands[0]), result);
  values_[run][step.results[0]] = std::move(result);
}

void Sharded::forward(std::size_t run) {
  for (const shard::Port &port : body(run).inputs)
    if (sourceOf(run, port.value).kind != ValueKind::Given)
      values_[run][port.value] = slots_.at(port.slot);
  for (const Step &step : body(run).forward)
    runStep(run, step, sourceBody(run).forward.forward);
  for (const shard::Port &port : body(run).outputs) {
    slots_[port.slot] = operand(run, port.value);
    compare(expected_.outputs[run].at(port.slot), slots_[port.slot],
            "slot " + source_.model.slots[port.slot].name + " after " +
                sourceBody(run).forward.name);
  }
  Values kept;
  for (ShardedValueId id : body(run).saved)
    kept[id] = operand(run, id);
  if (sourceBody(run).lossGradient.isValid())
    checkLoss(run);
  values_[run] = std::move(kept);
}

void Sharded::checkLoss(std::size_t run) {
  const RankTensors *last = nullptr;
  for (const auto &[id, parts] : values_[run])
    if (body(run).values[id].source == source_.model.loss &&
        body(run).values[id].layout.partial == wholeLayout().partial)
      last = &parts;
  std::map<std::vector<int>, double> tokens;
  for (std::size_t rank = 0; last && rank < ranks(); ++rank) {
    Tensor part = (*last)[rank];
    part.forEach(
        [&](const std::vector<int> &at, double &value) { tokens[at] = value; });
  }
  double sum = 0;
  for (const auto &[at, value] : tokens)
    sum += value;
  double loss = sum / static_cast<double>(tokens.size());
  if (!(std::abs(loss - expected_.loss) < 1e-9))
    differ("loss");
}

void Sharded::backward(std::size_t run) {
  for (const shard::Port &port : body(run).gradientInputs) {
    if (!slotGradients_.count(port.slot))
      slotGradients_[port.slot] = empty(run, port.value);
    values_[run][port.value] = slotGradients_.at(port.slot);
  }
  for (const Step &step : body(run).backward)
    runStep(run, step, sourceBody(run).backward);
  for (const shard::Port &port : body(run).gradientOutputs) {
    RankTensors gradient = operand(run, port.value);
    compare(expected_.gradientOutputs[run].at(port.slot), gradient,
            "gradient of slot " + source_.model.slots[port.slot].name +
                " before " + sourceBody(run).forward.name);
    const std::vector<ops::Port> &outputs = sourceBody(run).forward.outputs;
    bool carried =
        std::any_of(outputs.begin(), outputs.end(), [&](const ops::Port &out) {
          return out.slot == port.slot;
        });
    if (!carried && slotGradients_.count(port.slot))
      for (std::size_t rank = 0; rank < ranks(); ++rank)
        for (std::size_t i = 0; i < gradient[rank].size(); ++i)
          gradient[rank].data[i] += slotGradients_[port.slot][rank].data[i];
    slotGradients_[port.slot] = std::move(gradient);
  }
  collectGradients(run);
}

void Sharded::collectGradients(std::size_t run) {
  for (const shard::ShardedBody::WeightGradient &each :
       body(run).weightGradients) {
    std::vector<FlatGradient> parts;
    for (const Tensor &part : operand(run, each.value))
      parts.push_back(FlatGradient::of(part));
    for (const Step &step : body(run).backward)
      if (step.results.empty() &&
          std::count(step.operands.begin(), step.operands.end(), each.value))
        parts = scatterFlat(step, parts);
    std::vector<FlatGradient> &sum =
        gradients_[{each.weight, runs_[run].instance.at(each.weight)}];
    if (sum.empty())
      sum = parts;
    else
      for (std::size_t rank = 0; rank < ranks(); ++rank)
        sum[rank].add(parts[rank]);
  }
}

void Sharded::bringHome(const Parameter &parameter,
                        std::vector<FlatGradient> &gradient) {
  const ops::Weight &weight = source_.model.weights[parameter.first];
  const shard::WeightState &state = graph_.weights[parameter.first];
  shard::Layout layout = state.gradient;
  for (const Step &step : state.reduces) {
    if (step.kind == StepKind::AllReduce)
      gradient = reduceFlat(step, gradient);
    else if (step.kind == StepKind::AllGather)
      gradient = gatherFlat(step, gradient);
    else if (!step.to.isValid())
      gradient = scatterFlat(step, gradient);
    else {
      for (shard::AxisId axis : step.axes)
        layout.cut[axis.index()] = step.to;
      RankTensors homes;
      for (int rank = 0; rank < splits_.rankCount(); ++rank)
        homes.push_back(splits_.empty(weight.dims, layout, rank));
      gradient = scatterTo(step, gradient, homes);
    }
  }
  const Tensor &wanted = expected_.gradients.at(parameter);
  for (const FlatGradient &part : gradient)
    if (!part.equals(wanted))
      differ("gradient of " + weight.name);
  if (!coversEvery(gradient, state, graph_.mesh, splits_, weight.dims))
    differ("owners of " + weight.name);
}

} // namespace

std::vector<std::string> runSharded(const shard::ShardedGraph &graph,
                                    const sema::Plan &plan,
                                    const Inputs &inputs,
                                    const Outcome &expected) {
  return Sharded(graph, plan, inputs, expected).run();
}

} // namespace planc::oracle
