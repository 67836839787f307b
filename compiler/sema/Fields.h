// Fields of a declaration: one table of what may stand there, so that unknown
// ones get the nearest name and none stands twice.
#pragma once

#include "compiler/sema/Evaluate.h"

#include <functional>
#include <set>

namespace planc::sema {

/// Reads one field; false after a report.
struct FieldReader {
  std::string_view name;
  std::function<bool(const ast::Field &)> read;
};

/// Hands every field to the reader of its name. False after a report.
bool readFields(Elaboration &elaboration, std::string_view where,
                std::span<const ast::Field> fields,
                const std::vector<FieldReader> &readers);

/// The single value of a field that has no keys; null after a report.
const ast::Expr *singleValue(Elaboration &elaboration, const ast::Field &field);

/// How a number in a field may lie.
struct Bounds {
  Dimension dimension;
  double least = 0;
  double most = 9.2e18; ///< what 64 bits hold
  bool excludesLeast = false;
};
/// The number of a field, in base units.
std::optional<double> readNumber(Evaluator &evaluator, const ast::Field &field,
                                 const Bounds &bounds);
std::optional<double> readNumber(Evaluator &evaluator, const ast::Expr &expr,
                                 std::string_view what, const Bounds &bounds);

} // namespace planc::sema
