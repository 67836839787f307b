#include "compiler/compare/Thresholds.h"

#include "compiler/sema/Units.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

namespace planc::compare {

namespace {

struct SignWord {
  std::string_view word;
  Threshold::Sign sign;
};
constexpr auto kSigns =
    std::to_array<SignWord>({{"<=", Threshold::Sign::LessEqual},
                             {">=", Threshold::Sign::GreaterEqual},
                             {"<", Threshold::Sign::Less},
                             {">", Threshold::Sign::Greater}});

sema::Dimension dimensionOf(Form form) {
  switch (form) {
  case Form::Time:
    return sema::kSeconds;
  case Form::Size:
    return sema::kBytes;
  case Form::Money:
  case Form::Share:
  case Form::Count:
    break;
  }
  return sema::kNoDimension;
}

bool isBlank(char c) { return c == ' ' || c == '\t'; }

class Parser {
public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::variant<Threshold, ThresholdError> run() {
    out_.text = std::string(text_);
    if (auto error = metric())
      return *error;
    if (auto error = sign())
      return *error;
    if (auto error = value())
      return *error;
    return out_;
  }

private:
  void skip() {
    while (at_ < text_.size() && isBlank(text_[at_]))
      ++at_;
  }
  ThresholdError error(std::string message, std::size_t begin,
                       std::size_t end) const {
    return {std::move(message), begin, std::max(end, begin + 1)};
  }

  std::optional<ThresholdError> metric() {
    skip();
    const std::size_t begin = at_;
    while (at_ < text_.size() && !isBlank(text_[at_]) && text_[at_] != '<' &&
           text_[at_] != '>')
      ++at_;
    out_.metric = std::string(text_.substr(begin, at_ - begin));
    std::string known;
    for (const NumberInfo &metric : numberInfos()) {
      if (metric.key == out_.metric) {
        form_ = metric.form;
        return std::nullopt;
      }
      known += fmt::format("{}{}", known.empty() ? "" : ", ", metric.key);
    }
    return error(out_.metric.empty() ? "a metric is missing: one of " + known
                                     : "no such metric; there are " + known,
                 begin, at_);
  }

  std::optional<ThresholdError> sign() {
    skip();
    for (const SignWord &sign : kSigns)
      if (text_.substr(at_, sign.word.size()) == sign.word) {
        out_.sign = sign.sign;
        at_ += sign.word.size();
        return std::nullopt;
      }
    return error("`<`, `<=`, `>` or `>=` is expected", at_, at_ + 1);
  }

  std::optional<ThresholdError> value() {
    skip();
    const std::size_t begin = at_;
    const bool isSigned =
        begin < text_.size() && (text_[begin] == '+' || text_[begin] == '-');
    const std::size_t digits = begin + (isSigned ? 1 : 0);
    double number = 0;
    const char *end = text_.data() + text_.size();
    const auto read = std::from_chars(text_.data() + digits, end, number);
    const bool isNumber =
        read.ec == std::errc() && std::isfinite(number) && number >= 0;
    if (!isNumber)
      return error("a number is expected, as in `38%`, `+2%` or `-0.5pp`",
                   begin, text_.size());
    if (isSigned && text_[begin] == '-')
      number = -number;
    std::size_t unitAt = static_cast<std::size_t>(read.ptr - text_.data());
    std::size_t last = text_.size();
    while (last > unitAt && isBlank(text_[last - 1]))
      --last;
    while (unitAt < last && isBlank(text_[unitAt]))
      ++unitAt;
    const std::string_view unit = text_.substr(unitAt, last - unitAt);
    return unitOf({number, isSigned, unit, unitAt});
  }

  struct Read {
    double number;
    bool isSigned;
    std::string_view unit;
    std::size_t at;
  };
  std::optional<ThresholdError> unitOf(const Read &read) {
    const std::size_t end = read.at + read.unit.size();
    const bool isShare = form_ == Form::Share;
    out_.kind =
        read.isSigned ? Threshold::Kind::Change : Threshold::Kind::Absolute;
    if (read.unit == "pp") {
      out_.value = read.number / 100;
      if (isShare && read.isSigned)
        return std::nullopt;
      return error(isShare ? "points count a change: write its sign"
                           : fmt::format("`{}` is no share: `%`, or its unit",
                                         out_.metric),
                   read.at, end);
    }
    if (read.unit == "%") {
      out_.value = read.number / 100;
      if (read.isSigned)
        out_.kind = Threshold::Kind::Relative;
      if (read.isSigned || isShare)
        return std::nullopt;
      return error(fmt::format("`{}` is no share: a change of so many per cent "
                               "has a sign, as in `+2%`",
                               out_.metric),
                   read.at, end);
    }
    const auto unit = sema::parseUnit(read.unit);
    const sema::Dimension wanted = dimensionOf(form_);
    if (read.unit.empty() && wanted.isNone()) {
      out_.value = read.number;
      return std::nullopt;
    }
    if (!read.unit.empty() && unit && unit->dimension == wanted &&
        !wanted.isNone()) {
      out_.value = read.number * unit->numerator / unit->denominator;
      return std::nullopt;
    }
    const std::string_view example = form_ == Form::Time   ? "`6.5s` or `+2%`"
                                     : form_ == Form::Size ? "`75GB` or `+2%`"
                                     : isShare             ? "`38%` or `-0.5pp`"
                                               : "a plain number or `+2%`";
    return error(fmt::format("`{}` takes {}", out_.metric, example), read.at,
                 end);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Form form_ = Form::Count;
  Threshold out_;
};

bool holds(Threshold::Sign sign, double found, double value) {
  switch (sign) {
  case Threshold::Sign::Less:
    return found < value;
  case Threshold::Sign::LessEqual:
    return found <= value;
  case Threshold::Sign::Greater:
    return found > value;
  case Threshold::Sign::GreaterEqual:
    return found >= value;
  }
  return false;
}

/// `exposed` is the sum of its kinds; 0 where there is none.
Number numberOf(std::string_view metric, const std::vector<Number> &numbers) {
  Number sum;
  bool isKnown = false;
  for (const Number &number : numbers) {
    if (number.key == metric)
      return number;
    if (number.key.compare(0, metric.size() + 1, fmt::format("{}.", metric)) !=
        0)
      continue;
    sum.before = sum.before.value_or(0) + number.before.value_or(0);
    sum.after = sum.after.value_or(0) + number.after.value_or(0);
    sum.form = number.form;
    isKnown = true;
  }
  if (!isKnown && (metric == "exposed" || metric == "bubble")) {
    sum.before = sum.after = 0;
    sum.form = Form::Share;
  }
  return sum;
}

} // namespace

std::variant<Threshold, ThresholdError> parseThreshold(std::string_view text) {
  return Parser(text).run();
}

std::string failureOf(const Threshold &threshold,
                      const std::vector<Number> &numbers) {
  const Number number = numberOf(threshold.metric, numbers);
  if (!number.after)
    return "";
  if (threshold.kind == Threshold::Kind::Absolute)
    return holds(threshold.sign, *number.after, threshold.value)
               ? fmt::format("it is {}", textOf(number.form, *number.after))
               : "";
  if (!number.before)
    return "";
  double change = number.change();
  if (threshold.kind == Threshold::Kind::Relative)
    change = *number.before == 0 ? 0 : change / *number.before;
  if (!holds(threshold.sign, change, threshold.value))
    return "";
  const std::string by = changeText(number);
  return fmt::format("{}{}", pairText(number), by.empty() ? "" : ", " + by);
}

} // namespace planc::compare
