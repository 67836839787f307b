// What of a report is compared, and how two values of it are written.
#pragma once

#include "runtime/report/Report.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace planc::compare {

/// How a number is written, and how its change is counted.
enum class Form : std::uint8_t {
  Time,  ///< seconds; change in per cent
  Size,  ///< bytes; per cent
  Share, ///< 0–1; percentage points
  Count, ///< per cent
  Money, ///< dollars a day; per cent
};

/// A number by name, as Numbers.def lists it.
struct NumberInfo {
  std::string_view key, words;
  Form form;
};
std::span<const NumberInfo> numberInfos();

struct Number {
  std::string key;   ///< `step_time`, `exposed.tensor`
  std::string words; ///< `exposed tensor`
  Form form = Form::Count;
  std::optional<double> before, after; ///< nothing where a side has none

  bool isChanged() const { return before != after; }
  double change() const { return after.value_or(0) - before.value_or(0); }
};

/// Of one report; `before` is what is filled.
std::vector<Number> numbersOf(const report::Report &report,
                              double pricePerHour);
/// In one order, with both values.
std::vector<Number> paired(const std::vector<Number> &before,
                           const std::vector<Number> &after);

/// `6.31 s`, `38.2 %`.
std::string textOf(Form form, double value);
/// `6.31 → 5.98 s`: in one unit, with as many digits as it takes to tell them
/// apart.
std::string pairText(const Number &number);
/// `−5.2 %`, `+2.1 pp`; empty without both or without a change.
std::string changeText(const Number &number);
/// With its sign, and the one that people write.
std::string signedText(double value, int decimals);

/// Times are written in one unit with so many digits behind the point.
class TimeScale {
public:
  /// For times of which none is larger.
  explicit TimeScale(std::int64_t largestPicoseconds);
  std::string_view unit() const { return unit_; } ///< `s`
  /// In units of the last digit that is shown.
  std::int64_t rounded(std::int64_t picoseconds) const;
  /// The same for parts, so that they add up to `sum` of these units.
  std::vector<std::int64_t> rounded(const std::vector<std::int64_t> &parts,
                                    std::int64_t sum) const;
  std::string text(std::int64_t units) const; ///< `−0.29`

private:
  std::string_view unit_;
  int decimals_ = 0;
  std::int64_t step_ = 1; ///< picoseconds of one
};

} // namespace planc::compare
