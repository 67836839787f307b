// `--fail-on 'mfu < -0.5pp'`: what a change must not do.
#pragma once

#include "compiler/compare/Numbers.h"

#include <string>
#include <variant>

namespace planc::compare {

struct Threshold {
  enum class Sign : std::uint8_t { Less, LessEqual, Greater, GreaterEqual };
  /// Absolute: the new value. The others: the change, in its own unit or as a
  /// share of the old value.
  enum class Kind : std::uint8_t { Absolute, Change, Relative };
  std::string text;   ///< as written
  std::string metric; ///< a key of Numbers.h; a prefix of several adds them up
  Sign sign = Sign::Less;
  Kind kind = Kind::Absolute;
  double value = 0; ///< base units; 0–1
};

/// What is wrong with a threshold, and where in its text.
struct ThresholdError {
  std::string message;
  std::size_t begin = 0, end = 0; ///< bytes
};

/// `METRIC < VALUE`, with `<= > >=`. A value with a sign is a change: `%` of
/// the old value, `pp` of a share, else in the metric's unit; without one it is
/// what the new plan has.
std::variant<Threshold, ThresholdError> parseThreshold(std::string_view text);

/// Why it fails, in numbers; empty when it does not. A change needs both plans.
std::string failureOf(const Threshold &threshold,
                      const std::vector<Number> &numbers);

} // namespace planc::compare
