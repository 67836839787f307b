#include "compiler/syntax/AstBuilder.h"

#include "compiler/diag/Kinds.h"

#include <charconv>
#include <cmath>

namespace planc::syntax {

using ast::BinaryOperator;
using diag::Kind;
using source::SourceSpan;

namespace {

BinaryOperator operatorOf(std::size_t token) {
  switch (token) {
  case PlanParser::PLUS:
    return BinaryOperator::Add;
  case PlanParser::MINUS:
    return BinaryOperator::Subtract;
  case PlanParser::STAR:
    return BinaryOperator::Multiply;
  case PlanParser::SLASH:
    return BinaryOperator::Divide;
  case PlanParser::FLOOR_DIVIDE:
    return BinaryOperator::FloorDivide;
  case PlanParser::MOD:
    return BinaryOperator::Modulo;
  case PlanParser::POWER:
    return BinaryOperator::Power;
  case PlanParser::EQUAL:
    return BinaryOperator::Equal;
  case PlanParser::NOT_EQUAL:
    return BinaryOperator::NotEqual;
  case PlanParser::LESS:
    return BinaryOperator::Less;
  case PlanParser::LESS_EQUAL:
    return BinaryOperator::LessEqual;
  case PlanParser::GREATER:
    return BinaryOperator::Greater;
  case PlanParser::GREATER_EQUAL:
    return BinaryOperator::GreaterEqual;
  case PlanParser::AND:
    return BinaryOperator::And;
  default:
    return BinaryOperator::Or;
  }
}

bool isComparisonExpr(const ast::Expr *expr) {
  if (expr->kind != ast::ExprKind::Binary)
    return false;
  return ast::isComparison(static_cast<const ast::BinaryExpr *>(expr)->op);
}

/// Length of the number a quantity starts with, as the lexer cuts it.
std::size_t numberLength(std::string_view text) {
  auto digitsFrom = [&](std::size_t at) {
    while (at < text.size() && text[at] >= '0' && text[at] <= '9')
      ++at;
    return at;
  };
  std::size_t end = digitsFrom(0);
  if (end + 1 < text.size() && text[end] == '.')
    end = digitsFrom(end + 1);
  if (end < text.size() && (text[end] == 'e' || text[end] == 'E')) {
    std::size_t sign = end + 1;
    if (sign < text.size() && (text[sign] == '+' || text[sign] == '-'))
      ++sign;
    if (std::size_t exponent = digitsFrom(sign); exponent > sign)
      end = exponent;
  }
  return end;
}

bool isWhole(std::string_view number) {
  return number.find_first_of(".eE") == std::string_view::npos;
}

} // namespace

std::span<const ast::Expr *const>
AstBuilder::exprs(const std::vector<PlanParser::ExprContext *> &contexts) {
  return each<const ast::Expr *>(contexts, [&](auto *c) { return expr(c); });
}

const ast::Expr *AstBuilder::expr(PlanParser::ExprContext *context) {
  if (auto *group = dynamic_cast<PlanParser::GroupExprContext *>(context))
    return expr(group->expr());
  if (const ast::Expr *found = leaf(context))
    return found;
  if (const ast::Expr *found = prefix(context))
    return found;
  return binary(context);
}

const ast::Expr *AstBuilder::leaf(PlanParser::ExprContext *context) {
  if (auto *c = dynamic_cast<PlanParser::NameExprContext *>(context)) {
    auto *node = make<ast::NameExpr>(c);
    node->name = qualified(c->qualifiedName());
    return node;
  }
  if (auto *c = dynamic_cast<PlanParser::CallExprContext *>(context))
    return call(c, qualified(c->qualifiedName()), c->arguments());
  if (auto *c = dynamic_cast<PlanParser::IndexExprContext *>(context))
    return index(c);
  if (dynamic_cast<PlanParser::NumberExprContext *>(context))
    return number(context);
  if (dynamic_cast<PlanParser::QuantityExprContext *>(context))
    return quantity(context);
  if (auto *c = dynamic_cast<PlanParser::ListExprContext *>(context))
    return list(c);
  if (dynamic_cast<PlanParser::TextExprContext *>(context)) {
    auto *node = make<ast::TextExpr>(context);
    node->value = unquoted(node->span);
    return node;
  }
  if (dynamic_cast<PlanParser::BoolExprContext *>(context)) {
    auto *node = make<ast::BoolExpr>(context);
    node->value = text(node->span) == "true";
    return node;
  }
  if (dynamic_cast<PlanParser::ScheduleExprContext *>(context)) {
    auto *node = make<ast::NameExpr>(context);
    std::vector<ast::Name> parts{{text(node->span), node->span}};
    node->name = {arena_.copy(parts), node->span};
    return node;
  }
  return nullptr;
}

const ast::Expr *AstBuilder::prefix(PlanParser::ExprContext *context) {
  if (auto *c = dynamic_cast<PlanParser::SignExprContext *>(context)) {
    auto *node = make<ast::UnaryExpr>(c);
    node->op =
        c->MINUS() ? ast::UnaryOperator::Minus : ast::UnaryOperator::Plus;
    node->operand = expr(c->expr());
    return node;
  }
  if (auto *c = dynamic_cast<PlanParser::NotExprContext *>(context)) {
    auto *node = make<ast::UnaryExpr>(c);
    node->op = ast::UnaryOperator::Not;
    node->operand = expr(c->expr());
    return node;
  }
  if (auto *c = dynamic_cast<PlanParser::IfExprContext *>(context)) {
    auto *node = make<ast::IfExpr>(c);
    node->condition = expr(c->expr(0));
    node->thenValue = expr(c->expr(1));
    node->elseValue = expr(c->expr(2));
    return node;
  }
  return nullptr;
}

const ast::Expr *AstBuilder::binary(PlanParser::ExprContext *context) {
  auto *leftContext =
      dynamic_cast<PlanParser::ExprContext *>(context->children[0]);
  auto *sign = dynamic_cast<antlr4::tree::TerminalNode *>(context->children[1]);
  auto *rightContext =
      dynamic_cast<PlanParser::ExprContext *>(context->children[2]);
  const ast::Expr *left = expr(leftContext);
  const ast::Expr *right = expr(rightContext);
  std::size_t token = sign->getSymbol()->getType();
  if (token == PlanParser::RANGE) {
    auto *node = make<ast::RangeExpr>(context);
    node->low = left;
    node->high = right;
    return node;
  }
  auto *node = make<ast::BinaryExpr>(context);
  node->op = operatorOf(token);
  node->opSpan = spanOf(sign);
  node->left = left;
  node->right = right;
  // `(a < b) == c` is no chain: the user said what is compared.
  bool chained =
      isComparison(node->op) && isComparisonExpr(left) &&
      dynamic_cast<PlanParser::CompareExprContext *>(leftContext) != nullptr;
  if (chained)
    emitter_
        .report(node->opSpan, Kind::ComparisonChain, "comparisons do not chain")
        .help("join two comparisons with `and`");
  return node;
}

std::optional<std::int64_t> AstBuilder::wholeNumber(SourceSpan span) {
  std::string_view digits = text(span);
  std::int64_t value = 0;
  auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc())
    return value;
  emitter_
      .report(span, Kind::NumberTooLarge,
              "the whole number does not fit in 64 bits")
      .note("the largest is 9223372036854775807");
  return std::nullopt;
}

std::optional<double> AstBuilder::realNumber(SourceSpan span) {
  std::string_view digits = text(span);
  double value = 0;
  auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value);
  // Too small a number is zero, as in every other place.
  if (error == std::errc() && std::isfinite(value))
    return value;
  std::size_t exponent = digits.find_first_of("eE");
  bool tiny = exponent != std::string_view::npos &&
              digits.substr(exponent + 1, 1) == "-";
  if (tiny)
    return 0.0;
  emitter_
      .report(span, Kind::NumberTooLarge, "the number does not fit in a double")
      .note("the largest is about 1.8e308");
  return std::nullopt;
}

const ast::Expr *AstBuilder::number(PlanParser::ExprContext *context) {
  SourceSpan span = spanOf(context);
  if (isWhole(text(span))) {
    auto *node = make<ast::IntegerExpr>(context);
    node->value = wholeNumber(span).value_or(0);
    return node;
  }
  auto *node = make<ast::RealExpr>(context);
  node->value = realNumber(span).value_or(0);
  return node;
}

const ast::Expr *AstBuilder::quantity(PlanParser::ExprContext *context) {
  auto *node = make<ast::QuantityExpr>(context);
  SourceSpan span = node->span;
  auto split =
      static_cast<std::uint32_t>(span.begin + numberLength(text(span)));
  SourceSpan digits{span.file, span.begin, split};
  node->unitSpan = {span.file, split, span.end};
  node->unit = text(node->unitSpan);
  if (isWhole(text(digits))) {
    node->isInteger = true;
    node->integer = wholeNumber(digits).value_or(0);
    node->value = static_cast<double>(node->integer);
  } else {
    node->value = realNumber(digits).value_or(0);
  }
  return node;
}

const ast::Expr *AstBuilder::list(PlanParser::ListExprContext *context) {
  auto *node = make<ast::ListExpr>(context);
  node->items = each<const ast::Expr *>(context->listItem(),
                                        [&](auto *c) { return listItem(c); });
  return node;
}

const ast::Expr *AstBuilder::listItem(PlanParser::ListItemContext *context) {
  if (!context->expr(1))
    return expr(context->expr(0));
  auto *node = make<ast::AtExpr>(context);
  node->value = expr(context->expr(0));
  node->at = expr(context->expr(1));
  return node;
}

namespace {

/// The number of accelerators in `cluster[64]`; null in a body, where brackets
/// hold dimensions, and for a name, which may be either.
PlanParser::ExprContext *countOf(PlanParser::IndexExprContext *context) {
  for (antlr4::tree::ParseTree *at = context; at; at = at->parent)
    if (dynamic_cast<PlanParser::StatementContext *>(at))
      return nullptr;
  auto lists = context->dimensions()->dimensionList();
  if (lists.size() != 1 || lists.front()->expr().size() != 1)
    return nullptr;
  PlanParser::ExprContext *only = lists.front()->expr(0);
  return dynamic_cast<PlanParser::NameExprContext *>(only) ? nullptr : only;
}

} // namespace

const ast::Expr *AstBuilder::index(PlanParser::IndexExprContext *context) {
  auto *node = make<ast::IndexExpr>(context);
  ast::QualifiedName path = qualified(context->qualifiedName());
  if (!path.isSimple())
    emitter_.report(path.span, Kind::DottedName,
                    "a weight has a name without dots");
  node->name = path.parts.front();
  if (PlanParser::ExprContext *count = countOf(context)) {
    node->count = expr(count);
    node->dimensions.span = spanOf(context->dimensions());
  } else {
    node->dimensions = dimensions(context->dimensions());
  }
  return node;
}

const ast::Expr *AstBuilder::reference(PlanParser::ReferenceContext *context) {
  ast::QualifiedName path = qualified(context->qualifiedName());
  if (context->arguments())
    return call(context, path, context->arguments());
  auto *node = make<ast::NameExpr>(context);
  node->name = path;
  return node;
}

const ast::Expr *AstBuilder::call(const Context *context,
                                  ast::QualifiedName callee,
                                  PlanParser::ArgumentsContext *list) {
  auto *node = make<ast::CallExpr>(context);
  node->callee = callee;
  node->arguments = arguments(list);
  return node;
}

std::span<const ast::Argument>
AstBuilder::arguments(PlanParser::ArgumentsContext *context) {
  const ast::Argument *named = nullptr;
  auto out = each<ast::Argument>(context->argument(), [&](auto *c) {
    if (auto *n = dynamic_cast<PlanParser::NamedArgumentContext *>(c))
      return ast::Argument{name(n->name()), expr(n->expr()), spanOf(n)};
    auto *p = dynamic_cast<PlanParser::PositionalArgumentContext *>(c);
    return ast::Argument{{}, expr(p->expr()), spanOf(p)};
  });
  for (const ast::Argument &argument : out) {
    if (argument.name.isPresent())
      named = &argument;
    else if (named)
      emitter_
          .report(argument.span, Kind::PositionalAfterNamed,
                  "an argument by position stands after `{}`, which is named",
                  named->name.text)
          .help("move it before the named ones, or name it");
  }
  checkDuplicates(out);
  return out;
}

} // namespace planc::syntax
