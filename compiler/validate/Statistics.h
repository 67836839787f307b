// How far off predictions are, as a few numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace planc::validate {

/// Of errors, predicted ÷ measured − 1: their sizes, and the middle with its
/// sign.
struct ErrorSummary {
  std::size_t count = 0; ///< where it is 0, the others say nothing
  double median = 0, mean = 0, p90 = 0, worst = 0; ///< of sizes
  double bias = 0;                                 ///< median with its sign
};

/// Quantiles lie between neighbours, as numpy's do.
ErrorSummary summaryOf(std::vector<double> errors);

struct Pair {
  double predicted = 0, measured = 0;
};

/// Kendall's τ-b: 1 where two rows always come in the order that was measured,
/// −1 where never; equals count for neither. Nothing below two rows or where
/// one side is all equal.
std::optional<double> kendallTau(std::span<const Pair> pairs);

} // namespace planc::validate
