// min, max, ceil, floor, divisors, log2, sum.
#include "compiler/sema/Evaluate.h"

#include "compiler/diag/Kinds.h"
#include "runtime/base/Checked.h"

#include <cmath>

namespace planc::sema {

using diag::Kind;

namespace {

/// A function's call with its arguments known.
struct FunctionCall {
  Elaboration &elaboration;
  const ast::CallExpr &call;
  const std::vector<Value> &arguments;

  std::string_view name() const { return call.callee.first(); }

  Value reject(std::string_view expected) const {
    elaboration.emitter().report(call.span, Kind::TypeMismatch, "`{}` takes {}",
                                 name(), expected);
    return Poison();
  }
};

/// The arguments, or the items of the one list that is the argument.
std::span<const Value> itemsOf(const FunctionCall &f) {
  if (f.arguments.size() == 1)
    if (auto *list = f.arguments[0].as<List>())
      return *list->items;
  return f.arguments;
}

Value leastOrMost(const FunctionCall &f) {
  std::span<const Value> items = itemsOf(f);
  if (items.empty())
    return f.reject("at least one number");
  const Value *best = &items[0];
  for (const Value &item : items) {
    if (!item.isNumber() || !(dimensionOf(item) == dimensionOf(items[0])))
      return f.reject("numbers of one unit, or one list of them");
    auto *a = item.as<std::int64_t>();
    auto *b = best->as<std::int64_t>();
    bool isLess = a && b ? *a < *b : *numberOf(item) < *numberOf(*best);
    bool isMore = a && b ? *a > *b : *numberOf(item) > *numberOf(*best);
    if (f.name() == "min" ? isLess : isMore)
      best = &item;
  }
  return *best;
}

Value sumOf(const FunctionCall &f) {
  std::int64_t whole = 0;
  double real = 0;
  bool isWhole = true;
  for (const Value &item : itemsOf(f)) {
    auto *n = item.as<std::int64_t>();
    if (!n && !item.as<double>())
      return f.reject("a list of numbers");
    isWhole = isWhole && n;
    real += *numberOf(item);
    if (!isWhole)
      continue;
    auto next = checkedAdd(whole, *n);
    if (!next) {
      f.elaboration.emitter().report(f.call.span, Kind::NumberOutOfRange,
                                     "the sum does not fit in 64 bits");
      return Poison();
    }
    whole = *next;
  }
  return isWhole ? Value(whole) : Value(real);
}

Value roundTo(const FunctionCall &f) {
  const Value &value = f.arguments[0];
  if (auto *n = value.as<std::int64_t>())
    return *n;
  auto *real = value.as<double>();
  if (!real)
    return f.reject("a plain number");
  double rounded = f.name() == "ceil" ? std::ceil(*real) : std::floor(*real);
  if (std::fabs(rounded) >= 0x1p62) {
    f.elaboration.emitter().report(f.call.span, Kind::NumberOutOfRange,
                                   "{} does not fit in 64 bits",
                                   describe(value));
    return Poison();
  }
  return static_cast<std::int64_t>(rounded);
}

Value divisorsOf(const FunctionCall &f) {
  auto *n = f.arguments[0].as<std::int64_t>();
  // A million divisions; beyond it no size of a machine or a model lies.
  if (!n || *n < 1 || *n > 1'000'000'000'000)
    return f.reject("an integer from 1 to 10^12");
  auto divisions =
      static_cast<std::int64_t>(std::sqrt(static_cast<double>(*n)));
  if (!f.elaboration.spendDivisions(divisions, f.call.span))
    return Poison();
  std::vector<Value> low, high;
  for (std::int64_t d = 1; d * d <= *n; ++d) {
    if (*n % d != 0)
      continue;
    low.push_back(d);
    if (d != *n / d)
      high.push_back(*n / d);
  }
  low.insert(low.end(), high.rbegin(), high.rend());
  return makeList(f.elaboration, std::move(low), f.call.span);
}

Value logarithm(const FunctionCall &f) {
  const Value &value = f.arguments[0];
  if (!value.isNumber() || !dimensionOf(value).isNone())
    return f.reject("a plain number");
  if (*numberOf(value) <= 0) {
    f.elaboration.emitter().report(f.call.span, Kind::DivisionByZero,
                                   "there is no logarithm of {}",
                                   describe(value));
    return Poison();
  }
  auto *n = value.as<std::int64_t>();
  if (n && (*n & (*n - 1)) == 0)
    return static_cast<std::int64_t>(
        __builtin_ctzll(static_cast<unsigned long long>(*n)));
  return std::log2(*numberOf(value));
}

} // namespace

Value callFunction(Elaboration &elaboration, const ast::CallExpr &call,
                   const std::vector<Value> &arguments) {
  FunctionCall f{elaboration, call, arguments};
  std::string_view name = f.name();
  if (name == "min" || name == "max")
    return leastOrMost(f);
  if (name == "sum")
    return sumOf(f);
  if (arguments.size() != 1)
    return f.reject("one argument");
  if (name == "ceil" || name == "floor")
    return roundTo(f);
  return name == "divisors" ? divisorsOf(f) : logarithm(f);
}

} // namespace planc::sema
