#include "compiler/sema/ModelBuilder.h"

#include "compiler/diag/Kinds.h"
#include "compiler/sema/Words.h"
#include "runtime/base/Checked.h"

#include "llvm/Support/Casting.h"

namespace planc::sema {

using diag::Kind;
using source::SourceSpan;

ModelBuilder::ModelBuilder(Elaboration &elaboration,
                           const ModelInstance &instance, OriginId origin)
    : elaboration_(elaboration), instance_(instance), origin_(origin),
      errorsBefore_(elaboration.emitter().reportedErrors()) {}

Evaluator ModelBuilder::evaluator() {
  return Evaluator(elaboration_, *scope_->file, &scope_->locals, this);
}

bool ModelBuilder::failed() const {
  return elaboration_.emitter().reportedErrors() != errorsBefore_;
}

std::string ModelBuilder::join(const std::string &name) const {
  return scope_->path.empty() ? name : scope_->path + "." + name;
}

std::string ModelBuilder::localName(std::string_view name) {
  int &count = scope_->counts[std::string(name)];
  ++count;
  return count == 1 ? std::string(name)
                    : std::string(name) + "_" + std::to_string(count);
}

std::optional<ops::Model> ModelBuilder::build() {
  Scope top;
  top.file = instance_.home;
  top.locals = instance_.formals;
  scope_ = &top;
  model_.name = instance_.name;
  SourceSpan place = instance_.model->name.span;
  OriginId origin = elaboration_.origin(place, origin_);
  model_.batch = model_.dims.add({"batch", "", 0, origin});
  model_.seq = model_.dims.add({"seq", "", 0, origin});
  dims_[{"", "batch"}] = model_.batch;
  dims_[{"", "seq"}] = model_.seq;
  given_["tokens"] =
      model_.slots.add({"tokens", {model_.batch, model_.seq}, true});
  given_["positions"] = model_.slots.add({"positions", {model_.seq}, true});
  std::optional<Value> result = runStatements(instance_.model->body);
  if (result && !result->isPoison())
    elaboration_.emitter().report(instance_.model->body.back()->span,
                                  Kind::NoReturn, "a model has no `return`");
  closeStretch();
  scope_ = nullptr;
  if (failed())
    return std::nullopt;
  return assemble(top);
}

std::optional<Value>
ModelBuilder::runStatements(std::span<const ast::Statement *const> statements) {
  for (const ast::Statement *statement : statements) {
    switch (statement->kind) {
    case ast::StatementKind::Assign:
      runAssign(*llvm::cast<ast::AssignStatement>(statement));
      break;
    case ast::StatementKind::Weight: {
      auto *weight = llvm::cast<ast::WeightStatement>(statement);
      declare(weight->name, weight->dimensions);
      break;
    }
    case ast::StatementKind::Input:
      runInput(*llvm::cast<ast::InputStatement>(statement));
      break;
    case ast::StatementKind::Let:
      runLet(*llvm::cast<ast::LetStatement>(statement));
      break;
    case ast::StatementKind::Repeat:
      runRepeat(*llvm::cast<ast::RepeatStatement>(statement));
      break;
    case ast::StatementKind::Return:
      return runReturn(*llvm::cast<ast::ReturnStatement>(statement));
    }
    if (operators_ > kMaxOperators)
      return Value();
  }
  return std::nullopt;
}

void ModelBuilder::runAssign(const ast::AssignStatement &statement) {
  Value value = evaluator().evaluate(*statement.value);
  if (statement.targets.size() == 1)
    return assign(statement.targets.front(), value, *statement.value);
  auto *tuple = value.as<Tuple>();
  bool fits = tuple && tuple->items->size() == statement.targets.size();
  if (!fits && !value.isPoison())
    elaboration_.emitter().report(
        statement.value->span, Kind::TypeMismatch, "{} names are assigned {}",
        statement.targets.size(),
        tuple ? std::to_string(tuple->items->size()) + " tensors"
              : describeType(value));
  for (std::size_t i = 0; i < statement.targets.size(); ++i)
    assign(statement.targets[i], fits ? (*tuple->items)[i] : Value(),
           *statement.value);
}

void ModelBuilder::assign(const ast::Name &target, const Value &value,
                          const ast::Expr &expr) {
  auto *tensor = value.as<Tensor>();
  if (!tensor && !value.isPoison()) {
    auto builder = elaboration_.emitter().report(
        expr.span, Kind::TypeMismatch, "`{}` is assigned {}, not a tensor",
        target.text, describeType(value));
    if (value.isNumber())
      std::move(builder).help("`let {} = …` names a constant", target.text);
  }
  bool crossesIteration = false;
  Variable *variable = findVariable(target.text, &crossesIteration);
  if (!variable) {
    const WeightEntry *weight = findWeight(target.text);
    if (weight || given_.contains(target.text)) {
      auto builder = elaboration_.emitter().report(
          target.span, Kind::NameClash, "`{}` is {} already", target.text,
          weight ? "a weight" : "a given tensor");
      if (weight)
        std::move(builder).note(weight->span, "it is declared here");
      return;
    }
    variable = &scope_->variables[std::string(target.text)];
    variable->slotName = join(std::string(target.text));
    variable->span = target.span;
  } else if (crossesIteration && tensor && variable->current.isSet() &&
             dimsOf(variable->current) != dimsOf(*tensor)) {
    elaboration_.emitter()
        .report(target.span, Kind::CarriedShape,
                "`{}` changes its dimensions inside a repeat", target.text)
        .note(variable->span, "it is carried from here on");
    return;
  }
  if (!tensor) {
    variable->current = Tensor();
    return;
  }
  nameResult(*tensor, target.text);
  variable->current = *tensor;
}

/// A result that has only its operator's name takes that of the variable.
void ModelBuilder::nameResult(const Tensor &tensor, std::string_view name) {
  if (tensor.weight.isValid() || !current_ || tensor.body != *current_)
    return;
  OpenBody &body = current();
  ops::Value &value = body.body.values[tensor.value];
  bool isResult = value.kind == ops::ValueKind::Activation;
  if (!isResult || !body.named.insert(tensor.value).second)
    return;
  body.valueNames.erase(value.name);
  std::string wanted = join(std::string(name));
  std::string unique = wanted;
  for (int copy = 2; body.valueNames.contains(unique); ++copy)
    unique = wanted + "_" + std::to_string(copy);
  body.valueNames.insert(unique);
  value.name = unique;
}

void ModelBuilder::runInput(const ast::InputStatement &statement) {
  auto dims = resolve(statement.dimensions);
  if (!dims)
    return;
  std::string name(statement.name.text);
  if (given_.contains(name) || findVariable(name, nullptr) ||
      findWeight(name)) {
    elaboration_.emitter().report(statement.name.span, Kind::NameClash,
                                  "`{}` is declared already", name);
    return;
  }
  given_[name] = model_.slots.add({name, *dims, true});
}

void ModelBuilder::runLet(const ast::LetStatement &statement) {
  Value value = evaluator().evaluate(*statement.value);
  if (value.as<Tensor>() || value.as<Tuple>()) {
    elaboration_.emitter()
        .report(statement.value->span, Kind::TypeMismatch,
                "`let {}` is a tensor; `let` names constants",
                statement.name.text)
        .help("`{} = …` names a tensor", statement.name.text);
    value = Value();
  }
  std::string_view name = statement.name.text;
  if (isReservedWord(name)) {
    elaboration_.emitter().report(statement.name.span, Kind::ReservedName,
                                  "`{}` is a word of the language", name);
    return;
  }
  if (scope_->locals.findHere(name)) {
    elaboration_.emitter().report(statement.name.span, Kind::NameClash,
                                  "`{}` is declared already", name);
    return;
  }
  scope_->locals.bindings.push_back(
      {name, value, DimensionName{std::string(name), scope_->path},
       statement.value->span, false, nullptr});
}

Value ModelBuilder::runReturn(const ast::ReturnStatement &statement) {
  std::vector<Value> values;
  for (const ast::Expr *expr : statement.values) {
    Value value = evaluator().evaluate(*expr);
    if (!value.isPoison() && !value.as<Tensor>())
      elaboration_.emitter().report(
          expr->span, Kind::TypeMismatch, "`{}` is {}; a block returns tensors",
          elaboration_.text(expr->span), describeType(value));
    values.push_back(value.as<Tensor>() ? value : Value());
  }
  if (values.size() == 1)
    return values.front();
  return Tuple{std::make_shared<const std::vector<Value>>(std::move(values))};
}

// --- the whole ---------------------------------------------------------------

std::optional<ops::Model> ModelBuilder::assemble(const Scope &top) {
  if (!setLoss(top))
    return std::nullopt;
  nameStretches();
  std::map<std::uint32_t, ops::BodyId> ids;
  for (OpenSegment &open : segments_) {
    for (std::uint32_t serial : open.serials) {
      std::uint32_t kept = bodies_[serial].sameAs;
      auto [at, isNew] = ids.emplace(kept, ops::BodyId());
      if (isNew)
        at->second = model_.bodies.add(std::move(bodies_[kept].body));
      open.segment.iterations.push_back(at->second);
    }
    model_.segments.push_back(std::move(open.segment));
  }
  countReads();
  if (!checkParameters())
    return std::nullopt;
  return std::move(model_);
}

bool ModelBuilder::setLoss(const Scope &top) {
  auto loss = top.variables.find("loss");
  bool isLast = loss != top.variables.end() && !segments_.empty() &&
                !segments_.back().segment.isRepeat &&
                !loss->second.current.weight.isValid() &&
                loss->second.current.body == segments_.back().serials.back();
  if (isLast) {
    model_.loss = loss->second.current.value;
    return checkOneLoss(bodies_[segments_.back().serials.back()].body);
  }
  bool exists = loss != top.variables.end();
  elaboration_.emitter()
      .report(exists ? loss->second.span : instance_.model->name.span,
              Kind::NoLoss, "{}",
              exists ? "`loss` is not computed after the last repeat"
                     : "the model has no `loss`")
      .help("loss = cross_entropy(…) after the last repeat");
  return false;
}

/// A loss that neither is the model's nor is part of it would be computed for
/// nothing.
bool ModelBuilder::checkOneLoss(const ops::Body &body) {
  std::set<ops::ValueId> read = {model_.loss};
  for (const ops::Op &op : body.forward)
    read.insert(op.operands.begin(), op.operands.end());
  for (const ops::Op &op : body.forward) {
    if (op.kind != ops::OpKind::CrossEntropy ||
        read.contains(op.results.front()))
      continue;
    elaboration_.emitter()
        .report(elaboration_.spanOf(op.origin), Kind::NameClash,
                "this is a second loss, and nothing reads it")
        .note(elaboration_.spanOf(body.values[model_.loss].origin),
              "the model's `loss` is here")
        .help("add them up, or leave one out");
    return false;
  }
  return true;
}

void ModelBuilder::nameStretches() {
  std::set<std::string> names;
  for (const OpenSegment &open : segments_)
    if (open.segment.isRepeat)
      names.insert(open.segment.name);
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    OpenSegment &open = segments_[i];
    if (open.segment.isRepeat)
      continue;
    bool isLast = i + 1 == segments_.size();
    std::string wanted = isLast ? "head" : i == 0 ? "embed" : "between";
    if (isLast && i == 0)
      wanted = "body";
    std::string unique = wanted;
    for (int copy = 2; names.contains(unique); ++copy)
      unique = wanted + "_" + std::to_string(copy);
    names.insert(unique);
    bodies_[open.serials.front()].body.name = unique;
  }
}

void ModelBuilder::countReads() {
  Table<ops::WeightId, std::int64_t> reads(model_.weights.size());
  Table<ops::BodyId, std::int64_t> runs(model_.bodies.size());
  for (const ops::Segment &segment : model_.segments)
    for (ops::BodyId body : segment.iterations)
      ++runs[body];
  for (ops::BodyId body : model_.bodies.ids())
    for (const ops::Value &value : model_.bodies[body].values)
      if (value.kind == ops::ValueKind::Weight)
        reads[value.weight] += runs[body];
  for (ops::WeightId id : model_.weights.ids()) {
    ops::Weight &weight = model_.weights[id];
    weight.fanout = ceilDiv(reads[id], weight.instances);
    if (weight.fanout == 0)
      elaboration_.emitter().report(
          elaboration_.spanOf(weight.origin), Kind::WeightUnused,
          "no operator reads the weight `{}`", weight.name);
  }
}

bool ModelBuilder::checkParameters() {
  std::optional<std::int64_t> total = 0;
  for (const ops::Weight &weight : model_.weights) {
    std::optional<std::int64_t> elements = weight.instances;
    for (ops::DimId dim : weight.dims)
      if (elements)
        elements = checkedMul(*elements, model_.dims[dim].size);
    if (total && elements)
      total = checkedAdd(*total, *elements);
    // Bytes of states are up to 16 a parameter, and sums of them must fit too.
    constexpr std::int64_t kMost = std::int64_t(1) << 56;
    if (elements && total && *total <= kMost)
      continue;
    elaboration_.emitter()
        .report(elaboration_.spanOf(origin_), Kind::NumberOutOfRange,
                "`{}` has more than 2^56 parameters", model_.name)
        .note(elaboration_.spanOf(weight.origin), "counted up to `{}`",
              weight.name);
    return false;
  }
  return true;
}

} // namespace planc::sema
