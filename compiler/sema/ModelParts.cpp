// split and concat: calls that take and make dimensions by name.
#include "compiler/sema/ModelBuilder.h"

#include "compiler/diag/Kinds.h"
#include "compiler/sema/Words.h"
#include "runtime/base/Checked.h"

#include "llvm/Support/Casting.h"

#include <fmt/core.h>

namespace planc::sema {

using diag::Kind;
using ops::OpKind;

namespace {

const ast::Argument *findArgument(const ast::CallExpr &call,
                                  std::string_view name) {
  for (const ast::Argument &argument : call.arguments)
    if (argument.name.isPresent() && argument.name.text == name)
      return &argument;
  return nullptr;
}

/// A name standing alone; null: something else.
const ast::NameExpr *simpleName(const ast::Expr &expr) {
  auto *name = llvm::dyn_cast<ast::NameExpr>(&expr);
  return name && name->name.isSimple() ? name : nullptr;
}

} // namespace

/// The arguments without a name; the others are `along` and, for a split,
/// `sizes`.
bool ModelBuilder::readTensors(const ast::CallExpr &call, OperatorCall &out) {
  bool isSound = true;
  for (const ast::Argument &argument : call.arguments) {
    std::string_view name = argument.name.text;
    bool isSplit = out.kind == OpKind::Split;
    if (!argument.name.isPresent()) {
      Value value = evaluator().evaluate(*argument.value);
      auto *tensor = value.as<Tensor>();
      if (!tensor && !value.isPoison())
        elaboration_.emitter().report(argument.value->span, Kind::TypeMismatch,
                                      "`{}` is {}; `{}` takes tensors",
                                      elaboration_.text(argument.value->span),
                                      describeType(value), call.callee.first());
      isSound = isSound && tensor;
      if (tensor)
        out.operands.push_back(*tensor);
      out.operandSpans.push_back(argument.value->span);
    } else if (name != "along" && !(isSplit && name == "sizes")) {
      elaboration_.emitter().report(argument.name.span, Kind::UnknownArgument,
                                    "`{}` takes no argument called `{}`",
                                    call.callee.first(), name);
      isSound = false;
    }
  }
  for (std::string_view wanted : {"along", "sizes"}) {
    bool isNeeded = wanted == "along" || out.kind == OpKind::Split;
    if (!isNeeded || findArgument(call, wanted))
      continue;
    elaboration_.emitter()
        .report(call.span, Kind::MissingArgument, "`{}` lacks `{}`",
                call.callee.first(), wanted)
        .help("{}", out.kind == OpKind::Split
                        ? "`a, b = split(x, along = d, sizes = [m, n])`"
                        : "`concat(a, b, along = new)`");
    isSound = false;
  }
  return isSound;
}

/// The dimension that `along` names, which a split takes apart.
std::optional<ops::DimId> ModelBuilder::readAlong(const ast::CallExpr &call) {
  const ast::Expr &expr = *findArgument(call, "along")->value;
  if (const ast::NameExpr *name = simpleName(expr))
    return resolve(name->name.parts.front());
  elaboration_.emitter().report(expr.span, Kind::NotADimension,
                                "`{}` is no dimension",
                                elaboration_.text(expr.span));
  return std::nullopt;
}

/// Sizes passed by name keep it; others are named after what is split.
bool ModelBuilder::readSizes(const ast::CallExpr &call, OperatorCall &out) {
  const ast::Expr &expr = *findArgument(call, "sizes")->value;
  auto *list = llvm::dyn_cast<ast::ListExpr>(&expr);
  if (!list) {
    elaboration_.emitter()
        .report(expr.span, Kind::TypeMismatch,
                "`sizes` is a list, one size a part")
        .help("`sizes = [m, n]`");
    return false;
  }
  const std::string path = join(out.name);
  bool isSound = true;
  for (const ast::Expr *item : list->items) {
    std::optional<ops::DimId> dim;
    if (const ast::NameExpr *name = simpleName(*item))
      dim = resolve(name->name.parts.front());
    else if (auto size = evaluator().integer(*item, "a size of `sizes`"))
      dim = intern({fmt::format("{}_{}", model_.dims[out.along].name,
                                out.parts.size() + 1),
                    path},
                   *size, item->span, item->span);
    isSound = isSound && dim;
    out.parts.push_back(dim.value_or(ops::DimId()));
  }
  return isSound;
}

/// False, after a report, for `batch` and `seq`, whose sizes a plan gives.
bool ModelBuilder::refuseData(ops::DimId dim, source::SourceSpan span) {
  if (dim != model_.batch && dim != model_.seq)
    return true;
  elaboration_.emitter()
      .report(span, Kind::Unsupported,
              "`{}` is the data's; planc cannot split or join it",
              model_.dims[dim].name)
      .help("`input name[batch, other]` declares a tensor of another length");
  return false;
}

Value ModelBuilder::callSplit(const ast::CallExpr &call) {
  OperatorCall out;
  out.kind = OpKind::Split;
  out.span = call.span;
  if (!readTensors(call, out))
    return Poison();
  out.name = localName(ops::toString(out.kind));
  auto along = readAlong(call);
  if (!along || !refuseData(*along, findArgument(call, "along")->value->span))
    return Poison();
  out.along = *along;
  if (!readSizes(call, out))
    return Poison();
  std::vector<Value> results;
  for (const Tensor &tensor : applyAll(std::move(out)))
    results.push_back(tensor);
  if (results.empty())
    return Poison();
  return Tuple{std::make_shared<const std::vector<Value>>(std::move(results))};
}

/// What `along` of a concat names: a dimension that is known, or a new one of
/// this scope.
std::optional<ops::DimId> ModelBuilder::makeDimension(const ast::Name &name,
                                                      std::int64_t size) {
  bool isKnown = scope_->locals.find(name.text) || name.text == "batch" ||
                 name.text == "seq" || scope_->file->find(name.text);
  if (isKnown)
    return resolve(name);
  if (isReservedWord(name.text)) {
    elaboration_.emitter().report(name.span, Kind::ReservedName,
                                  "`{}` is a word of the language", name.text);
    return std::nullopt;
  }
  DimensionName made{std::string(name.text), scope_->path};
  auto dim = intern(made, size, name.span, name.span);
  if (dim)
    scope_->locals.bindings.push_back(
        {name.text, size, made, name.span, false, nullptr});
  return dim;
}

Value ModelBuilder::callConcat(const ast::CallExpr &call) {
  OperatorCall out;
  out.kind = OpKind::Concat;
  out.span = call.span;
  if (!readTensors(call, out))
    return Poison();
  const ast::Expr &expr = *findArgument(call, "along")->value;
  const ast::NameExpr *name = simpleName(expr);
  if (!name) {
    elaboration_.emitter()
        .report(expr.span, Kind::NotADimension,
                "`along = {}` names no dimension", elaboration_.text(expr.span))
        .help("`let` gives a size a name");
    return Poison();
  }
  std::optional<std::int64_t> size = 0;
  for (std::size_t i = 0; i < out.operands.size(); ++i) {
    const ops::Dims &dims = dimsOf(out.operands[i]);
    if (dims.empty())
      continue; // inferShapes says so
    if (!refuseData(dims.back(), out.operandSpans[i]))
      return Poison();
    if (size)
      size = checkedAdd(*size, model_.dims[dims.back()].size);
  }
  auto along = makeDimension(name->name.parts.front(), size.value_or(0));
  if (!along)
    return Poison();
  out.along = *along;
  return apply(std::move(out));
}

} // namespace planc::sema
