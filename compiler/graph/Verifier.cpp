#include "compiler/graph/OpGraph.h"
#include "compiler/ops/Roles.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace planc::graph {
namespace {

using ops::ValueId;
using ops::ValueKind;
using program::Phase;

bool sameSet(const ops::Dims &a, const ops::Dims &b) {
  return a.size() == b.size() &&
         std::is_permutation(a.begin(), a.end(), b.begin());
}

class BodyCheck {
public:
  BodyCheck(const OpGraph &graph, ops::BodyId id,
            std::vector<std::string> &broken)
      : graph_(graph), body_(graph.bodies[id]), broken_(broken) {}

  void run();

private:
  const ops::Value &value(ValueId id) const { return body_.forward.values[id]; }
  void fault(const char *rule, const std::string &text) {
    broken_.push_back(fmt::format("{} {}: {}", rule, body_.forward.name, text));
  }
  std::string text(const ops::Op &op) const {
    return fmt::format("{} {}", toString(op.kind), op.name);
  }

  bool idsAreKnown();                 // G1
  void checkNames();                  // G1
  void checkOrder();                  // G2
  void checkRules(const ops::Op &op); // G3, G4
  void checkUse(const ops::Op &op, const ops::ResultRule &rule,
                std::size_t operand);                   // G3, G4
  void checkKernels(const std::vector<ops::Op> &ops);   // G5
  void checkPorts(const std::vector<ops::Port> &ports); // G6
  void checkWeights();                                  // G6, G7
  void checkSaved();                                    // G8
  void checkPhases();                                   // G9

  const OpGraph &graph_;
  const Body &body_;
  std::vector<std::string> &broken_;
};

bool BodyCheck::idsAreKnown() {
  std::size_t before = broken_.size();
  const auto &values = body_.forward.values;
  auto check = [&](ValueId id, const std::string &where) {
    if (!values.contains(id))
      fault("G1", where + " names a value that does not exist");
  };
  auto checkAll = [&](const std::vector<ops::Op> &ops) {
    for (const ops::Op &op : ops) {
      if (op.results.empty())
        fault("G1", text(op) + " has no result");
      for (ValueId id : op.operands)
        check(id, text(op));
      for (ValueId id : op.results)
        check(id, text(op));
    }
  };
  checkAll(body_.forward.forward);
  checkAll(body_.backward);
  for (const auto *ports : {&body_.forward.inputs, &body_.forward.outputs,
                            &body_.gradientInputs, &body_.gradientOutputs})
    for (const ops::Port &port : *ports) {
      check(port.value, "a port");
      if (!graph_.model.slots.contains(port.slot))
        fault("G1", "a port names a slot that does not exist");
    }
  for (const Body::WeightGradient &gradient : body_.weightGradients)
    check(gradient.value, "a weight gradient");
  for (ValueId id : body_.saved)
    check(id, "saved");
  for (ValueId id : values.ids())
    if (value(id).kind == ValueKind::Weight &&
        !graph_.model.weights.contains(value(id).weight))
      fault("G1", value(id).name + " is of a weight that does not exist");
  return broken_.size() == before;
}

void BodyCheck::checkNames() {
  std::set<std::string> names;
  for (const ops::Value &known : body_.forward.values)
    if (!names.insert(known.name).second)
      fault("G1", fmt::format("two values are called `{}`", known.name));
}

void BodyCheck::checkOrder() {
  std::vector<bool> made(body_.forward.values.size(), false);
  for (ValueId id : body_.forward.values.ids())
    made[id.index()] = value(id).kind == ValueKind::Weight ||
                       value(id).kind == ValueKind::Given;
  for (const auto *ports : {&body_.forward.inputs, &body_.gradientInputs})
    for (const ops::Port &port : *ports)
      made[port.value.index()] = true;
  for (const auto *ops : {&body_.forward.forward, &body_.backward})
    for (const ops::Op &op : *ops) {
      for (ValueId id : op.operands)
        if (!made[id.index()])
          fault("G2", fmt::format("{} reads `{}` before it is made", text(op),
                                  value(id).name));
      for (ValueId id : op.results) {
        if (made[id.index()])
          fault("G2", fmt::format("`{}` is made twice", value(id).name));
        made[id.index()] = true;
      }
    }
  for (const auto *ports : {&body_.forward.outputs, &body_.gradientOutputs})
    for (const ops::Port &port : *ports)
      if (!made[port.value.index()])
        fault("G2", fmt::format("`{}` leaves the body and is never made",
                                value(port.value).name));
}

void BodyCheck::checkUse(const ops::Op &op, const ops::ResultRule &rule,
                         std::size_t operand) {
  const ops::OperandUse &use = rule.operands[operand];
  const ops::Dims &dims = value(op.operands[operand]).dims;
  std::size_t own = use.dims.size() - (use.oneHot && !use.dims.empty());
  bool same = own == dims.size();
  for (std::size_t i = 0; same && i < own; ++i)
    same = use.dims[i].dim == dims[i];
  if (!same)
    fault("G3", fmt::format("{} does not list the dimensions of `{}`", text(op),
                            value(op.operands[operand]).name));
  for (const ops::DimUse &dim : use.dims)
    if (dim.role == ops::Role::Map && !ops::contains(rule.dims, dim.as))
      fault("G4",
            fmt::format("{} maps a dimension its result lacks", text(op)));
}

void BodyCheck::checkRules(const ops::Op &op) {
  if (op.rules.size() != op.results.size()) {
    fault("G3", text(op) + " has not one rule a result");
    return;
  }
  for (std::size_t r = 0; r < op.rules.size(); ++r) {
    const ops::ResultRule &rule = op.rules[r];
    if (rule.operands.size() != op.operands.size()) {
      fault("G3", text(op) + " has not one use an operand");
      continue;
    }
    if (!sameSet(rule.dims, value(op.results[r]).dims))
      fault("G3", fmt::format("{} gives other dimensions than `{}` has",
                              text(op), value(op.results[r]).name));
    for (std::size_t i = 0; i < op.operands.size(); ++i)
      checkUse(op, rule, i);
    std::set<ops::DimId> found;
    bool gathers = false;
    for (const ops::OperandUse &use : rule.operands)
      for (const ops::DimUse &dim : use.dims) {
        gathers = gathers || dim.role == ops::Role::Gather;
        if (dim.role == ops::Role::Map)
          found.insert(dim.as);
      }
    for (ops::DimId dim : rule.dims)
      if (!found.count(dim) && !gathers && dim != rule.made)
        fault("G4", fmt::format("{} gives `{}` out of nothing", text(op),
                                fullName(graph_.model.dims[dim])));
  }
}

void BodyCheck::checkKernels(const std::vector<ops::Op> &ops) {
  std::set<ops::KernelId> closed;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const ops::Op &op = ops[i];
    if (!op.kernel.isValid())
      fault("G5", text(op) + " is in no kernel");
    if (i == 0 || ops[i - 1].kernel != op.kernel) {
      if (!closed.insert(op.kernel).second)
        fault("G5", text(op) + " stands apart from its kernel");
      continue;
    }
    bool elementwise = classOf(op.kind) == ops::OpClass::Elementwise &&
                       classOf(ops[i - 1].kind) == ops::OpClass::Elementwise &&
                       op.phase == ops[i - 1].phase;
    bool norm = op.phase == Phase::WeightGradient &&
                op.name == ops[i - 1].name &&
                classOf(op.kind) == ops::OpClass::Row;
    if (!elementwise && !norm)
      fault("G5", text(op) + " cannot share a kernel");
  }
}

void BodyCheck::checkPorts(const std::vector<ops::Port> &ports) {
  for (const ops::Port &port : ports)
    if (!sameSet(value(port.value).dims, graph_.model.slots[port.slot].dims))
      fault("G6", fmt::format("`{}` has other dimensions than `{}`",
                              value(port.value).name,
                              graph_.model.slots[port.slot].name));
}

void BodyCheck::checkWeights() {
  std::set<ops::WeightId> known;
  for (const Body::WeightGradient &gradient : body_.weightGradients) {
    const ops::Weight &weight = graph_.model.weights[gradient.weight];
    if (!known.insert(gradient.weight).second)
      fault("G7", weight.name + " has two gradients");
    if (!sameSet(weight.dims, value(gradient.value).dims))
      fault("G6", weight.name + " differs from its gradient in dimensions");
  }
  // Independently of how the backward was derived: what the received gradients
  // are reached from.
  std::vector<bool> reached(body_.forward.values.size(), false);
  for (const ops::Port &sent : body_.gradientInputs)
    for (const ops::Port &port : body_.forward.outputs)
      if (port.slot == sent.slot)
        reached[port.value.index()] = true;
  if (body_.lossGradient.isValid())
    reached[graph_.model.loss.index()] = true;
  const std::vector<ops::Op> &forward = body_.forward.forward;
  for (auto op = forward.rbegin(); op != forward.rend(); ++op)
    for (ValueId result : op->results)
      if (reached[result.index()])
        for (ValueId id : op->operands)
          reached[id.index()] = true;
  for (ValueId id : body_.forward.values.ids())
    if (reached[id.index()] && value(id).kind == ValueKind::Weight &&
        !known.count(value(id).weight))
      fault("G7", value(id).name + " reaches the loss and has no gradient");
}

void BodyCheck::checkSaved() {
  std::set<ValueId> forward, read;
  for (const ops::Port &port : body_.forward.inputs)
    forward.insert(port.value);
  for (const ops::Op &op : body_.forward.forward)
    forward.insert(op.results.begin(), op.results.end());
  for (const ops::Op &op : body_.backward)
    for (ValueId id : op.operands)
      if (forward.count(id) && value(id).kind != ValueKind::Given)
        read.insert(id);
  if (body_.saved != std::vector<ValueId>(read.begin(), read.end()))
    fault("G8", "`saved` is not what the backward reads of the forward");
}

void BodyCheck::checkPhases() {
  for (const ops::Op &op : body_.forward.forward)
    if (op.phase != Phase::Forward || op.again)
      fault("G9", text(op) + " is not of the forward");
  for (const ops::Op &op : body_.backward) {
    if (op.phase != Phase::InputGradient && op.phase != Phase::WeightGradient)
      fault("G9", text(op) + " is not of the backward");
    if (op.again && classOf(op.kind) != ops::OpClass::Elementwise)
      fault("G9", text(op) + " is done again and is not elementwise");
  }
}

void BodyCheck::run() {
  if (!idsAreKnown())
    return;
  checkNames();
  checkOrder();
  for (const auto *ops : {&body_.forward.forward, &body_.backward}) {
    for (const ops::Op &op : *ops)
      checkRules(op);
    checkKernels(*ops);
  }
  for (const auto *ports : {&body_.forward.inputs, &body_.forward.outputs,
                            &body_.gradientInputs, &body_.gradientOutputs})
    checkPorts(*ports);
  checkWeights();
  checkSaved();
  checkPhases();
}

} // namespace

std::vector<std::string> verify(const OpGraph &graph) {
  std::vector<std::string> broken;
  for (const ops::Segment &segment : graph.model.segments)
    for (ops::BodyId body : segment.iterations)
      if (!graph.bodies.contains(body)) {
        broken.push_back("G10 a segment names a body that does not exist");
        return broken;
      }
  for (ops::BodyId id : graph.bodies.ids())
    BodyCheck(graph, id, broken).run();
  if (graph.model.segments.empty() ||
      graph.model.segments.back().iterations.empty()) {
    broken.push_back("G10 the model has no body");
    return broken;
  }
  const Body &last =
      graph.bodies[graph.model.segments.back().iterations.back()];
  bool made = false;
  for (const ops::Op &op : last.forward.forward)
    for (ValueId result : op.results)
      made = made || result == graph.model.loss;
  if (!made)
    broken.push_back("G10 the last body does not make the loss");
  return broken;
}

} // namespace planc::graph
