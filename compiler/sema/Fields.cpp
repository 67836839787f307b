#include "compiler/sema/Fields.h"

#include "compiler/diag/Kinds.h"

#include <fmt/core.h>

namespace planc::sema {

using diag::Kind;

bool readFields(Elaboration &elaboration, std::string_view where,
                std::span<const ast::Field> fields,
                const std::vector<FieldReader> &readers) {
  bool isSound = true;
  std::set<std::string_view> seen;
  for (const ast::Field &field : fields) {
    std::string_view name = field.name.text;
    const FieldReader *reader = nullptr;
    std::vector<std::string_view> names;
    for (const FieldReader &candidate : readers) {
      names.push_back(candidate.name);
      if (candidate.name == name)
        reader = &candidate;
    }
    if (!reader) {
      elaboration.emitter()
          .report(field.name.span, Kind::UnknownField, "{} has no field `{}`",
                  where, name)
          .suggest(field.name.span, diag::nearestName(name, names));
      isSound = false;
    } else if (!seen.insert(name).second) {
      elaboration.emitter().report(field.name.span, Kind::DuplicateField,
                                   "`{}` stands twice in {}", name, where);
      isSound = false;
    } else {
      isSound = reader->read(field) && isSound;
    }
  }
  return isSound;
}

const ast::Expr *singleValue(Elaboration &elaboration,
                             const ast::Field &field) {
  if (field.values.size() == 1 && !field.isKeyed())
    return field.values.front().value;
  elaboration.emitter().report(field.span, Kind::TypeMismatch,
                               "`{}` takes one value", field.name.text);
  return nullptr;
}

std::optional<double> readNumber(Evaluator &evaluator, const ast::Expr &expr,
                                 std::string_view what, const Bounds &bounds) {
  auto value = evaluator.quantity(expr, what, bounds.dimension);
  if (!value)
    return std::nullopt;
  bool isInside =
      (bounds.excludesLeast ? *value > bounds.least : *value >= bounds.least) &&
      *value <= bounds.most;
  if (isInside)
    return value;
  bool isOver = *value > bounds.most;
  constexpr double kSaid = 1e9; // beyond it a bound is a matter of bits
  std::string limits;
  if (!isOver || bounds.most < kSaid)
    limits =
        fmt::format("{} {}", bounds.excludesLeast ? "more than" : "at least",
                    formatQuantity(bounds.least, bounds.dimension));
  if (isOver || bounds.most < kSaid)
    limits += fmt::format("{}at most {}", limits.empty() ? "" : " and ",
                          formatQuantity(bounds.most, bounds.dimension));
  evaluator.elaboration().emitter().report(
      expr.span, Kind::ValueOutOfRange, "{} is {}; it is {}", what,
      evaluator.elaboration().text(expr.span), limits);
  return std::nullopt;
}

std::optional<double> readNumber(Evaluator &evaluator, const ast::Field &field,
                                 const Bounds &bounds) {
  const ast::Expr *value = singleValue(evaluator.elaboration(), field);
  if (!value)
    return std::nullopt;
  return readNumber(evaluator, *value, fmt::format("`{}`", field.name.text),
                    bounds);
}

} // namespace planc::sema
