#include "compiler/sema/Evaluate.h"

#include "compiler/diag/Kinds.h"
#include "compiler/sema/Words.h"

#include "llvm/Support/Casting.h"

#include <cmath>

namespace planc::sema {

using diag::Kind;
using source::SourceSpan;

namespace {

class DepthGuard {
public:
  explicit DepthGuard(int &depth) : depth_(depth) { ++depth_; }
  ~DepthGuard() { --depth_; }
  DepthGuard(const DepthGuard &) = delete;
  DepthGuard &operator=(const DepthGuard &) = delete;

private:
  int &depth_;
};

} // namespace

Value Evaluator::evaluate(const ast::Expr &expr) {
  DepthGuard guard(elaboration_.depth);
  if (elaboration_.depth > Elaboration::kMaxDepth) {
    elaboration_.emitter().report(expr.span, Kind::TooDeep,
                                  "expressions nest too deep here");
    return Poison();
  }
  return evaluateInner(expr);
}

Value Evaluator::evaluateInner(const ast::Expr &expr) {
  switch (expr.kind) {
  case ast::ExprKind::Integer:
    return llvm::cast<ast::IntegerExpr>(&expr)->value;
  case ast::ExprKind::Real:
    return llvm::cast<ast::RealExpr>(&expr)->value;
  case ast::ExprKind::Quantity:
    return evaluateQuantity(*llvm::cast<ast::QuantityExpr>(&expr));
  case ast::ExprKind::Text:
    return std::string(llvm::cast<ast::TextExpr>(&expr)->value);
  case ast::ExprKind::Bool:
    return llvm::cast<ast::BoolExpr>(&expr)->value;
  case ast::ExprKind::Name:
    return evaluateName(*llvm::cast<ast::NameExpr>(&expr));
  case ast::ExprKind::List:
    return evaluateList(*llvm::cast<ast::ListExpr>(&expr));
  case ast::ExprKind::Range:
    return evaluateRange(*llvm::cast<ast::RangeExpr>(&expr));
  case ast::ExprKind::Unary:
    return evaluateUnary(*llvm::cast<ast::UnaryExpr>(&expr));
  case ast::ExprKind::Binary:
    return evaluateBinary(*llvm::cast<ast::BinaryExpr>(&expr));
  case ast::ExprKind::If:
    return evaluateIf(*llvm::cast<ast::IfExpr>(&expr));
  case ast::ExprKind::Call:
    return evaluateCall(*llvm::cast<ast::CallExpr>(&expr));
  case ast::ExprKind::Index:
    return evaluateIndex(*llvm::cast<ast::IndexExpr>(&expr));
  case ast::ExprKind::At:
  case ast::ExprKind::Per:
    elaboration_.emitter().report(expr.span, Kind::TypeMismatch,
                                  "`{}` is no value by itself",
                                  elaboration_.text(expr.span));
    return Poison();
  }
  return Poison();
}

Value Evaluator::evaluateQuantity(const ast::QuantityExpr &expr) {
  std::optional<Unit> unit = parseUnit(expr.unit);
  if (!unit) {
    std::optional<std::string> near = nearestUnit(expr.unit);
    elaboration_.emitter()
        .report(expr.unitSpan, Kind::UnknownUnit, "`{}` is no unit", expr.unit)
        .suggest(expr.unitSpan,
                 near ? std::optional<std::string_view>(*near) : std::nullopt);
    return Poison();
  }
  double value = expr.value * unit->numerator / unit->denominator;
  if (!std::isfinite(value)) {
    elaboration_.emitter().report(expr.span, Kind::NumberOutOfRange,
                                  "`{}` is beyond the largest number",
                                  elaboration_.text(expr.span));
    return Poison();
  }
  if (unit->dimension.isNone())
    return value;
  return Quantity{value, unit->dimension};
}

Value Evaluator::evaluateName(const ast::NameExpr &expr) {
  const ast::QualifiedName &name = expr.name;
  if (name.isSimple()) {
    if (const Binding *binding =
            locals_ ? locals_->find(name.first()) : nullptr) {
      if (binding->used)
        *binding->used = true;
      if (!binding->isOfData)
        return binding->value;
      elaboration_.emitter()
          .report(expr.span, Kind::TypeMismatch,
                  "`{}` has no size in a model: the plan gives it",
                  name.first())
          .help("give the model a formal of its own, such as `context`");
      return Poison();
    }
    if (host_)
      if (std::optional<Value> tensor = host_->findTensor(name.first()))
        return *tensor;
  }
  Symbol symbol = file_->find(name);
  bool mayBeWord = name.isSimple() && isWord(name.first());
  // A plan or a target is no value, so its name hides no word.
  bool isNoValue = symbol && (llvm::isa<ast::PlanDecl>(symbol.decl) ||
                              llvm::isa<ast::TargetDecl>(symbol.decl));
  if (symbol && !(mayBeWord && isNoValue))
    return elaboration_.valueOf(symbol, expr.span);
  if (mayBeWord)
    return Word{name.first()};
  reportUnknown(name);
  return Poison();
}

void Evaluator::reportUnknown(const ast::QualifiedName &name) {
  std::vector<std::string_view> names;
  if (!name.isSimple()) {
    names = file_->namesUnder(name.first());
    SourceSpan last = name.parts.back().span;
    elaboration_.emitter()
        .report(name.span, Kind::UnknownName, "nothing is called `{}`",
                elaboration_.text(name.span))
        .suggest(last, diag::nearestName(name.last(), names));
    return;
  }
  for (const Locals *at = locals_; at; at = at->parent)
    for (const Binding &binding : at->bindings)
      names.push_back(binding.name);
  if (host_)
    host_->addNames(names);
  for (std::string_view known : file_->names())
    names.push_back(known);
  for (std::string_view known : allWords())
    names.push_back(known);
  elaboration_.emitter()
      .report(name.span, Kind::UnknownName, "nothing is called `{}`",
              name.first())
      .suggest(name.span, diag::nearestName(name.first(), names));
}

Value Evaluator::evaluateList(const ast::ListExpr &expr) {
  std::vector<Value> items;
  for (const ast::Expr *item : expr.items) {
    items.push_back(evaluate(*item));
    if (items.back().isPoison())
      return Poison();
  }
  return makeList(elaboration_, std::move(items), expr.span);
}

Value Evaluator::evaluateRange(const ast::RangeExpr &expr) {
  auto low = integer(*expr.low, "the start of a range");
  auto high = integer(*expr.high, "the end of a range");
  if (!low || !high)
    return Poison();
  return Range{*low, *high};
}

Value Evaluator::evaluateUnary(const ast::UnaryExpr &expr) {
  if (expr.op == ast::UnaryOperator::Not) {
    auto value = boolean(*expr.operand, "the operand of `not`");
    return value ? Value(!*value) : Value();
  }
  Value value = evaluate(*expr.operand);
  if (value.isPoison())
    return value;
  if (!value.isNumber()) {
    reportType(expr.operand->span, "a sign", "a number", value);
    return Poison();
  }
  if (expr.op == ast::UnaryOperator::Plus)
    return value;
  if (auto *n = value.as<std::int64_t>())
    return -*n; // literals are not negative, and arithmetic keeps -2^63 out
  if (auto *q = value.as<Quantity>())
    return Quantity{-q->value, q->dimension};
  return -*value.as<double>();
}

Value Evaluator::evaluateBinary(const ast::BinaryExpr &expr) {
  if (expr.op == ast::BinaryOperator::And || expr.op == ast::BinaryOperator::Or)
    return evaluateLogic(expr);
  Value left = evaluate(*expr.left);
  Value right = evaluate(*expr.right);
  if (left.isPoison() || right.isPoison())
    return Poison();
  if (left.as<Tensor>() || right.as<Tensor>())
    return host_ ? host_->joinTensors(expr, left, right) : Value();
  return arithmetic(elaboration_, expr, left, right);
}

Value Evaluator::evaluateLogic(const ast::BinaryExpr &expr) {
  bool isAnd = expr.op == ast::BinaryOperator::And;
  std::string_view what = isAnd ? "an operand of `and`" : "an operand of `or`";
  auto left = boolean(*expr.left, what);
  if (!left)
    return Poison();
  if (*left != isAnd)
    return *left;
  auto right = boolean(*expr.right, what);
  return right ? Value(*right) : Value();
}

Value Evaluator::evaluateIf(const ast::IfExpr &expr) {
  auto condition = boolean(*expr.condition, "the condition of `if`");
  if (!condition)
    return Poison();
  return evaluate(*condition ? *expr.thenValue : *expr.elseValue);
}

Value Evaluator::evaluateCall(const ast::CallExpr &expr) {
  Symbol symbol = file_->find(expr.callee);
  if (symbol && llvm::isa<ast::ModelDecl>(symbol.decl)) {
    auto instance = instantiate({symbol.decl, symbol.home}, expr.arguments,
                                *this, expr.span);
    return instance ? Value(ModelValue{instance}) : Value();
  }
  bool isFunctionCall =
      expr.callee.isSimple() && !symbol && isFunction(expr.callee.first());
  if (isFunctionCall)
    return evaluateFunction(expr);
  if (host_)
    return host_->callTensor(expr);
  if (symbol || findOperator(expr.callee.first())) {
    elaboration_.emitter().report(
        expr.callee.span, Kind::WrongKind,
        "`{}` cannot be called where a constant is expected",
        elaboration_.text(expr.callee.span));
    return Poison();
  }
  std::vector<std::string_view> names = file_->names();
  names.insert(names.end(), functionNames().begin(), functionNames().end());
  elaboration_.emitter()
      .report(expr.callee.span, Kind::UnknownName, "nothing is called `{}`",
              elaboration_.text(expr.callee.span))
      .suggest(expr.callee.span,
               diag::nearestName(elaboration_.text(expr.callee.span), names));
  return Poison();
}

/// A weight in a model; elsewhere the first of a cluster, `h100_pods[gpus]`.
Value Evaluator::evaluateIndex(const ast::IndexExpr &expr) {
  if (host_ && !expr.count)
    return host_->declareWeight(expr);
  ast::NameExpr name;
  name.kind = ast::ExprKind::Name;
  name.span = expr.name.span;
  name.name = {{&expr.name, 1}, expr.name.span};
  Value value = evaluate(name);
  if (value.isPoison())
    return value;
  auto *decl = value.as<DeclValue>();
  auto *cluster = decl ? llvm::dyn_cast<ast::ClusterDecl>(decl->decl) : nullptr;
  bool hasCount = expr.count || expr.dimensions.names.size() == 1;
  if (!cluster || !hasCount) {
    elaboration_.emitter().report(expr.span, Kind::TypeMismatch,
                                  "`{}` is no constant",
                                  elaboration_.text(expr.span));
    return Poison();
  }
  const ast::Expr *count = expr.count;
  if (!count) {
    const ast::Name &only = expr.dimensions.names.front();
    name.span = only.span;
    name.name = {{&only, 1}, only.span};
    count = &name;
  }
  auto accelerators = integer(*count, "a number of accelerators");
  if (!accelerators)
    return Poison();
  return ClusterValue{cluster, decl->home, accelerators, count->span};
}

Value Evaluator::evaluateFunction(const ast::CallExpr &expr) {
  std::vector<Value> arguments;
  for (const ast::Argument &argument : expr.arguments) {
    if (argument.name.isPresent()) {
      elaboration_.emitter().report(argument.name.span, Kind::UnknownArgument,
                                    "`{}` takes no argument called `{}`",
                                    expr.callee.first(), argument.name.text);
      return Poison();
    }
    arguments.push_back(evaluate(*argument.value));
    if (arguments.back().isPoison())
      return Poison();
  }
  return callFunction(elaboration_, expr, arguments);
}

void Evaluator::reportType(SourceSpan span, std::string_view what,
                           std::string_view expected, const Value &value) {
  bool isReal = value.as<double>() != nullptr;
  bool wantsInteger = expected == "an integer";
  auto builder = elaboration_.emitter().report(
      span, Kind::TypeMismatch, "`{}` is {}; {} takes {}",
      elaboration_.text(span), describeType(value), what, expected);
  if (isReal && wantsInteger)
    std::move(builder).help("`//` divides integers and rounds down");
}

std::optional<std::int64_t> Evaluator::integer(const ast::Expr &expr,
                                               std::string_view what) {
  Value value = evaluate(expr);
  if (value.isPoison())
    return std::nullopt;
  if (auto *n = value.as<std::int64_t>())
    return *n;
  reportType(expr.span, what, "an integer", value);
  return std::nullopt;
}

std::optional<std::int64_t> Evaluator::atLeast(const ast::Expr &expr,
                                               std::string_view what,
                                               std::int64_t least) {
  auto value = integer(expr, what);
  if (!value || *value >= least)
    return value;
  elaboration_.emitter().report(expr.span, Kind::ValueOutOfRange,
                                "{} is {}; it is at least {}", what, *value,
                                least);
  return std::nullopt;
}

std::optional<double> Evaluator::quantity(const ast::Expr &expr,
                                          std::string_view what,
                                          Dimension dimension) {
  Value value = evaluate(expr);
  if (value.isPoison())
    return std::nullopt;
  if (!value.isNumber()) {
    reportType(expr.span, what, toString(dimension), value);
    return std::nullopt;
  }
  if (!(dimensionOf(value) == dimension)) {
    elaboration_.emitter().report(
        expr.span, Kind::UnitMismatch, "`{}` is {}; {} takes {}",
        elaboration_.text(expr.span), toString(dimensionOf(value)), what,
        toString(dimension));
    return std::nullopt;
  }
  return numberOf(value);
}

std::optional<bool> Evaluator::boolean(const ast::Expr &expr,
                                       std::string_view what) {
  Value value = evaluate(expr);
  if (value.isPoison())
    return std::nullopt;
  if (auto *b = value.as<bool>())
    return *b;
  reportType(expr.span, what, "true or false", value);
  return std::nullopt;
}

std::optional<std::string_view> Evaluator::word(const ast::Expr &expr,
                                                std::string_view what) {
  if (auto *name = llvm::dyn_cast<ast::NameExpr>(&expr);
      name && name->name.isSimple())
    return word(name->name.parts.front());
  Value value = evaluate(expr);
  if (value.isPoison())
    return std::nullopt;
  if (auto *found = value.as<Word>())
    return found->text;
  reportType(expr.span, what, "a word", value);
  return std::nullopt;
}

std::string_view Evaluator::word(const ast::Name &name) {
  Value value;
  if (const Binding *binding = locals_ ? locals_->find(name.text) : nullptr)
    value = binding->value;
  else if (Symbol symbol = file_->find(name.text))
    if (llvm::isa<ast::LetDecl>(symbol.decl) ||
        llvm::isa<ast::ParamDecl>(symbol.decl))
      value = elaboration_.valueOf(symbol, name.span);
  auto *found = value.as<Word>();
  return found ? found->text : name.text;
}

Value Evaluator::valueOrWord(const ast::Expr &expr) {
  auto *name = llvm::dyn_cast<ast::NameExpr>(&expr);
  if (name && name->name.isSimple() && !file_->find(name->name) &&
      !(locals_ && locals_->find(name->name.first())))
    return Word{name->name.first()};
  return evaluate(expr);
}

std::optional<DimensionName>
Evaluator::dimensionName(const ast::Expr &expr) const {
  auto *name = llvm::dyn_cast<ast::NameExpr>(&expr);
  if (!name)
    return std::nullopt;
  if (name->name.isSimple())
    if (const Binding *binding =
            locals_ ? locals_->find(name->name.first()) : nullptr)
      return binding->dimension;
  Symbol symbol = file_->find(name->name);
  if (!symbol || !(llvm::isa<ast::LetDecl>(symbol.decl) ||
                   llvm::isa<ast::ParamDecl>(symbol.decl)))
    return std::nullopt;
  return DimensionName{std::string(name->name.last()), ""};
}

} // namespace planc::sema
