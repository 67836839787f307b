#include "compiler/shard/Moves.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace planc::shard {
namespace {

using ops::DimId;
using ops::Role;
using ops::ValueKind;

/// Splitting as the graph itself shows it: the verifier does not ask the plan.
class Verifier {
public:
  explicit Verifier(const ShardedGraph &graph) : graph_(graph) {}

  std::vector<std::string> run() {
    for (ops::BodyId id : graph_.bodies.ids()) {
      body_ = &graph_.bodies[id];
      source_ = &graph_.graph->bodies[id];
      where_ = source_->forward.name;
      checkValues();
      checkPass(body_->forward, Pass::Forward);
      checkPass(body_->backward, Pass::Backward);
      checkPorts(body_->inputs);
      checkPorts(body_->outputs);
      checkPorts(body_->gradientInputs);
      checkPorts(body_->gradientOutputs);
      checkSaved();
      checkGradients();
    }
    return std::move(broken_);
  }

private:
  enum class Pass { Forward, Backward };

  void fail(const char *rule, std::string text) {
    broken_.push_back(fmt::format("{}: {}: {}", rule, where_, text));
  }

  const ops::Value &sourceOf(ShardedValueId id) const {
    return source_->forward.values[body_->values[id].source];
  }
  const Layout &layout(ShardedValueId id) const {
    return body_->values[id].layout;
  }
  std::size_t axisCount() const { return graph_.mesh.axes.size(); }

  void checkValues();
  std::int64_t sizeOf(DimId dim, const ShardedValue &value, std::size_t d);
  void checkPass(const std::vector<Step> &steps, Pass pass);
  void checkGroup(const Step &step);
  void checkCollective(const Step &step);
  bool changesAsSaid(const Step &step, const Layout &before,
                     const Layout &after, std::size_t axis) const;
  void checkCompute(const Step &step, Pass pass);
  void checkOperator(const Step &step, const ops::Op &op, std::size_t result,
                     std::size_t axis);
  void checkPorts(const std::vector<Port> &ports);
  void checkSaved();
  void checkGradients();

  const ShardedGraph &graph_;
  const ShardedBody *body_ = nullptr;
  const graph::Body *source_ = nullptr;
  std::string where_;
  /// Local sizes seen, by dimension and the axes that cut it.
  std::map<std::pair<DimId, std::vector<std::size_t>>, std::int64_t> sizes_;
  std::vector<std::string> broken_;
};

/// The size that a dimension had before when the same axes cut it.
std::int64_t Verifier::sizeOf(DimId dim, const ShardedValue &value,
                              std::size_t d) {
  std::vector<std::size_t> axes;
  for (std::size_t a = 0; a < axisCount(); ++a)
    if (value.layout.cut[a] == dim)
      axes.push_back(a);
  const ops::Dims &dims = source_->forward.values[value.source].dims;
  auto first = std::find(dims.begin(), dims.end(), dim);
  if (first - dims.begin() != static_cast<std::ptrdiff_t>(d))
    return value.sizes[d];
  return sizes_.emplace(std::pair(dim, axes), value.sizes[d]).first->second;
}

void Verifier::checkValues() {
  for (ShardedValueId id : body_->values.ids()) {
    const ShardedValue &value = body_->values[id];
    const ops::Dims &dims = sourceOf(id).dims;
    bool sound = value.sizes.size() == dims.size();
    for (std::size_t d = 0; sound && d < dims.size(); ++d) {
      bool isCut = std::find(value.layout.cut.begin(), value.layout.cut.end(),
                             dims[d]) != value.layout.cut.end();
      std::int64_t whole = graph_.graph->model.dims[dims[d]].size;
      sound = value.sizes[d] > 0 && whole % value.sizes[d] == 0 &&
              (isCut || value.sizes[d] == whole) &&
              value.sizes[d] == sizeOf(dims[d], value, d);
    }
    for (DimId cut : value.layout.cut)
      sound = sound && (!cut.isValid() ||
                        std::find(dims.begin(), dims.end(), cut) != dims.end());
    if (!sound)
      fail("H2", fmt::format("%{} {}", id.index(), value.name));
  }
}

void Verifier::checkPass(const std::vector<Step> &steps, Pass pass) {
  std::vector<bool> known(body_->values.size(), false);
  auto learn = [&](const std::vector<Port> &ports) {
    for (const Port &port : ports)
      known[port.value.index()] = true;
  };
  learn(pass == Pass::Forward ? body_->inputs : body_->gradientInputs);
  if (pass == Pass::Backward)
    for (ShardedValueId id : body_->saved)
      known[id.index()] = true;
  for (const Step &step : steps) {
    for (ShardedValueId id : step.operands) {
      ValueKind kind = sourceOf(id).kind;
      if (!known[id.index()] && kind != ValueKind::Weight &&
          kind != ValueKind::Given)
        fail("H1", fmt::format("{} reads %{}", step.name, id.index()));
    }
    for (ShardedValueId id : step.results)
      known[id.index()] = true;
    if (step.kind == StepKind::Compute) {
      checkCompute(step, pass);
      continue;
    }
    checkGroup(step);
    if (!step.operands.empty() && !step.results.empty())
      checkCollective(step);
  }
}

void Verifier::checkGroup(const Step &step) {
  bool sound = !step.axes.empty() && step.sizes.size() == step.axes.size() &&
               step.strides.size() == step.axes.size() &&
               std::is_sorted(step.axes.begin(), step.axes.end());
  for (std::size_t i = 0; sound && i < step.axes.size(); ++i) {
    std::int64_t size = graph_.mesh.axes[step.axes[i]].size;
    sound = size > 1 && step.sizes[i] >= 1 && size % step.sizes[i] == 0 &&
            (i == 0 || step.axes[i - 1] != step.axes[i]);
  }
  if (!sound)
    fail("H9", step.name);
}

bool Verifier::changesAsSaid(const Step &step, const Layout &before,
                             const Layout &after, std::size_t axis) const {
  DimId cut = before.cut[axis], then = after.cut[axis];
  bool sum = before.partial[axis], left = after.partial[axis];
  switch (step.kind) {
  case StepKind::AllReduce:
    return sum && !left && (cut == then || then == step.to);
  case StepKind::AllGather:
    return !sum && !left && cut == step.from && cut.isValid() &&
           !then.isValid();
  case StepKind::ReduceScatter:
    return sum && !cut.isValid() && then == step.to && then.isValid();
  case StepKind::AllToAll:
    return !sum && !left && cut.isValid() && then.isValid() && cut != then &&
           (!step.from.isValid() || cut == step.from) &&
           (!step.to.isValid() || then == step.to);
  case StepKind::Slice:
    return !sum && !left && cut == step.from && then == step.to;
  case StepKind::Compute:
    break;
  }
  return false;
}

void Verifier::checkCollective(const Step &step) {
  if (step.operands.size() != 1 || step.results.size() != 1)
    return;
  ShardedValueId from = step.operands[0], to = step.results[0];
  const Layout &before = layout(from), &after = layout(to);
  bool sound = body_->values[from].source == body_->values[to].source;
  for (std::size_t a = 0; a < axisCount(); ++a) {
    bool member = std::count(step.axes.begin(), step.axes.end(), AxisId(a)) > 0;
    bool same =
        before.cut[a] == after.cut[a] && before.partial[a] == after.partial[a];
    sound = sound && (member ? changesAsSaid(step, before, after, a) : same);
  }
  if (!sound)
    fail("H3",
         fmt::format("{} %{} to %{}", step.name, from.index(), to.index()));
  if (step.kind == StepKind::Slice) {
    // What is not cut cannot grow without its other parts.
    if (body_->values[from].sizes != body_->values[to].sizes &&
        step.from.isValid())
      fail("H3", fmt::format("{} of a cut value", step.name));
    return;
  }
  if (step.bytes != groupBytes(step.kind, sourceOf(from),
                               body_->values[from].sizes,
                               body_->values[to].sizes))
    fail("H4", fmt::format("{}: {} bytes", step.name, step.bytes.value));
}

void Verifier::checkCompute(const Step &step, Pass pass) {
  const std::vector<ops::Op> &all =
      pass == Pass::Forward ? source_->forward.forward : source_->backward;
  if (step.op >= all.size()) {
    fail("H5", fmt::format("{}: no operator {}", step.name, step.op));
    return;
  }
  const ops::Op &op = all[step.op];
  bool inParts =
      op.kind == ops::OpKind::Add && step.operands.size() < op.operands.size();
  if (step.results.size() != op.results.size() ||
      (!inParts && step.operands.size() != op.operands.size())) {
    fail("H5", fmt::format("{}: operands or results", step.name));
    return;
  }
  for (std::size_t r = 0; r < op.rules.size(); ++r)
    for (std::size_t a = 0; a < axisCount(); ++a)
      if (graph_.mesh.axes[AxisId(a)].size > 1)
        checkOperator(step, op, r, a);
}

void Verifier::checkOperator(const Step &step, const ops::Op &op,
                             std::size_t result, std::size_t axis) {
  const ops::ResultRule &rule = op.rules[result];
  const Layout &out = layout(step.results[result]);
  auto complain = [&](std::size_t operand, const char *what) {
    fail("H5", fmt::format("{} over {}: operand {} {}", step.name,
                           graph_.mesh.axes[AxisId(axis)].name, operand, what));
  };
  auto cutOf = [&](std::size_t i) {
    return layout(step.operands[i]).cut[axis];
  };
  auto contractsWhole = [&](DimId dim) {
    for (std::size_t i = 0; i < step.operands.size(); ++i)
      for (const ops::DimUse &use : rule.operands[i].dims)
        if (use.dim == dim && use.role == Role::Contract && cutOf(i) != dim &&
            !rule.operands[i].oneHot)
          return true;
    return false;
  };
  bool mapsCut = false, oneHot = false;
  for (std::size_t i = 0; i < step.operands.size(); ++i) {
    const ops::OperandUse &uses = rule.operands[i];
    oneHot = oneHot || uses.oneHot;
    if (layout(step.operands[i]).partial[axis] && !out.partial[axis])
      complain(i, "is a sum still to be taken, the result is not");
    if (!cutOf(i).isValid())
      continue;
    auto use = std::find_if(
        uses.dims.begin(), uses.dims.end(),
        [&](const ops::DimUse &each) { return each.dim == cutOf(i); });
    if (use == uses.dims.end() || use->role == Role::Gather)
      complain(i, "is cut where it is needed whole");
    else if (use->role == Role::Contract &&
             (contractsWhole(use->dim) || !out.partial[axis]))
      complain(i, "is cut where it is summed, and the sum is not partial");
    else if (use->role == Role::Map && out.cut[axis] != use->as)
      complain(i, "is cut otherwise than the result");
    mapsCut = mapsCut || (use != uses.dims.end() && use->role == Role::Map);
  }
  if (out.cut[axis].isValid() && !mapsCut && !oneHot)
    complain(0, "is whole where the result is cut");
}

void Verifier::checkPorts(const std::vector<Port> &ports) {
  for (const Port &port : ports) {
    if (sourceOf(port.value).kind == ValueKind::Given)
      continue;
    if (layout(port.value) != graph_.slots[port.slot])
      fail("H6", fmt::format("slot {} in %{}",
                             graph_.graph->model.slots[port.slot].name,
                             port.value.index()));
  }
}

void Verifier::checkSaved() {
  std::vector<bool> made(body_->values.size(), false);
  for (const Port &port : body_->inputs)
    made[port.value.index()] = true;
  for (const Step &step : body_->forward)
    for (ShardedValueId id : step.results)
      made[id.index()] = step.kind != StepKind::AllGather;
  for (ShardedValueId id : body_->saved)
    if (!made[id.index()] || sourceOf(id).kind == ValueKind::Weight ||
        sourceOf(id).kind == ValueKind::Given)
      fail("H7", fmt::format("%{} {}", id.index(), body_->values[id].name));
}

void Verifier::checkGradients() {
  for (const ShardedBody::WeightGradient &gradient : body_->weightGradients) {
    const WeightState &state = graph_.weights[gradient.weight];
    bool sound = layout(gradient.value) == state.gradient &&
                 gradient.step < body_->backward.size();
    for (std::size_t a = 0; a < axisCount(); ++a) {
      bool listed =
          std::count(state.partial.begin(), state.partial.end(), AxisId(a)) > 0;
      sound = sound && listed == state.gradient.partial[a];
    }
    if (!sound)
      fail("H8", graph_.graph->model.weights[gradient.weight].name);
  }
}

} // namespace

std::vector<std::string> verify(const ShardedGraph &graph) {
  return Verifier(graph).run();
}

} // namespace planc::shard
