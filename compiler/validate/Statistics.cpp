#include "compiler/validate/Statistics.h"

#include <algorithm>
#include <cmath>

namespace planc::validate {

namespace {

/// `sorted` is not empty.
double quantile(const std::vector<double> &sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double rest = at - static_cast<double>(below);
  return sorted[below] + (sorted[above] - sorted[below]) * rest;
}

int signOf(double value) { return (value > 0) - (value < 0); }

} // namespace

ErrorSummary summaryOf(std::vector<double> errors) {
  ErrorSummary out;
  out.count = errors.size();
  if (errors.empty())
    return out;
  std::sort(errors.begin(), errors.end());
  out.bias = quantile(errors, 0.5);
  for (double &error : errors)
    error = std::abs(error);
  std::sort(errors.begin(), errors.end());
  out.median = quantile(errors, 0.5);
  out.p90 = quantile(errors, 0.9);
  out.worst = errors.back();
  double sum = 0;
  for (double error : errors)
    sum += error;
  out.mean = sum / static_cast<double>(errors.size());
  return out;
}

std::optional<double> kendallTau(std::span<const Pair> pairs) {
  std::int64_t balance = 0, predicted = 0, measured = 0;
  for (std::size_t i = 0; i < pairs.size(); ++i)
    for (std::size_t j = i + 1; j < pairs.size(); ++j) {
      const int a = signOf(pairs[i].predicted - pairs[j].predicted);
      const int b = signOf(pairs[i].measured - pairs[j].measured);
      balance += a * b;
      predicted += a != 0;
      measured += b != 0;
    }
  if (predicted == 0 || measured == 0)
    return std::nullopt;
  return static_cast<double>(balance) /
         std::sqrt(static_cast<double>(predicted) *
                   static_cast<double>(measured));
}

} // namespace planc::validate
