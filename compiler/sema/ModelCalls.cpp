// Calls in a model: operators and their operands.
#include "compiler/sema/ModelBuilder.h"

#include "compiler/diag/Kinds.h"
#include "compiler/ops/Roles.h"
#include "compiler/sema/Words.h"

#include "llvm/Support/Casting.h"

#include <fmt/core.h>

namespace planc::sema {

using diag::Kind;
using ops::OpKind;
using source::SourceSpan;

Value ModelBuilder::callTensor(const ast::CallExpr &call) {
  diag::Emitter &emitter = elaboration_.emitter();
  if (Symbol symbol = scope_->file->find(call.callee)) {
    if (auto *block = llvm::dyn_cast<ast::BlockDecl>(symbol.decl))
      return callBlock(*block, *symbol.home, call);
    if (auto *op = llvm::dyn_cast<ast::OpDecl>(symbol.decl))
      return callUserOp(*op, *symbol.home, call);
    emitter.report(call.callee.span, Kind::WrongKind,
                   "`{}` cannot be called in a model",
                   elaboration_.text(call.callee.span));
    return Poison();
  }
  std::string_view name = elaboration_.text(call.callee.span);
  if (const OperatorName *op = findOperator(name)) {
    if (op->kind)
      return callOperator(call, *op->kind);
    auto builder =
        emitter.report(call.callee.span, Kind::Unsupported,
                       "planc does not know the cost of `{}` yet", name);
    if (name == "conv")
      std::move(builder).help(
          "a convolution over patches that do not overlap is `matmul(images, "
          "w[pixels, hidden])` of `input images[batch, patches, pixels]`");
    return Poison();
  }
  std::vector<std::string_view> names = scope_->file->names();
  for (const OperatorName &op : operatorNames())
    names.push_back(op.name);
  emitter
      .report(call.callee.span, Kind::UnknownName,
              "no operator or block is called `{}`", name)
      .suggest(call.callee.span, diag::nearestName(name, names));
  return Poison();
}

// --- operators ---------------------------------------------------------------

Value ModelBuilder::callOperator(const ast::CallExpr &call, OpKind kind) {
  if (kind == OpKind::Split)
    return callSplit(call);
  if (kind == OpKind::Concat)
    return callConcat(call);
  OperatorCall out;
  out.kind = kind;
  out.span = call.span;
  out.weights = kind == OpKind::Combine; // what is not said
  if (!readOperands(call, out))
    return Poison();
  if (kind == OpKind::SoftCap && out.attributes.softCap == 0) {
    elaboration_.emitter()
        .report(call.span, Kind::MissingArgument, "`soft_cap` lacks `cap`")
        .help("`soft_cap(x, cap = 30)`");
    return Poison();
  }
  if (out.sink) {
    out.operands.push_back(*out.sink);
    out.operandSpans.push_back(out.sinkSpan);
  }
  // Dropout of nothing is the tensor itself.
  if (kind == OpKind::Dropout && out.attributes.dropout == 0)
    return out.operands.size() == 1 ? Value(out.operands[0]) : Value();
  if (kind == OpKind::Dispatch)
    return dispatch(call, std::move(out));
  if (kind == OpKind::Combine)
    return combine(std::move(out));
  addNormWeights(out);
  addTargets(out);
  return apply(std::move(out));
}

bool ModelBuilder::readOperands(const ast::CallExpr &call, OperatorCall &out) {
  bool isSound = true;
  for (const ast::Argument &argument : call.arguments) {
    if (argument.name.isPresent()) {
      isSound = readOption(call, argument, out) && isSound;
      continue;
    }
    bool isProbability =
        out.kind == OpKind::Dropout && out.operands.size() == 1;
    if (isProbability) {
      isSound = readProbability(*argument.value, out) && isSound;
      continue;
    }
    Value value = evaluator().evaluate(*argument.value);
    if (!value.isPoison() && !value.as<Tensor>())
      elaboration_.emitter().report(argument.value->span, Kind::TypeMismatch,
                                    "`{}` is {}; `{}` takes tensors",
                                    elaboration_.text(argument.value->span),
                                    describeType(value), call.callee.first());
    isSound = isSound && value.as<Tensor>();
    out.operands.push_back(isSound ? *value.as<Tensor>() : Tensor());
    out.operandSpans.push_back(argument.value->span);
  }
  return isSound;
}

bool ModelBuilder::readOption(const ast::CallExpr &call,
                              const ast::Argument &argument,
                              OperatorCall &out) {
  std::string_view name = argument.name.text;
  const ast::Expr &value = *argument.value;
  switch (out.kind) {
  case OpKind::MatMul:
    if (name == "over")
      return readOver(value, out);
    break;
  case OpKind::Attention:
    if (name == "causal") {
      auto causal = evaluator().boolean(value, "`causal`");
      out.attributes.causal = causal.value_or(false);
      return causal.has_value();
    }
    if (name == "window")
      return readWindow(value, out);
    if (name == "dropout")
      return readProbability(value, out);
    if (name == "soft_cap")
      return readSoftCap(value, out);
    if (name == "sink")
      return readSink(value, out);
    break;
  case OpKind::SoftCap:
    if (name == "cap")
      return readSoftCap(value, out);
    break;
  case OpKind::Dropout:
    if (name == "p")
      return readProbability(value, out);
    break;
  case OpKind::Dispatch:
    if (name == "weights")
      return readWeights(value, name, out);
    if (isRouteOption(name))
      return readRouteOption(argument, out);
    break;
  case OpKind::Combine:
    if (name == "weighted")
      return readWeights(value, name, out);
    break;
  case OpKind::Rope: // neither changes what it costs
    if (name == "base")
      return evaluator().quantity(value, "`base`", kNoDimension).has_value();
    break;
  case OpKind::RmsNorm:
  case OpKind::LayerNorm:
    if (name == "epsilon")
      return evaluator().quantity(value, "`epsilon`", kNoDimension).has_value();
    if (name == "gain" || (name == "bias" && out.kind == OpKind::LayerNorm)) {
      auto has = evaluator().boolean(value, fmt::format("`{}`", name));
      (name == "gain" ? out.hasGain : out.hasBias) = has.value_or(true);
      return has.has_value();
    }
    break;
  default:
    break;
  }
  elaboration_.emitter().report(argument.name.span, Kind::UnknownArgument,
                                "`{}` takes no argument called `{}`",
                                call.callee.first(), name);
  return false;
}

bool ModelBuilder::readProbability(const ast::Expr &expr, OperatorCall &out) {
  auto value = evaluator().quantity(expr, "a dropout", kNoDimension);
  if (!value)
    return false;
  if (*value >= 0 && *value < 1) {
    out.attributes.dropout = *value;
    return true;
  }
  elaboration_.emitter().report(expr.span, Kind::ValueOutOfRange,
                                "a dropout of {}; it is at least 0 and below 1",
                                *value);
  return false;
}

bool ModelBuilder::readSoftCap(const ast::Expr &expr, OperatorCall &out) {
  Value found = evaluator().evaluate(expr);
  if (auto *word = found.as<Word>();
      word && word->text == "none" && out.kind == OpKind::Attention)
    return true;
  if (found.isPoison())
    return false;
  auto value = evaluator().quantity(expr, "a soft cap", kNoDimension);
  if (!value)
    return false;
  if (*value > 0) {
    out.attributes.softCap = *value;
    return true;
  }
  elaboration_.emitter().report(expr.span, Kind::ValueOutOfRange,
                                "a soft cap of {}; it is above 0", *value);
  return false;
}

/// A logit a head that takes part in the softmax.
bool ModelBuilder::readSink(const ast::Expr &expr, OperatorCall &out) {
  Value value = evaluator().evaluate(expr);
  if (value.isPoison())
    return false;
  if (auto *word = value.as<Word>(); word && word->text == "none")
    return true;
  auto *tensor = value.as<Tensor>();
  if (!tensor) {
    evaluator().reportType(expr.span, "`sink`", "a tensor or `none`", value);
    return false;
  }
  out.sink = *tensor;
  out.sinkSpan = expr.span;
  return true;
}

bool ModelBuilder::readWindow(const ast::Expr &expr, OperatorCall &out) {
  Value value = evaluator().evaluate(expr);
  if (value.isPoison())
    return false;
  if (auto *word = value.as<Word>(); word && word->text == "none")
    return true;
  auto *size = value.as<std::int64_t>();
  if (!size) {
    evaluator().reportType(expr.span, "`window`", "an integer or `none`",
                           value);
    return false;
  }
  if (*size < 1) {
    elaboration_.emitter().report(expr.span, Kind::ValueOutOfRange,
                                  "a window of {}; it is at least 1", *size);
    return false;
  }
  out.attributes.window = *size;
  return true;
}

bool ModelBuilder::readOver(const ast::Expr &expr, OperatorCall &out) {
  std::vector<const ast::Expr *> items = {&expr};
  if (auto *list = llvm::dyn_cast<ast::ListExpr>(&expr))
    items.assign(list->items.begin(), list->items.end());
  for (const ast::Expr *item : items) {
    auto *name = llvm::dyn_cast<ast::NameExpr>(item);
    if (!name || !name->name.isSimple()) {
      elaboration_.emitter().report(item->span, Kind::NotADimension,
                                    "`{}` is no dimension",
                                    elaboration_.text(item->span));
      return false;
    }
    auto dim = resolve(name->name.parts.front());
    if (!dim)
      return false;
    out.over.push_back(*dim);
  }
  return true;
}

/// A norm has its gain, and a layer_norm its bias, over what it normalises,
/// unless the call leaves them out; without a gain there is no bias.
void ModelBuilder::addNormWeights(OperatorCall &call) {
  bool isRms = call.kind == OpKind::RmsNorm;
  if (!isRms && call.kind != OpKind::LayerNorm)
    return;
  if (call.operands.size() != 1 || dimsOf(call.operands[0]).empty())
    return; // inferShapes says so
  call.name = localName(ops::toString(call.kind));
  ops::Dims last = {dimsOf(call.operands[0]).back()};
  std::vector<std::string> names;
  if (isRms)
    names = {call.name};
  else
    names = {call.name + ".gain", call.name + ".bias"};
  if (!call.hasBias && !isRms)
    names.pop_back();
  if (!call.hasGain)
    names.clear();
  for (const std::string &name : names) {
    call.operands.push_back({0, {}, makeWeight(name, last, 0, call.span)});
    call.operandSpans.push_back(call.span);
  }
}

/// What the loss compares with is given, one class a position; or one for
/// whatever else the logits stand for, an image say.
void ModelBuilder::addTargets(OperatorCall &call) {
  if (call.kind != OpKind::CrossEntropy || call.operands.size() != 1)
    return;
  ops::Dims each = {model_.batch, model_.seq};
  const ops::Dims &logits = dimsOf(call.operands[0]);
  if (!logits.empty() && !ops::contains(logits, model_.seq))
    each.assign(logits.begin(), logits.end() - 1);
  auto at = given_.find("targets");
  if (at == given_.end())
    at = given_.emplace("targets", model_.slots.add({"targets", each, true}))
             .first;
  ops::ValueId value = inputOf(at->second);
  call.operands.push_back({*current_, value, {}});
  call.operandSpans.push_back(call.span);
}

Value ModelBuilder::joinTensors(const ast::BinaryExpr &expr, const Value &left,
                                const Value &right) {
  bool isSum = expr.op == ast::BinaryOperator::Add;
  bool isProduct = expr.op == ast::BinaryOperator::Multiply;
  auto *a = left.as<Tensor>();
  auto *b = right.as<Tensor>();
  if ((!isSum && !isProduct) || !a || !b) {
    elaboration_.emitter()
        .report(expr.opSpan, Kind::TypeMismatch, "`{}` does not join {} and {}",
                ast::spelling(expr.op), describeType(left), describeType(right))
        .help("tensors are joined by `+` and `*`, with tensors");
    return Poison();
  }
  OperatorCall call;
  call.kind = isSum ? OpKind::Add : OpKind::Mul;
  call.operands = {*a, *b};
  call.operandSpans = {expr.left->span, expr.right->span};
  call.span = expr.span;
  return apply(std::move(call));
}

/// Counts an operator or a call of a block; false, after a report, when there
/// are too many.
bool ModelBuilder::count(SourceSpan span) {
  if (++operators_ <= kMaxOperators)
    return true;
  elaboration_.emitter().report(span, Kind::ModelTooLarge,
                                "the model has more than {} operators",
                                kMaxOperators);
  return false;
}

Value ModelBuilder::apply(OperatorCall call) {
  std::vector<Tensor> results = applyAll(std::move(call));
  return results.empty() ? Value() : Value(results.front());
}

/// One tensor a result; none after a report.
std::vector<Tensor> ModelBuilder::applyAll(OperatorCall call) {
  if (!count(call.span))
    return {};
  ops::InferRequest request;
  request.kind = call.kind;
  request.attributes = &call.attributes;
  request.over = call.over;
  request.along = call.along;
  request.parts = call.parts;
  request.userOp = call.userOp;
  ops::Op op;
  for (const Tensor &tensor : call.operands) {
    op.operands.push_back(use(tensor));
    bool isWeight = tensor.weight.isValid();
    request.operands.push_back(
        {dimsOf(tensor), isWeight,
         isWeight ? model_.weights[tensor.weight].batchDims : 0,
         current().body.values[op.operands.back()].route});
    // A product, a lookup is known by its weight.
    bool namesIt = call.kind == OpKind::MatMul || call.kind == OpKind::Embed ||
                   call.kind == OpKind::Router;
    if (isWeight && namesIt && call.name.empty())
      op.name = model_.weights[tensor.weight].name;
  }
  ops::Inferred inferred = ops::inferShapes(request, model_.dims);
  if (inferred.error) {
    reportShape(call, *inferred.error);
    return {};
  }
  std::string local = call.name.empty() && op.name.empty()
                          ? localName(ops::toString(call.kind))
                          : call.name;
  if (op.name.empty())
    op.name = join(local);
  OpenBody &body = current();
  std::string unique = op.name;
  for (int copy = 2; !body.opNames.insert(unique).second; ++copy)
    unique = fmt::format("{}_{}", op.name, copy);
  op.name = unique;
  op.kind = call.kind;
  op.attributes = call.attributes;
  op.attributes.offsets = inferred.offsets;
  op.origin = elaboration_.origin(call.span, origin_);
  for (ops::InferredResult &result : inferred.results) {
    ops::Value value;
    value.dims = result.rule.dims;
    value.kind = result.kind;
    value.precision = result.precision;
    value.origin = op.origin;
    value.route = result.route;
    std::string suffix = result.suffix.empty() ? "out" : result.suffix;
    op.results.push_back(addValue(op.name + "." + suffix, std::move(value)));
    op.rules.push_back(std::move(result.rule));
  }
  std::vector<Tensor> out;
  for (ops::ValueId result : op.results)
    out.push_back({*current_, result, {}});
  current().body.forward.push_back(std::move(op));
  return out;
}

void ModelBuilder::reportShape(const OperatorCall &call,
                               const ops::ShapeError &error) {
  SourceSpan span = error.operand < call.operandSpans.size()
                        ? call.operandSpans[error.operand]
                        : call.span;
  elaboration_.emitter().report(span, Kind::ShapeMismatch, "{}", error.text);
}

} // namespace planc::sema
