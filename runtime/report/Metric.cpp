#include "runtime/report/BuildReport.h"
#include "runtime/report/NumberText.h"

#include <algorithm>
#include <cmath>

namespace planc::report {

namespace {

std::optional<Convention> conventionFromName(std::string_view name) {
  if (name.empty())
    return Convention::Exact;
  for (Convention convention : kConventions)
    if (toString(convention) == name)
      return convention;
  return std::nullopt;
}

std::optional<double> exposedShare(const Report &report,
                                   std::string_view kind) {
  Int128 sum = 0;
  bool isKnown = kind.empty();
  for (std::size_t i = 0; i < kCauseCount; ++i) {
    const auto cause = static_cast<Cause>(i);
    if (groupOf(cause) != CauseGroup::Communication)
      continue;
    const bool wanted = kind.empty() || keyOf(cause).substr(8) == kind;
    isKnown |= wanted;
    sum += wanted ? report.waterfall[cause] : Int128(0);
  }
  if (!isKnown)
    return std::nullopt;
  return ratio(sum, report.rankStepTime());
}

/// Metrics that take a convention.
std::optional<double> byConvention(const Report &report, std::string_view name,
                                   std::string_view argument) {
  const std::optional<Convention> convention = conventionFromName(argument);
  if (!convention)
    return std::nullopt;
  if (name == "mfu")
    return report.ownMfu(*convention);
  if (name == "hfu")
    return report.ownHfu(*convention);
  if (name == "model_tflops_per_accelerator")
    return report.modelFlopsPerSecondPerAccelerator(*convention) / 1e12;
  return std::nullopt;
}

} // namespace

std::optional<double> metric(const Report &report, std::string_view name,
                             std::string_view argument) {
  if (name == "exposed")
    return exposedShare(report, argument);
  if (auto value = byConvention(report, name, argument))
    return value;
  if (!argument.empty())
    return std::nullopt;
  if (name == "step_time")
    return toSeconds(report.stepTime);
  if (name == "memory")
    return report.memory.peak().toDouble();
  if (name == "bubble")
    return report.bubble
               ? ratio(report.bubble->rankTime, report.bubble->spanRankTime)
               : 0.0;
  if (name == "tokens_per_s")
    return report.tokensPerSecond();
  if (name == "tokens_per_s_per_accelerator")
    return report.tokensPerSecond() /
           static_cast<double>(report.planned.accelerators);
  return std::nullopt;
}

} // namespace planc::report
