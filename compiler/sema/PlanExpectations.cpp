// `expect`: comparisons of metrics of the report.
#include "compiler/sema/PlanBuilder.h"

#include "compiler/diag/Kinds.h"
#include "llvm/Support/Casting.h"

#include <fmt/core.h>

namespace planc::sema {

using diag::Kind;

namespace {

struct MetricRow {
  std::string_view name;
  Dimension dimension;
  std::string_view arguments; ///< separated by spaces
};
constexpr MetricRow kMetrics[] = {
#define PLANC_METRIC(Name, Dimension, Arguments) {Name, Dimension, Arguments},
#include "compiler/sema/Metrics.def"
};

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    std::size_t space = text.find(' ');
    out.push_back(text.substr(0, space));
    text = space == std::string_view::npos ? "" : text.substr(space + 1);
  }
  return out;
}

Expectation::Comparison comparisonOf(ast::BinaryOperator op, bool isTurned) {
  using Comparison = Expectation::Comparison;
  switch (op) {
  case ast::BinaryOperator::Less:
    return isTurned ? Comparison::Greater : Comparison::Less;
  case ast::BinaryOperator::LessEqual:
    return isTurned ? Comparison::GreaterEqual : Comparison::LessEqual;
  case ast::BinaryOperator::Greater:
    return isTurned ? Comparison::Less : Comparison::Greater;
  case ast::BinaryOperator::GreaterEqual:
    return isTurned ? Comparison::LessEqual : Comparison::GreaterEqual;
  default:
    return Comparison::Equal;
  }
}

bool isMetric(const ast::Expr &expr) {
  auto *name = llvm::dyn_cast<ast::NameExpr>(&expr);
  auto *call = llvm::dyn_cast<ast::CallExpr>(&expr);
  if (!name && !call)
    return false;
  const ast::QualifiedName &found = name ? name->name : call->callee;
  for (const MetricRow &row : kMetrics)
    if (found.isSimple() && row.name == found.first())
      return true;
  return false;
}

} // namespace

bool PlanBuilder::buildExpectations() {
  bool isSound = true;
  for (const KeyedEntry &entry : text_.expect) {
    auto built = expectation(entry);
    isSound = isSound && built;
    if (built)
      plan_.expectations.push_back(std::move(*built));
  }
  return isSound;
}

std::optional<Expectation> PlanBuilder::expectation(const KeyedEntry &entry) {
  auto *binary = llvm::cast<ast::BinaryExpr>(entry.value);
  bool isTurned = !isMetric(*binary->left) && isMetric(*binary->right);
  const ast::Expr &metric = isTurned ? *binary->right : *binary->left;
  const ast::Expr &limit = isTurned ? *binary->left : *binary->right;
  if (binary->op == ast::BinaryOperator::NotEqual) {
    elaboration_.emitter().report(binary->opSpan, Kind::NotAComparison,
                                  "`!=` asks nothing of a metric");
    return std::nullopt;
  }
  Expectation out;
  Dimension dimension;
  if (!readMetric(metric, out, dimension))
    return std::nullopt;
  Evaluator evaluator = in(entry.scope);
  auto value =
      evaluator.quantity(limit, fmt::format("`{}`", out.metric), dimension);
  if (!value)
    return std::nullopt;
  out.comparison = comparisonOf(binary->op, isTurned);
  out.value = *value;
  out.text = std::string(elaboration_.text(binary->span));
  out.origin = originOf(entry.span);
  return out;
}

bool PlanBuilder::readMetric(const ast::Expr &metric, Expectation &out,
                             Dimension &dimension) {
  auto *call = llvm::dyn_cast<ast::CallExpr>(&metric);
  auto *name = llvm::dyn_cast<ast::NameExpr>(&metric);
  if (!call && !name) {
    elaboration_.emitter()
        .report(metric.span, Kind::NotAComparison, "`{}` is no metric",
                elaboration_.text(metric.span))
        .help("as in `expect mfu(full) >= 36%`");
    return false;
  }
  const ast::QualifiedName &callee = call ? call->callee : name->name;
  out.metric = std::string(elaboration_.text(callee.span));
  std::vector<std::string_view> names;
  const MetricRow *row = nullptr;
  for (const MetricRow &candidate : kMetrics) {
    names.push_back(candidate.name);
    if (candidate.name == out.metric)
      row = &candidate;
  }
  if (!row) {
    elaboration_.emitter()
        .report(callee.span, Kind::UnknownMetric, "no metric is called `{}`",
                out.metric)
        .suggest(callee.span, diag::nearestName(out.metric, names));
    return false;
  }
  dimension = row->dimension;
  if (!call)
    return true;
  std::vector<std::string_view> allowed = split(row->arguments);
  const ast::Argument *argument =
      call->arguments.size() == 1 ? &call->arguments.front() : nullptr;
  if (!argument || allowed.empty()) {
    elaboration_.emitter().report(
        call->span, Kind::UnknownArgument, "`{}` takes {}", out.metric,
        allowed.empty() ? "no argument" : "one argument");
    return false;
  }
  auto known = oneOf(argument->span, fmt::format("kind of {}", out.metric),
                     elaboration_.text(argument->span), allowed);
  out.argument = std::string(known.value_or(""));
  return known.has_value();
}

} // namespace planc::sema
