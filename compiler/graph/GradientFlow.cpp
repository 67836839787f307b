#include "compiler/graph/GradientFlow.h"

namespace planc::graph {
namespace {

using ops::BodyId;

/// Statistics, the other results of an operator, have none.
bool carriesGradient(const ops::Value &value) {
  return value.kind == ops::ValueKind::Activation;
}

class Flow {
public:
  explicit Flow(const ops::Model &model) : model_(model) {
    flows_.resize(model.bodies.size());
    for (BodyId id : model.bodies.ids()) {
      flows_[id].wanted.resize(model.bodies[id].values.size(), false);
      flows_[id].outputs.resize(model.bodies[id].outputs.size(), false);
    }
    for (const ops::Segment &segment : model.segments)
      run_.insert(run_.end(), segment.iterations.begin(),
                  segment.iterations.end());
  }

  Table<BodyId, GradientFlow> find() {
    do {
      changed_ = false;
      std::vector<bool> slots(model_.slots.size(), false);
      for (BodyId id : run_)
        goForward(id, slots);
    } while (changed_);
    do {
      changed_ = false;
      std::vector<bool> slots(model_.slots.size(), false);
      for (auto id = run_.rbegin(); id != run_.rend(); ++id)
        goBackward(*id, slots);
    } while (changed_);
    return std::move(flows_);
  }

private:
  void set(std::vector<bool> &bits, std::size_t at) {
    changed_ = changed_ || !bits[at];
    bits[at] = true;
  }
  void goForward(BodyId id, std::vector<bool> &slots);
  void goBackward(BodyId id, std::vector<bool> &slots);

  const ops::Model &model_;
  Table<BodyId, GradientFlow> flows_;
  std::vector<BodyId> run_;
  bool changed_ = false;
};

void Flow::goForward(BodyId id, std::vector<bool> &slots) {
  const ops::Body &body = model_.bodies[id];
  std::vector<bool> &wanted = flows_[id].wanted;
  for (ops::ValueId value : body.values.ids())
    if (body.values[value].kind == ops::ValueKind::Weight &&
        !model_.weights[body.values[value].weight].isFrozen)
      set(wanted, value.index());
  for (const ops::Port &port : body.inputs)
    if (slots[port.slot.index()])
      set(wanted, port.value.index());
  for (const ops::Op &op : body.forward)
    for (ops::ValueId operand : op.operands)
      for (ops::ValueId result : op.results)
        if (wanted[operand.index()] && carriesGradient(body.values[result]))
          set(wanted, result.index());
  for (const ops::Port &port : body.outputs)
    slots[port.slot.index()] = wanted[port.value.index()];
}

void Flow::goBackward(BodyId id, std::vector<bool> &slots) {
  const ops::Body &body = model_.bodies[id];
  GradientFlow &flow = flows_[id];
  std::vector<bool> reached(body.values.size(), false);
  for (std::size_t i = 0; i < body.outputs.size(); ++i) {
    const ops::Port &port = body.outputs[i];
    if (slots[port.slot.index()] && flow.wanted[port.value.index()])
      set(flow.outputs, i);
    if (flow.outputs[i])
      reached[port.value.index()] = true;
    slots[port.slot.index()] = false;
  }
  if (id == run_.back() && model_.loss.isValid())
    reached[model_.loss.index()] = true;
  for (auto op = body.forward.rbegin(); op != body.forward.rend(); ++op)
    for (ops::ValueId result : op->results)
      if (reached[result.index()])
        for (ops::ValueId operand : op->operands)
          reached[operand.index()] = true;
  for (const ops::Port &port : body.inputs)
    if (reached[port.value.index()] && flow.wanted[port.value.index()])
      slots[port.slot.index()] = true;
}

} // namespace

Table<BodyId, GradientFlow> findGradientFlow(const ops::Model &model) {
  return Flow(model).find();
}

} // namespace planc::graph
