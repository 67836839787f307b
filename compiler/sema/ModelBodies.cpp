// Bodies, the slots between them, and repeats.
#include "compiler/sema/ModelBuilder.h"

#include "compiler/diag/Kinds.h"

#include <fmt/core.h>

#include <algorithm>

namespace planc::sema {

using diag::Kind;

// --- bodies and values -------------------------------------------------------

ModelBuilder::OpenBody &ModelBuilder::current() {
  if (!current_) {
    // A stretch outside any repeat is a segment of one body.
    current_ = openBody();
    OpenSegment open;
    open.segment.origin = origin_;
    open.serials.push_back(*current_);
    segments_.push_back(std::move(open));
  }
  return bodies_[*current_];
}

std::uint32_t ModelBuilder::openBody() {
  auto serial = static_cast<std::uint32_t>(bodies_.size());
  bodies_.emplace_back();
  bodies_.back().body.origin = origin_;
  bodies_.back().sameAs = serial;
  return serial;
}

void ModelBuilder::closeStretch() {
  if (!inIteration_)
    current_.reset();
}

ops::ValueId ModelBuilder::addValue(std::string name, ops::Value value) {
  OpenBody &body = current();
  std::string unique = name;
  for (int copy = 2; !body.valueNames.insert(unique).second; ++copy)
    unique = fmt::format("{}_{}", name, copy);
  value.name = std::move(unique);
  return body.body.values.add(std::move(value));
}

const ops::Dims &ModelBuilder::dimsOf(const Tensor &tensor) const {
  return tensor.weight.isValid()
             ? model_.weights[tensor.weight].dims
             : bodies_[tensor.body].body.values[tensor.value].dims;
}

void ModelBuilder::write(std::uint32_t body, ops::SlotId slot,
                         ops::ValueId value) {
  lastWriter_[slot] = std::max(lastWriter_[slot], body);
  std::vector<ops::Port> &ports = bodies_[body].body.outputs;
  auto at = std::find_if(ports.begin(), ports.end(),
                         [&](const ops::Port &p) { return p.slot == slot; });
  if (at == ports.end())
    ports.push_back({slot, value});
  else
    at->value = value;
}

ops::ValueId ModelBuilder::inputOf(ops::SlotId slot) {
  OpenBody &body = current();
  if (auto at = body.slotInputs.find(slot); at != body.slotInputs.end())
    return at->second;
  const ops::Slot &of = model_.slots[slot];
  ops::Value value;
  value.dims = of.dims;
  value.kind = of.given ? ops::ValueKind::Given : ops::ValueKind::Activation;
  value.origin = origin_;
  ops::ValueId id = addValue(of.name, std::move(value));
  body.named.insert(id);
  body.slotInputs[slot] = id;
  body.body.inputs.push_back({slot, id});
  return id;
}

/// In an iteration what the last one left is read; outside, what was defined,
/// which needs no body before an operator reads it.
Tensor ModelBuilder::read(Variable &variable) {
  Tensor &tensor = variable.current;
  bool isHere = current_ && tensor.body == *current_;
  if (tensor.weight.isValid() || isHere || !inIteration_)
    return tensor;
  if (!variable.slot.isValid())
    variable.slot =
        model_.slots.add({variable.slotName, dimsOf(tensor), false});
  write(tensor.body, variable.slot, tensor.value);
  ops::ValueId here = inputOf(variable.slot);
  return {*current_, here, {}};
}

/// A slot that still holds a value of another body.
ops::SlotId ModelBuilder::slotOf(const Tensor &tensor) {
  const ops::Body &from = bodies_[tensor.body].body;
  for (const ops::Port &port : from.outputs)
    if (port.value == tensor.value && lastWriter_[port.slot] == tensor.body)
      return port.slot;
  for (const ops::Port &port : from.inputs)
    if (port.value == tensor.value &&
        (model_.slots[port.slot].given || lastWriter_[port.slot] < tensor.body))
      return port.slot;
  const ops::Value &value = from.values[tensor.value];
  ops::SlotId slot = model_.slots.add({value.name, value.dims, false});
  write(tensor.body, slot, tensor.value);
  return slot;
}

/// The tensor as a value of the current body.
ops::ValueId ModelBuilder::use(const Tensor &tensor) {
  OpenBody &body = current();
  if (tensor.weight.isValid()) {
    auto at = body.weightValues.find(tensor.weight);
    if (at != body.weightValues.end())
      return at->second;
    const ops::Weight &weight = model_.weights[tensor.weight];
    ops::Value value;
    value.dims = weight.dims;
    value.kind = ops::ValueKind::Weight;
    value.weight = tensor.weight;
    value.origin = weight.origin;
    ops::ValueId id = addValue(weight.name, std::move(value));
    bodies_[*current_].weightValues[tensor.weight] = id;
    return id;
  }
  if (tensor.body == *current_)
    return tensor.value;
  if (bodies_[tensor.body].body.values[tensor.value].route.isRouted())
    reportCarried(tensor);
  return inputOf(slotOf(tensor));
}

ModelBuilder::Variable *ModelBuilder::findVariable(std::string_view name,
                                                   bool *crossesIteration) {
  for (Scope *at = scope_; at; at = at->parent) {
    if (auto found = at->variables.find(name); found != at->variables.end())
      return &found->second;
    if (crossesIteration && at->isIteration)
      *crossesIteration = true;
  }
  return nullptr;
}

std::optional<Value> ModelBuilder::findTensor(std::string_view name) {
  if (Variable *variable = findVariable(name, nullptr))
    return variable->current.isSet() ? Value(read(*variable)) : Value();
  if (const WeightEntry *weight = findWeight(name))
    return weight->id.isValid() ? Value(Tensor{0, {}, weight->id}) : Value();
  if (auto at = given_.find(name); at != given_.end()) {
    ops::ValueId value = inputOf(at->second);
    return Value(Tensor{*current_, value, {}});
  }
  return std::nullopt;
}

void ModelBuilder::addNames(std::vector<std::string_view> &names) const {
  for (const Scope *at = scope_; at; at = at->parent) {
    for (const auto &[name, variable] : at->variables)
      names.push_back(name);
    for (const auto &[name, weight] : at->weights)
      names.push_back(name);
  }
  for (const auto &[name, slot] : given_)
    names.push_back(name);
}

// --- repeats -----------------------------------------------------------------

void ModelBuilder::runRepeat(const ast::RepeatStatement &statement) {
  auto count = evaluator().integer(*statement.count, "a repeat");
  if (!count)
    return;
  if (*count < 0 || *count > kMaxIterations) {
    elaboration_.emitter().report(
        statement.count->span, Kind::TooManyIterations,
        "a repeat of {} iterations; 0 to {} are allowed", *count,
        kMaxIterations);
    return;
  }
  std::string path = join(std::string(statement.name.text));
  auto [at, isNew] = repeats_.emplace(path, statement.name.span);
  if (!isNew && !inIteration_) {
    elaboration_.emitter()
        .report(statement.name.span, Kind::NameClash,
                "two repeats are called `{}`", path)
        .note(at->second, "the other is here");
    return;
  }
  if (inIteration_)
    unroll(statement, *count, path);
  else
    runSegment(statement, *count, path);
}

/// A repeat inside an iteration is part of that iteration's body.
void ModelBuilder::unroll(const ast::RepeatStatement &statement,
                          std::int64_t count, const std::string &path) {
  for (std::int64_t i = 0; i < count && !failed(); ++i)
    runIteration(statement, i, fmt::format("{}[{}]", path, i), nullptr);
}

void ModelBuilder::runSegment(const ast::RepeatStatement &statement,
                              std::int64_t count, const std::string &path) {
  closeStretch();
  OpenSegment open;
  open.segment.name = path;
  open.segment.isRepeat = true;
  open.segment.origin = elaboration_.origin(statement.span, origin_);
  classes_.clear();
  inIteration_ = true;
  for (std::int64_t i = 0; i < count && !failed(); ++i) {
    bool indexUsed = false;
    std::uint32_t serial = openBody();
    current_ = serial;
    declaredInIteration_.clear();
    runIteration(statement, i, path, &indexUsed);
    serial = shareEqual(serial);
    std::string &name = bodies_[serial].body.name;
    if (name.empty())
      name = classes_.size() == 1
                 ? path
                 : fmt::format("{}#{}", path, classes_.size() - 1);
    open.serials.push_back(serial);
    if (indexUsed)
      continue;
    // Nothing tells the others from this one.
    open.serials.resize(static_cast<std::size_t>(count), serial);
    for (ops::WeightId weight : declaredInIteration_)
      model_.weights[weight].instances += count - 1 - i;
    break;
  }
  inIteration_ = false;
  current_.reset();
  if (count > 0)
    segments_.push_back(std::move(open));
}

void ModelBuilder::runIteration(const ast::RepeatStatement &statement,
                                std::int64_t index, const std::string &path,
                                bool *indexUsed) {
  Scope scope;
  scope.parent = scope_;
  scope.path = path;
  scope.file = scope_->file;
  scope.isIteration = true;
  scope.locals.parent = &scope_->locals;
  if (statement.index.isPresent())
    scope.locals.bindings.push_back({statement.index.text, index, std::nullopt,
                                     statement.index.span, false, indexUsed});
  scope_ = &scope;
  std::optional<Value> result = runStatements(statement.body);
  if (result && !result->isPoison())
    elaboration_.emitter().report(statement.body.back()->span, Kind::NoReturn,
                                  "a repeat has no `return`");
  scope_ = scope.parent;
  if (indexUsed)
    writeCarried(scope_);
}

/// What was assigned inside and lives outside is handed on in its slot.
void ModelBuilder::writeCarried(Scope *scope) {
  for (; scope; scope = scope->parent)
    for (auto &[name, variable] : scope->variables) {
      const Tensor &tensor = variable.current;
      if (!tensor.isSet() || tensor.weight.isValid() ||
          tensor.body != *current_)
        continue;
      if (!variable.slot.isValid())
        variable.slot =
            model_.slots.add({variable.slotName, dimsOf(tensor), false});
      write(*current_, variable.slot, tensor.value);
    }
}

namespace {

void addDims(std::string &key, const ops::Dims &dims) {
  for (ops::DimId dim : dims)
    key += fmt::format(",{}", dim.index());
  key += ';';
}

void addOp(std::string &key, const ops::Op &op) {
  const ops::Attributes &a = op.attributes;
  key += fmt::format("{} {} {} {} {} {} {}", static_cast<int>(op.kind), op.name,
                     a.causal, a.window.value_or(-1), a.dropout, a.softCap,
                     a.userOp.isValid() ? std::int64_t(a.userOp.index()) : -1);
  for (std::int64_t offset : a.offsets)
    key += fmt::format(" at {}", offset);
  const ops::Route &route = a.route;
  key += fmt::format(" {} {} {} {}", route.topK, route.imbalance,
                     route.capacity, route.nodes);
  for (ops::ValueId value : op.operands)
    key += fmt::format(" {}", value.index());
  key += ':';
  for (ops::ValueId value : op.results)
    key += fmt::format(" {}", value.index());
  // Roles follow from kind, operands and the contracted dimensions.
  for (const ops::ResultRule &rule : op.rules)
    for (const ops::OperandUse &use : rule.operands)
      for (const ops::DimUse &dim : use.dims)
        key +=
            fmt::format("/{}{}", dim.dim.index(), static_cast<int>(dim.role));
  key += '\n';
}

/// Everything of a body but its places in the text.
std::string keyOf(const ops::Body &body) {
  std::string key;
  for (const ops::Value &value : body.values) {
    key += fmt::format(
        "{} {} {}", value.name, static_cast<int>(value.kind),
        value.weight.isValid() ? std::int64_t(value.weight.index()) : -1);
    addDims(key, value.dims);
  }
  for (const ops::Op &op : body.forward)
    addOp(key, op);
  for (const std::vector<ops::Port> *ports : {&body.inputs, &body.outputs}) {
    key += '|';
    for (const ops::Port &port : *ports)
      key += fmt::format("{}={} ", port.slot.index(), port.value.index());
  }
  return key;
}

} // namespace

/// The serial of the first equal body of this repeat. A body that is not kept
/// is emptied but for its values, which variables may point at.
std::uint32_t ModelBuilder::shareEqual(std::uint32_t serial) {
  auto [at, isNew] = classes_.emplace(keyOf(bodies_[serial].body), serial);
  if (!isNew) {
    bodies_[serial].sameAs = at->second;
    bodies_[serial].body.forward.clear();
  }
  return at->second;
}

} // namespace planc::sema
