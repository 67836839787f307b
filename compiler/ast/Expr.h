// Expressions, and the small pieces every family of nodes is made of.
#pragma once

#include "compiler/source/SourceFile.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace planc::ast {

using source::SourceSpan;

enum class ExprKind : std::uint8_t {
#define PLANC_EXPR(Name) Name,
#include "compiler/ast/NodeKinds.def"
};

/// One identifier where it stands. Empty and without a valid span where the
/// text may leave it out.
struct Name {
  std::string_view text;
  SourceSpan span;

  bool isPresent() const { return span.isValid(); }
};

/// `a`, `a.b.c`; at least one part.
struct QualifiedName {
  std::span<const Name> parts;
  SourceSpan span;

  bool isSimple() const { return parts.size() == 1; }
  std::string_view first() const { return parts.front().text; }
  std::string_view last() const { return parts.back().text; }
};

/// Base of every expression; `kind` says which. Use llvm::isa, cast, dyn_cast.
/// Expressions nest at most about 500 deep (compiler/syntax/Prescan.h), so
/// walks may recurse.
struct Expr {
  ExprKind kind;
  SourceSpan span;
};

/// Helper of the node types below: the kind as a constant, and classof.
template <ExprKind K> struct ExprOf : Expr {
  static constexpr ExprKind kKind = K;
  static bool classof(const Expr *e) { return e->kind == K; }
};

/// `value` in a call, a list of keyed values or a field: `name = value`, or
/// `value` alone (name absent). In clauses of a `with`, `not name` drops the
/// key: then `value` is null.
struct Argument {
  Name name;
  const Expr *value = nullptr;
  SourceSpan span;

  bool isDropped() const { return value == nullptr; }
};

struct IntegerExpr : ExprOf<ExprKind::Integer> {
  std::int64_t value = 0;
};

struct RealExpr : ExprOf<ExprKind::Real> {
  double value = 0; ///< finite
};

/// A number with its unit touching it. Any word is let through as a unit.
struct QuantityExpr : ExprOf<ExprKind::Quantity> {
  double value = 0;         ///< finite; the number before the unit
  bool isInteger = false;   ///< written without point or exponent, fits:
  std::int64_t integer = 0; ///< then this is the number, exactly
  std::string_view unit;    ///< `GB/s`, `%`, `stages`, `GB/size`
  SourceSpan unitSpan;
};

struct TextExpr : ExprOf<ExprKind::Text> {
  std::string_view value; ///< without quotes, escapes resolved
};

struct BoolExpr : ExprOf<ExprKind::Bool> {
  bool value = false;
};

/// Also `none`, `all`, `auto` and the names of schedules, `1F1B` included.
struct NameExpr : ExprOf<ExprKind::Name> {
  QualifiedName name;
};

struct ListExpr : ExprOf<ExprKind::List> {
  std::span<const Expr *const> items;
};

struct RangeExpr : ExprOf<ExprKind::Range> {
  const Expr *low = nullptr;
  const Expr *high = nullptr;
};

enum class UnaryOperator : std::uint8_t { Plus, Minus, Not };

enum class BinaryOperator : std::uint8_t {
  Add,
  Subtract,
  Multiply,
  Divide,
  FloorDivide,
  Modulo,
  Power,
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  And,
  Or,
};

/// As written: `+`, `//`, `mod`, `and` …
std::string_view spelling(UnaryOperator op);
std::string_view spelling(BinaryOperator op);
bool isComparison(BinaryOperator op);

struct UnaryExpr : ExprOf<ExprKind::Unary> {
  UnaryOperator op = UnaryOperator::Plus;
  const Expr *operand = nullptr;
};

/// A comparison is never the direct operand of a comparison.
struct BinaryExpr : ExprOf<ExprKind::Binary> {
  BinaryOperator op = BinaryOperator::Add;
  SourceSpan opSpan;
  const Expr *left = nullptr;
  const Expr *right = nullptr;
};

struct IfExpr : ExprOf<ExprKind::If> {
  const Expr *condition = nullptr;
  const Expr *thenValue = nullptr;
  const Expr *elseValue = nullptr;
};

/// Positional arguments stand before named ones; no name twice.
struct CallExpr : ExprOf<ExprKind::Call> {
  QualifiedName callee;
  std::span<const Argument> arguments;
};

/// `[a, b]` or `[a | b, c]`: dimensions by name. `barAt` is how many stand
/// before the bar, 0 without one.
struct Dimensions {
  std::span<const Name> names;
  std::size_t barAt = 0;
  SourceSpan span;

  bool hasBar() const { return barAt != 0; }
};

/// `name[dims]`: a weight, declared at its first use. Outside of bodies
/// `cluster[64]` has a `count` and no dimensions.
struct IndexExpr : ExprOf<ExprKind::Index> {
  Name name;
  Dimensions dimensions;
  const Expr *count = nullptr;
};

struct AtExpr : ExprOf<ExprKind::At> {
  const Expr *value = nullptr;
  const Expr *at = nullptr;
};

/// `count per time of population`; `population` may be null.
struct PerExpr : ExprOf<ExprKind::Per> {
  const Expr *count = nullptr;
  const Expr *time = nullptr;
  const Expr *population = nullptr;
};

} // namespace planc::ast
