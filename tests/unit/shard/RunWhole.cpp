#include "tests/unit/shard/Interpreter.h"
#include "tests/unit/shard/Kernels.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <random>

namespace planc::oracle {

using ops::ValueId;
using ops::ValueKind;

std::vector<BodyRun> runsOf(const graph::OpGraph &graph) {
  std::vector<BodyRun> runs;
  for (const ops::Segment &segment : graph.model.segments)
    for (std::size_t i = 0; i < segment.iterations.size(); ++i) {
      BodyRun run{segment.iterations[i], {}};
      for (const ops::Value &value : graph.bodies[run.body].forward.values)
        if (value.kind == ValueKind::Weight)
          run.instance[value.weight] =
              graph.model.weights[value.weight].instances > 1
                  ? static_cast<std::int64_t>(i)
                  : 0;
      runs.push_back(std::move(run));
    }
  return runs;
}

namespace {

Tensor wholeTensor(const graph::OpGraph &graph, const ops::Dims &dims) {
  std::vector<int> sizes;
  std::vector<Places> places;
  for (ops::DimId dim : dims) {
    sizes.push_back(static_cast<int>(graph.model.dims[dim].size));
    Places all(static_cast<std::size_t>(sizes.back()));
    std::iota(all.begin(), all.end(), 0);
    places.push_back(std::move(all));
  }
  return Tensor::zeros(dims, sizes, places);
}

/// How many rows the table has that a given slot is looked up in; 0: none.
std::int64_t classesOf(const graph::OpGraph &graph, ops::SlotId slot) {
  for (const graph::Body &body : graph.bodies)
    for (const ops::Port &port : body.forward.inputs)
      for (const ops::Op &op : body.forward.forward)
        for (std::size_t i = 0; i < op.operands.size(); ++i)
          if (port.slot == slot && op.operands[i] == port.value &&
              op.rules[0].operands[i].oneHot)
            return graph.model.dims[op.rules[0].operands[i].dims.back().dim]
                .size;
  return 0;
}

} // namespace

Inputs randomInputs(const graph::OpGraph &graph, std::uint32_t seed) {
  std::mt19937 random(seed);
  auto uniform = [&] {
    return static_cast<double>(random() % 20001) / 10000.0 - 1.0;
  };
  Inputs inputs;
  for (ops::WeightId id : graph.model.weights.ids())
    for (std::int64_t i = 0; i < graph.model.weights[id].instances; ++i) {
      Tensor t = wholeTensor(graph, graph.model.weights[id].dims);
      for (double &each : t.data)
        each = uniform() * (t.dims.size() == 1 ? 1.0 : 0.7);
      inputs.weights[{id, i}] = std::move(t);
    }
  for (ops::SlotId id : graph.model.slots.ids()) {
    if (!graph.model.slots[id].given)
      continue;
    Tensor t = wholeTensor(graph, graph.model.slots[id].dims);
    std::int64_t classes = classesOf(graph, id);
    for (double &each : t.data)
      each = classes ? static_cast<double>(random() %
                                           static_cast<std::uint32_t>(classes))
                     : uniform();
    inputs.given[id] = std::move(t);
  }
  return inputs;
}

namespace {

class Whole {
public:
  Whole(const graph::OpGraph &graph, const Inputs &inputs)
      : graph_(graph), inputs_(inputs), runs_(runsOf(graph)) {}

  Outcome run(Passes passes) {
    for (std::size_t r = 0; r < runs_.size(); ++r)
      forward(r);
    outcome_.gradientOutputs.resize(runs_.size());
    if (passes == Passes::Both)
      for (std::size_t r = runs_.size(); r-- > 0;)
        backward(r);
    return std::move(outcome_);
  }

private:
  using Values = std::vector<std::optional<Tensor>>; ///< by value

  const graph::Body &bodyOf(std::size_t run) const {
    return graph_.bodies[runs_[run].body];
  }

  void compute(std::size_t run, const ops::Op &op) {
    const ops::Body &body = bodyOf(run).forward;
    Values &values = values_[run];
    KernelCall call;
    call.op = &op;
    call.seq = graph_.model.seq;
    for (ValueId id : op.operands) {
      if (body.values[id].kind == ValueKind::Weight)
        values[id.index()] = inputs_.weights.at(
            {body.values[id].weight,
             runs_[run].instance.at(body.values[id].weight)});
      if (!values[id.index()]) {
        complain(op.name + " reads " + body.values[id].name + " unset");
        values[id.index()] = wholeTensor(graph_, body.values[id].dims);
      }
      call.operands.push_back(&*values[id.index()]);
    }
    for (ValueId id : op.results)
      values[id.index()] = wholeTensor(graph_, body.values[id].dims);
    for (ValueId id : op.results)
      call.results.push_back(&*values[id.index()]);
    runKernel(call);
  }

  void forward(std::size_t run) {
    const graph::Body &body = bodyOf(run);
    values_.emplace_back(body.forward.values.size());
    Values &values = values_[run];
    for (const ops::Port &port : body.forward.inputs)
      values[port.value.index()] = graph_.model.slots[port.slot].given
                                       ? inputs_.given.at(port.slot)
                                       : slots_.at(port.slot);
    for (const ops::Op &op : body.forward.forward)
      compute(run, op);
    outcome_.outputs.emplace_back();
    for (const ops::Port &port : body.forward.outputs) {
      slots_[port.slot] = *values[port.value.index()];
      outcome_.outputs[run][port.slot] = *values[port.value.index()];
    }
    if (body.lossGradient.isValid())
      finishLoss(run);
  }

  void finishLoss(std::size_t run) {
    const Tensor &loss = *values_[run][graph_.model.loss.index()];
    Tensor seed = loss;
    for (double each : loss.data)
      outcome_.loss += each / static_cast<double>(loss.size());
    for (double &each : seed.data)
      each = 1.0 / static_cast<double>(loss.size());
    values_[run][bodyOf(run).lossGradient.index()] = std::move(seed);
  }

  void backward(std::size_t run) {
    const graph::Body &body = bodyOf(run);
    Values &values = values_[run];
    for (const ops::Port &port : body.gradientInputs) {
      if (!slotGradients_.count(port.slot))
        slotGradients_[port.slot] =
            wholeTensor(graph_, graph_.model.slots[port.slot].dims);
      values[port.value.index()] = slotGradients_.at(port.slot);
    }
    for (const ops::Op &op : body.backward)
      compute(run, op);
    for (const ops::Port &port : body.gradientOutputs) {
      Tensor gradient = *values[port.value.index()];
      outcome_.gradientOutputs[run][port.slot] = gradient;
      bool carried = std::any_of(
          body.forward.outputs.begin(), body.forward.outputs.end(),
          [&](const ops::Port &out) { return out.slot == port.slot; });
      if (!carried && slotGradients_.count(port.slot))
        for (std::size_t i = 0; i < gradient.size(); ++i)
          gradient.data[i] += slotGradients_[port.slot].data[i];
      slotGradients_[port.slot] = std::move(gradient);
    }
    for (const graph::Body::WeightGradient &each : body.weightGradients)
      accumulate({each.weight, runs_[run].instance.at(each.weight)},
                 *values[each.value.index()]);
  }

  void accumulate(const Parameter &parameter, const Tensor &gradient) {
    auto [at, isNew] = outcome_.gradients.emplace(parameter, gradient);
    for (std::size_t i = 0; i < gradient.size() && !isNew; ++i)
      at->second.data[i] += gradient.data[i];
  }

  const graph::OpGraph &graph_;
  const Inputs &inputs_;
  std::vector<BodyRun> runs_;
  std::vector<Values> values_; ///< by run
  std::map<ops::SlotId, Tensor> slots_, slotGradients_;
  Outcome outcome_;
};

} // namespace

Outcome runWhole(const graph::OpGraph &graph, const Inputs &inputs,
                 Passes passes) {
  return Whole(graph, inputs).run(passes);
}

} // namespace planc::oracle
