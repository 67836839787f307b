// Operators and functions on values already known.
#include "compiler/sema/Evaluate.h"

#include "compiler/diag/Kinds.h"
#include "runtime/base/Checked.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace planc::sema {

using ast::BinaryOperator;
using diag::Kind;

namespace {

constexpr std::int64_t kMaxListItems = 1'000'000;
constexpr std::int32_t kMaxListDepth = 8;

/// One operation and where to complain.
struct Operation {
  Elaboration &elaboration;
  const ast::BinaryExpr &expr;
  const Value &left, &right;

  std::string_view leftText() const {
    return elaboration.text(expr.left->span);
  }
  std::string_view rightText() const {
    return elaboration.text(expr.right->span);
  }
};

Value reportOverflow(const Operation &o) {
  o.elaboration.emitter()
      .report(o.expr.span, Kind::NumberOutOfRange,
              "{} {} {} does not fit in 64 bits", describe(o.left),
              ast::spelling(o.expr.op), describe(o.right))
      .help("write one of them as a real number, with a point");
  return Poison();
}

Value reportZero(const Operation &o) {
  o.elaboration.emitter().report(o.expr.right->span, Kind::DivisionByZero,
                                 "`{}` is zero, and `{}` divides by it",
                                 o.rightText(), ast::spelling(o.expr.op));
  return Poison();
}

Value reportZeroBase(const Operation &o) {
  o.elaboration.emitter().report(
      o.expr.span, Kind::DivisionByZero,
      "`{}` is zero, and a negative power divides by "
      "it",
      o.leftText());
  return Poison();
}

Value reportTypes(const Operation &o) {
  o.elaboration.emitter()
      .report(o.expr.opSpan, Kind::TypeMismatch, "`{}` does not join {} and {}",
              ast::spelling(o.expr.op), describeType(o.left),
              describeType(o.right))
      .label(o.expr.left->span, "{}", describeType(o.left))
      .label(o.expr.right->span, "{}", describeType(o.right));
  return Poison();
}

Value reportUnits(const Operation &o) {
  std::string left = toString(dimensionOf(o.left));
  std::string right = toString(dimensionOf(o.right));
  o.elaboration.emitter()
      .report(o.expr.opSpan, Kind::UnitMismatch,
              "`{}` does not join `{}` ({}) and `{}` ({})",
              ast::spelling(o.expr.op), o.leftText(), left, o.rightText(),
              right)
      .label(o.expr.left->span, "{}", left)
      .label(o.expr.right->span, "{}", right);
  return Poison();
}

/// ⌊a / b⌋ and the rest that has b's sign; b is not 0, and not -1 where a is
/// the least integer.
std::int64_t floorDivide(std::int64_t a, std::int64_t b) {
  std::int64_t quotient = a / b;
  return quotient - (a % b != 0 && (a < 0) != (b < 0));
}

Value powerOfIntegers(const Operation &o, std::int64_t base,
                      std::int64_t exponent) {
  if (exponent < 0) {
    if (base == 0)
      return reportZeroBase(o);
    return std::pow(static_cast<double>(base), static_cast<double>(exponent));
  }
  if (base == 0 || base == 1)
    return exponent == 0 ? std::int64_t(1) : base;
  if (base == -1)
    return exponent % 2 == 0 ? std::int64_t(1) : base;
  std::int64_t out = 1;
  for (std::int64_t i = 0; i < exponent; ++i) {
    auto next = checkedMul(out, base);
    if (!next)
      return reportOverflow(o);
    out = *next;
  }
  return out;
}

/// The least integer is kept out, so that a sign and `//` always fit.
Value checkedInteger(const Operation &o, std::optional<std::int64_t> value) {
  if (!value || *value == std::numeric_limits<std::int64_t>::min())
    return reportOverflow(o);
  return *value;
}

Value onIntegers(const Operation &o, std::int64_t a, std::int64_t b) {
  switch (o.expr.op) {
  case BinaryOperator::Add:
    return checkedInteger(o, checkedAdd(a, b));
  case BinaryOperator::Subtract:
    return checkedInteger(o, checkedAdd(a, -b));
  case BinaryOperator::Multiply:
    return checkedInteger(o, checkedMul(a, b));
  case BinaryOperator::Divide:
    if (b == 0)
      return reportZero(o);
    return static_cast<double>(a) / static_cast<double>(b);
  case BinaryOperator::FloorDivide:
    return b == 0 ? reportZero(o) : Value(floorDivide(a, b));
  case BinaryOperator::Modulo:
    return b == 0 ? reportZero(o) : Value(a - floorDivide(a, b) * b);
  case BinaryOperator::Power:
    return powerOfIntegers(o, a, b);
  default:
    return reportTypes(o);
  }
}

Value makeNumber(const Operation &o, double value,
                 std::optional<Dimension> dimension) {
  if (!dimension || !std::isfinite(value)) {
    o.elaboration.emitter().report(o.expr.span, Kind::NumberOutOfRange,
                                   "`{}` is beyond the largest number",
                                   o.elaboration.text(o.expr.span));
    return Poison();
  }
  if (dimension->isNone())
    return value;
  return Quantity{value, *dimension};
}

Value powerOfReals(const Operation &o, double a, double b) {
  if (!dimensionOf(o.right).isNone())
    return reportUnits(o);
  if (a == 0 && b < 0)
    return reportZeroBase(o);
  auto *exponent = o.right.as<std::int64_t>();
  if (!exponent && !dimensionOf(o.left).isNone())
    return reportTypes(o);
  auto dimension =
      exponent ? power(dimensionOf(o.left), *exponent) : kNoDimension;
  return makeNumber(o, std::pow(a, b), dimension);
}

Value onReals(const Operation &o) {
  double a = *numberOf(o.left), b = *numberOf(o.right);
  Dimension da = dimensionOf(o.left), db = dimensionOf(o.right);
  switch (o.expr.op) {
  case BinaryOperator::Add:
    return da == db ? makeNumber(o, a + b, da) : reportUnits(o);
  case BinaryOperator::Subtract:
    return da == db ? makeNumber(o, a - b, da) : reportUnits(o);
  case BinaryOperator::Multiply:
    return makeNumber(o, a * b, multiply(da, db));
  case BinaryOperator::Divide:
    return b == 0 ? reportZero(o) : makeNumber(o, a / b, divide(da, db));
  case BinaryOperator::FloorDivide:
    return b == 0 ? reportZero(o)
                  : makeNumber(o, std::floor(a / b), divide(da, db));
  case BinaryOperator::Modulo:
    if (!(da == db))
      return reportUnits(o);
    return b == 0 ? reportZero(o)
                  : makeNumber(o, a - std::floor(a / b) * b, da);
  case BinaryOperator::Power:
    return powerOfReals(o, a, b);
  default:
    return reportTypes(o);
  }
}

template <class T> bool holds(BinaryOperator op, const T &a, const T &b) {
  switch (op) {
  case BinaryOperator::Less:
    return a < b;
  case BinaryOperator::LessEqual:
    return a <= b;
  case BinaryOperator::Greater:
    return a > b;
  case BinaryOperator::GreaterEqual:
    return a >= b;
  case BinaryOperator::Equal:
    return a == b;
  default:
    return a != b;
  }
}

Value compare(const Operation &o) {
  bool isEquality = o.expr.op == BinaryOperator::Equal ||
                    o.expr.op == BinaryOperator::NotEqual;
  if (o.left.isNumber() && o.right.isNumber()) {
    if (!(dimensionOf(o.left) == dimensionOf(o.right)))
      return reportUnits(o);
    auto *a = o.left.as<std::int64_t>();
    auto *b = o.right.as<std::int64_t>();
    if (a && b)
      return holds(o.expr.op, *a, *b);
    return holds(o.expr.op, *numberOf(o.left), *numberOf(o.right));
  }
  // `window == none` asks whether there is one.
  bool mayDiffer = o.left.as<Word>() || o.right.as<Word>();
  if (!isEquality || (o.left.v.index() != o.right.v.index() && !mayDiffer))
    return reportTypes(o);
  bool isSame = sameValue(o.left, o.right);
  return isSame == (o.expr.op == BinaryOperator::Equal);
}

Value joinLists(const Operation &o, const List &a, const List &b) {
  std::vector<Value> items(*a.items);
  items.insert(items.end(), b.items->begin(), b.items->end());
  return makeList(o.elaboration, std::move(items), o.expr.span);
}

Value repeatList(const Operation &o, std::int64_t times, const List &list) {
  std::int64_t size = static_cast<std::int64_t>(list.items->size());
  auto total = checkedMul(times, std::max<std::int64_t>(size, 1));
  if (times < 0 || !total || *total > kMaxListItems) {
    o.elaboration.emitter().report(
        o.expr.span, times < 0 ? Kind::ValueOutOfRange : Kind::ListTooLong,
        "a list of {} repeated {} times", size, times);
    return Poison();
  }
  std::vector<Value> items;
  items.reserve(static_cast<std::size_t>(times * size));
  for (std::int64_t i = 0; i < times; ++i)
    items.insert(items.end(), list.items->begin(), list.items->end());
  return makeList(o.elaboration, std::move(items), o.expr.span);
}

} // namespace

Value makeList(Elaboration &elaboration, std::vector<Value> items,
               source::SourceSpan span) {
  List out;
  for (const Value &item : items) {
    auto *list = item.as<List>();
    out.leaves += list ? list->leaves : 1;
    out.depth = std::max(out.depth, list ? list->depth + 1 : 1);
  }
  std::int64_t size = static_cast<std::int64_t>(items.size());
  if (size > kMaxListItems || out.leaves > kMaxListItems ||
      out.depth > kMaxListDepth) {
    elaboration.emitter().report(
        span, Kind::ListTooLong,
        "a list of {} items, {} deep; at most {} and {} are allowed",
        std::max(size, out.leaves), out.depth, kMaxListItems, kMaxListDepth);
    return Poison();
  }
  if (!elaboration.spendListItems(size, span))
    return Poison();
  out.items = std::make_shared<const std::vector<Value>>(std::move(items));
  return out;
}

Value arithmetic(Elaboration &elaboration, const ast::BinaryExpr &expr,
                 const Value &left, const Value &right) {
  Operation o{elaboration, expr, left, right};
  if (ast::isComparison(expr.op))
    return compare(o);
  auto *listA = left.as<List>();
  auto *listB = right.as<List>();
  auto *a = left.as<std::int64_t>();
  auto *b = right.as<std::int64_t>();
  if (listA && listB && expr.op == BinaryOperator::Add)
    return joinLists(o, *listA, *listB);
  if (expr.op == BinaryOperator::Multiply && a && listB)
    return repeatList(o, *a, *listB);
  if (expr.op == BinaryOperator::Multiply && listA && b)
    return repeatList(o, *b, *listA);
  if (a && b)
    return onIntegers(o, *a, *b);
  if (left.isNumber() && right.isNumber())
    return onReals(o);
  return reportTypes(o);
}

} // namespace planc::sema
