#include "compiler/ast/Expr.h"

namespace planc::ast {

std::string_view spelling(UnaryOperator op) {
  switch (op) {
  case UnaryOperator::Plus:
    return "+";
  case UnaryOperator::Minus:
    return "-";
  case UnaryOperator::Not:
    return "not";
  }
  return "";
}

std::string_view spelling(BinaryOperator op) {
  switch (op) {
  case BinaryOperator::Add:
    return "+";
  case BinaryOperator::Subtract:
    return "-";
  case BinaryOperator::Multiply:
    return "*";
  case BinaryOperator::Divide:
    return "/";
  case BinaryOperator::FloorDivide:
    return "//";
  case BinaryOperator::Modulo:
    return "mod";
  case BinaryOperator::Power:
    return "**";
  case BinaryOperator::Equal:
    return "==";
  case BinaryOperator::NotEqual:
    return "!=";
  case BinaryOperator::Less:
    return "<";
  case BinaryOperator::LessEqual:
    return "<=";
  case BinaryOperator::Greater:
    return ">";
  case BinaryOperator::GreaterEqual:
    return ">=";
  case BinaryOperator::And:
    return "and";
  case BinaryOperator::Or:
    return "or";
  }
  return "";
}

bool isComparison(BinaryOperator op) {
  switch (op) {
  case BinaryOperator::Equal:
  case BinaryOperator::NotEqual:
  case BinaryOperator::Less:
  case BinaryOperator::LessEqual:
  case BinaryOperator::Greater:
  case BinaryOperator::GreaterEqual:
    return true;
  default:
    return false;
  }
}

} // namespace planc::ast
