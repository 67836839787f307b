// Operators that a file declares with `op`.
#include "compiler/diag/Kinds.h"
#include "compiler/sema/Fields.h"
#include "compiler/sema/ModelBuilder.h"

#include "llvm/Support/Casting.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace planc::sema {

using ast::BinaryOperator;
using diag::Kind;

namespace {

constexpr std::size_t kMaxTerms = 256;
constexpr std::size_t kMaxFactors = 16;

using Terms = std::vector<ops::Term>;

/// The product, if it is not too large.
std::optional<Terms> product(const Terms &a, const Terms &b) {
  if (a.size() * b.size() > kMaxTerms)
    return std::nullopt;
  Terms out;
  for (const ops::Term &x : a)
    for (const ops::Term &y : b) {
      ops::Term term{x.coefficient * y.coefficient, x.factors};
      term.factors.insert(term.factors.end(), y.factors.begin(),
                          y.factors.end());
      if (term.factors.size() > kMaxFactors)
        return std::nullopt;
      out.push_back(std::move(term));
    }
  return out;
}

bool isConstant(const Terms &terms) {
  return std::all_of(terms.begin(), terms.end(), [](const ops::Term &term) {
    return term.factors.empty();
  });
}

double constantOf(const Terms &terms) {
  double sum = 0;
  for (const ops::Term &term : terms)
    sum += term.coefficient;
  return sum;
}

Terms scaled(Terms terms, double factor) {
  for (ops::Term &term : terms)
    term.coefficient *= factor;
  return terms;
}

void addTerms(std::string &key, const Terms &terms) {
  for (const ops::Term &term : terms) {
    key += fmt::format("+{}", term.coefficient);
    for (ops::DimId dim : term.factors)
      key += fmt::format("*{}", dim.index());
  }
  key += ';';
}

void addDims(std::string &key, const ops::Dims &dims) {
  for (ops::DimId dim : dims)
    key += fmt::format("{},", dim.index());
  key += ';';
}

} // namespace

Value ModelBuilder::callUserOp(const ast::OpDecl &decl, const FileScope &home,
                               const ast::CallExpr &call) {
  if (decl.results.size() != 1) {
    elaboration_.emitter().report(decl.name.span, Kind::Unsupported,
                                  "an op with {} results, yet",
                                  decl.results.size());
    return Poison();
  }
  Scope scope;
  scope.file = &home;
  std::vector<const ast::Expr *> tensors;
  if (!bindFormals(decl.formals, scope, call, &tensors))
    return Poison();
  OperatorCall out;
  out.kind = ops::OpKind::User;
  out.span = call.span;
  out.name = scope.path.substr(scope.path.rfind('.') + 1);
  for (const ast::Formal &formal : decl.formals)
    if (auto at = scope.variables.find(formal.name.text);
        at != scope.variables.end())
      out.operands.push_back(at->second.current);
  for (const ast::Expr *tensor : tensors)
    out.operandSpans.push_back(tensor->span);
  Scope *outer = std::exchange(scope_, &scope);
  std::optional<ops::UserOp> op = userOp(decl);
  scope_ = outer;
  if (!op)
    return Poison();
  out.attributes.userOp = shareUserOp(std::move(*op));
  out.userOp = &model_.userOps[out.attributes.userOp];
  return apply(std::move(out));
}

std::optional<ops::UserOp> ModelBuilder::userOp(const ast::OpDecl &decl) {
  ops::UserOp op;
  op.name = std::string(decl.name.text);
  auto result = resolve(decl.results.front());
  if (!result)
    return std::nullopt;
  op.result = *result;
  for (const ast::OpClause &clause : decl.clauses)
    if (!readClause(decl, clause, op))
      return std::nullopt;
  return op;
}

std::optional<std::size_t> ModelBuilder::operandIndex(const ast::OpDecl &decl,
                                                      const ast::Name &name) {
  std::size_t index = 0;
  std::vector<std::string_view> names;
  for (const ast::Formal &formal : decl.formals) {
    if (!scope_->variables.contains(formal.name.text))
      continue;
    if (formal.name.text == name.text)
      return index;
    names.push_back(formal.name.text);
    ++index;
  }
  elaboration_.emitter()
      .report(name.span, Kind::UnknownName, "`{}` has no tensor `{}`",
              decl.name.text, name.text)
      .suggest(name.span, diag::nearestName(name.text, names));
  return std::nullopt;
}

bool ModelBuilder::readClause(const ast::OpDecl &decl,
                              const ast::OpClause &clause, ops::UserOp &op) {
  if (clause.kind == ast::OpClauseKind::Saves) {
    for (const ast::Name &name : clause.dimensions) {
      auto index = operandIndex(decl, name);
      if (!index)
        return false;
      op.saves.push_back(*index);
    }
    return true;
  }
  if (clause.kind == ast::OpClauseKind::Field) {
    const ast::Name &name = clause.field.name;
    const ast::Expr &value = *clause.field.values.front().value;
    if (name.text == "backward") {
      Evaluator evaluator = this->evaluator();
      auto factor =
          readNumber(evaluator, value, "`backward`", {kNoDimension, 0, 1e6});
      op.backward = factor.value_or(op.backward);
      return factor.has_value();
    }
    bool isFlops = name.text == "flops";
    if (!isFlops && name.text != "bytes") {
      elaboration_.emitter()
          .report(name.span, Kind::UnknownField, "an op has no field `{}`",
                  name.text)
          .suggest(name.span, diag::nearestName(
                                  name.text, {"flops", "bytes", "backward"}));
      return false;
    }
    auto terms = polynomial(value);
    if (terms && !checkFormula(name, value, *terms))
      return false;
    if (terms)
      (isFlops ? op.flops : op.bytes) = std::move(*terms);
    return terms.has_value();
  }
  std::optional<std::size_t> operand;
  if (clause.kind == ast::OpClauseKind::Gathers) {
    operand = operandIndex(decl, clause.operand);
    if (!operand)
      return false;
  }
  for (const ast::Name &name : clause.dimensions) {
    auto dim = resolve(name);
    if (!dim)
      return false;
    if (clause.kind == ast::OpClauseKind::InOrder)
      op.inOrder.push_back(*dim);
    else if (clause.kind == ast::OpClauseKind::Contracts) {
      if (std::find(op.result.begin(), op.result.end(), *dim) !=
          op.result.end()) {
        elaboration_.emitter()
            .report(name.span, Kind::ShapeMismatch,
                    "`{}` is summed over and stands in the result", name.text)
            .note(decl.results.front().span, "the result is here");
        return false;
      }
      op.contracts.push_back(*dim);
    } else
      op.gathers.push_back({*operand, *dim});
  }
  return true;
}

/// What is wrong with a formula whatever the sizes are.
bool ModelBuilder::checkFormula(const ast::Name &name, const ast::Expr &expr,
                                const std::vector<ops::Term> &terms) {
  bool isFinite = true, isNegative = false, isPositive = false;
  for (const ops::Term &term : terms) {
    isFinite = isFinite && std::isfinite(term.coefficient);
    isNegative = isNegative || term.coefficient < 0;
    isPositive = isPositive || term.coefficient > 0;
  }
  if (isFinite && (!isNegative || isPositive))
    return true;
  elaboration_.emitter().report(
      expr.span, Kind::ValueOutOfRange, "`{}` is {}", name.text,
      isFinite ? "below zero; it is at least 0" : "beyond the largest number");
  return false;
}

/// A formula over dimensions of the operands; everything else in it is a
/// constant. Deep only as expressions are.
std::optional<Terms> ModelBuilder::polynomial(const ast::Expr &expr) {
  auto *name = llvm::dyn_cast<ast::NameExpr>(&expr);
  const Binding *binding = name && name->name.isSimple()
                               ? scope_->locals.find(name->name.first())
                               : nullptr;
  if (binding && binding->dimension) {
    auto at = dims_.find({binding->dimension->scope, binding->dimension->name});
    if (at != dims_.end())
      return Terms{{1.0, {at->second}}};
  }
  auto *binary = llvm::dyn_cast<ast::BinaryExpr>(&expr);
  auto isOperation = [&](BinaryOperator op) {
    return binary && binary->op == op;
  };
  if (isOperation(BinaryOperator::Add) ||
      isOperation(BinaryOperator::Subtract) ||
      isOperation(BinaryOperator::Multiply) ||
      isOperation(BinaryOperator::Divide)) {
    auto left = polynomial(*binary->left);
    auto right = polynomial(*binary->right);
    if (!left || !right)
      return std::nullopt;
    if (isOperation(BinaryOperator::Multiply)) {
      if (auto terms = product(*left, *right))
        return terms;
    } else if (!isOperation(BinaryOperator::Divide)) {
      double sign = isOperation(BinaryOperator::Add) ? 1 : -1;
      Terms other = scaled(std::move(*right), sign);
      left->insert(left->end(), other.begin(), other.end());
      if (left->size() <= kMaxTerms)
        return left;
    } else if (isConstant(*right) && constantOf(*right) != 0) {
      return scaled(std::move(*left), 1 / constantOf(*right));
    }
    elaboration_.emitter()
        .report(expr.span, Kind::ValueOutOfRange,
                "`{}` is no sum of products of dimensions",
                elaboration_.text(expr.span))
        .help("a formula is at most {} products of at most {} dimensions",
              kMaxTerms, kMaxFactors);
    return std::nullopt;
  }
  auto constant = evaluator().quantity(expr, "a formula", kNoDimension);
  if (!constant)
    return std::nullopt;
  return Terms{{*constant, {}}};
}

/// Calls that mean the same share one entry, so that equal iterations do too.
ops::UserOpId ModelBuilder::shareUserOp(ops::UserOp op) {
  std::string key = op.name + ";";
  addDims(key, op.result);
  addDims(key, op.contracts);
  addDims(key, op.inOrder);
  for (const ops::UserOp::Gathered &gather : op.gathers)
    key += fmt::format("{}:{},", gather.operand, gather.dim.index());
  addTerms(key, op.flops);
  addTerms(key, op.bytes);
  for (std::size_t index : op.saves)
    key += fmt::format("{},", index);
  key += fmt::format("{}", op.backward);
  auto [at, isNew] = userOps_.emplace(std::move(key), ops::UserOpId());
  if (isNew)
    at->second = model_.userOps.add(std::move(op));
  return at->second;
}

} // namespace planc::sema
