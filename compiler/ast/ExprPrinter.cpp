#include "compiler/ast/Ast.h"
#include "compiler/ast/PrintPieces.h"

#include "llvm/Support/Casting.h"

#include <fmt/format.h>

namespace planc::ast {

using llvm::cast;

namespace {

/// How tightly an expression holds together; the grammar's order.
int tightness(const Expr &expr) {
  switch (expr.kind) {
  case ExprKind::At:
  case ExprKind::Per:
    return -1;
  case ExprKind::If:
    return 0;
  case ExprKind::Range:
    return 5;
  case ExprKind::Unary:
    return cast<UnaryExpr>(&expr)->op == UnaryOperator::Not ? 3 : 8;
  case ExprKind::Binary:
    break;
  default:
    return 10;
  }
  switch (cast<BinaryExpr>(&expr)->op) {
  case BinaryOperator::Or:
    return 1;
  case BinaryOperator::And:
    return 2;
  case BinaryOperator::Add:
  case BinaryOperator::Subtract:
    return 6;
  case BinaryOperator::Multiply:
  case BinaryOperator::Divide:
  case BinaryOperator::FloorDivide:
  case BinaryOperator::Modulo:
    return 7;
  case BinaryOperator::Power:
    return 9;
  default:
    return 4;
  }
}

std::string operand(const Expr &expr, int least) {
  std::string text = printExpr(expr);
  return tightness(expr) < least ? fmt::format("({})", text) : text;
}

std::string printReal(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos)
    text += ".0";
  return text;
}

std::string printBinary(const BinaryExpr &binary) {
  int own = tightness(binary);
  // Only `**` groups from the right; comparisons do not chain at all.
  bool fromRight = binary.op == BinaryOperator::Power;
  bool chains = !isComparison(binary.op);
  return fmt::format(
      "{} {} {}", operand(*binary.left, own + (fromRight || !chains)),
      spelling(binary.op), operand(*binary.right, own + !fromRight));
}

std::string printUnary(const UnaryExpr &unary) {
  return fmt::format("{}{}{}", spelling(unary.op),
                     unary.op == UnaryOperator::Not ? " " : "",
                     operand(*unary.operand, tightness(unary)));
}

std::string printPer(const PerExpr &per) {
  std::string out =
      fmt::format("{} per {}", printExpr(*per.count), printExpr(*per.time));
  if (per.population)
    out += fmt::format(" of {}", printExpr(*per.population));
  return out;
}

std::string printQuantity(const QuantityExpr &quantity) {
  if (quantity.isInteger)
    return fmt::format("{}{}", quantity.integer, quantity.unit);
  return fmt::format("{}{}", quantity.value, quantity.unit);
}

} // namespace

std::string printText(std::string_view value) {
  std::string out = "\"";
  for (char c : value) {
    if (c == '"' || c == '\\')
      out += '\\';
    if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else
      out += c;
  }
  return out + "\"";
}

std::string printName(const Name &name) { return std::string(name.text); }

std::string printPath(const QualifiedName &path) {
  std::string out;
  for (const Name &part : path.parts) {
    if (!out.empty())
      out += '.';
    out += part.text;
  }
  return out;
}

std::string printArgument(const Argument &argument) {
  if (argument.isDropped())
    return fmt::format("not {}", argument.name.text);
  if (!argument.name.isPresent())
    return printExpr(*argument.value);
  return fmt::format("{} = {}", argument.name.text, printExpr(*argument.value));
}

std::string printDimensions(const Dimensions &dimensions) {
  std::size_t bar = dimensions.barAt;
  std::string out = "[";
  if (dimensions.hasBar())
    out += joined(dimensions.names.first(bar), printName) + " | ";
  return out + joined(dimensions.names.subspan(bar), printName) + "]";
}

std::string printExprPointer(const Expr *expr) { return printExpr(*expr); }

std::string printExpr(const Expr &expr) {
  switch (expr.kind) {
  case ExprKind::Integer:
    return fmt::format("{}", cast<IntegerExpr>(&expr)->value);
  case ExprKind::Real:
    return printReal(cast<RealExpr>(&expr)->value);
  case ExprKind::Quantity:
    return printQuantity(*cast<QuantityExpr>(&expr));
  case ExprKind::Text:
    return printText(cast<TextExpr>(&expr)->value);
  case ExprKind::Bool:
    return cast<BoolExpr>(&expr)->value ? "true" : "false";
  case ExprKind::Name:
    return printPath(cast<NameExpr>(&expr)->name);
  case ExprKind::List:
    return fmt::format("[{}]",
                       joined(cast<ListExpr>(&expr)->items, printExprPointer));
  case ExprKind::Range:
    return fmt::format("{}..{}", operand(*cast<RangeExpr>(&expr)->low, 6),
                       operand(*cast<RangeExpr>(&expr)->high, 6));
  case ExprKind::Unary:
    return printUnary(*cast<UnaryExpr>(&expr));
  case ExprKind::Binary:
    return printBinary(*cast<BinaryExpr>(&expr));
  case ExprKind::If: {
    auto *choice = cast<IfExpr>(&expr);
    return fmt::format("if {} then {} else {}", printExpr(*choice->condition),
                       printExpr(*choice->thenValue),
                       printExpr(*choice->elseValue));
  }
  case ExprKind::Call:
    return fmt::format("{}({})", printPath(cast<CallExpr>(&expr)->callee),
                       joined(cast<CallExpr>(&expr)->arguments, printArgument));
  case ExprKind::Index:
    if (const Expr *count = cast<IndexExpr>(&expr)->count)
      return fmt::format("{}[{}]", cast<IndexExpr>(&expr)->name.text,
                         printExpr(*count));
    return fmt::format("{}{}", cast<IndexExpr>(&expr)->name.text,
                       printDimensions(cast<IndexExpr>(&expr)->dimensions));
  case ExprKind::At:
    return fmt::format("{} at {}", printExpr(*cast<AtExpr>(&expr)->value),
                       printExpr(*cast<AtExpr>(&expr)->at));
  case ExprKind::Per:
    return printPer(*cast<PerExpr>(&expr));
  }
  return "";
}

} // namespace planc::ast
