// Pieces that the printers of declarations and of expressions share.
#pragma once

#include "compiler/ast/Expr.h"

#include <string>

namespace planc::ast {

/// `text` of each item, with commas between.
template <class T, class F>
std::string joined(std::span<const T> list, F text) {
  std::string out;
  for (const T &item : list) {
    if (!out.empty())
      out += ", ";
    out += text(item);
  }
  return out;
}

std::string printName(const Name &name);
std::string printPath(const QualifiedName &path);
/// `name = value`, `value`, or `not name` where it is dropped.
std::string printArgument(const Argument &argument);
/// `[a | b, c]`.
std::string printDimensions(const Dimensions &dimensions);
/// In quotation marks, with escapes.
std::string printText(std::string_view value);
std::string printExprPointer(const Expr *expr);

} // namespace planc::ast
