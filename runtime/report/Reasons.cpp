#include "runtime/report/Reasons.h"

#include "runtime/report/NumberText.h"
#include "runtime/report/RankTime.h"

#include <fmt/format.h>

#include <algorithm>

namespace planc::report {

namespace {

constexpr std::size_t kNames = 3;

std::string wholePercent(double fraction) {
  return fmt::format("{:.0f} %", fraction * 100.0);
}

std::string kernelReason(const Attribution &attribution) {
  const auto share = [](const KernelShare &kernels) {
    return wholePercent(ratio(kernels.arithmetic, kernels.time));
  };
  std::string out;
  if (attribution.products.arithmetic > 0)
    out = "matrix products at " + share(attribution.products);
  if (attribution.attention.arithmetic > 0)
    out += (out.empty() ? "attention at " : ", attention at ") +
           share(attribution.attention);
  return out;
}

/// The dearest memory-bound kernels by name.
std::string memoryReason(const Attribution &attribution) {
  std::vector<std::pair<Int128, std::string>> names;
  for (const auto &[name, time] : attribution.memoryKernels)
    if (time > 0 && !name.empty())
      names.emplace_back(time, name);
  std::stable_sort(names.begin(), names.end(),
                   [](auto &a, auto &b) { return a.first > b.first; });
  std::string out;
  for (std::size_t i = 0; i < std::min(kNames, names.size()); ++i)
    out += (i == 0 ? "" : ", ") + names[i].second;
  return out;
}

std::string communicationReason(const Communication &row,
                                std::int64_t accelerators) {
  std::string out = fmt::format(
      "hidden {} of {}", wholePercent(ratio(row.hidden(), row.inFlight)),
      durationText(perRank(row.inFlight, accelerators)));
  return row.over.empty() ? out : out + ", over " + row.over;
}

/// `5.5 % of the pipeline: 7/199 = 3.5, uneven 1.9`.
std::string bubbleReason(const Bubble &bubble) {
  std::string out =
      fmt::format("{} % of the pipeline",
                  percentage(ratio(bubble.rankTime, bubble.spanRankTime)));
  bool hasForm = bubble.formulaDenominator != 0;
  if (hasForm)
    out += fmt::format(
        ": {}/{} = {}", bubble.formulaNumerator, bubble.formulaDenominator,
        percentage(ratio(bubble.formulaNumerator, bubble.formulaDenominator)));
  const double uneven = ratio(bubble.uneven, bubble.spanRankTime);
  return uneven < 0.0005
             ? out
             : out + (hasForm ? ", uneven " : ": uneven ") + percentage(uneven);
}

} // namespace

void addReasons(Report &report, const Attribution &attribution) {
  const auto reason = [&](Cause cause) -> std::string & {
    return report.reasons[static_cast<std::size_t>(cause)];
  };
  reason(Cause::BelowPeak) = kernelReason(attribution);
  reason(Cause::MemoryBound) = memoryReason(attribution);
  reason(Cause::LowerPeak) = "against the peak of " + report.peak.name;
  reason(Cause::Repeated) = "work that several ranks do alike";
  const std::int64_t accelerators = report.planned.accelerators;
  reason(Cause::LaunchGaps) = fmt::format(
      "{} kernels a step and rank",
      grouped(static_cast<std::int64_t>(attribution.launches / accelerators)));
  if (report.recomputedFlops > 0)
    reason(Cause::Recomputation) = fmt::format(
        "{} more FLOPs than the model's",
        wholePercent(ratio(report.recomputedFlops, report.modelFlops.exact)));
  for (const Communication &row : report.communication)
    reason(exposedBy(row.kind)) = communicationReason(row, accelerators);
  if (report.bubble)
    reason(Cause::Bubble) = bubbleReason(*report.bubble);
}

} // namespace planc::report
