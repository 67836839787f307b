#include "runtime/report/Report.h"

#include "runtime/report/NumberText.h"
#include "runtime/report/RankTime.h"

#include <fmt/format.h>

#include <algorithm>

namespace planc::report {

namespace {

struct CauseInfo {
  std::string_view key, words;
  CauseGroup group;
};

constexpr CauseInfo kCauses[] = {
#define PLANC_CAUSE(NAME, KEY, TEXT, GROUP) {KEY, TEXT, CauseGroup::GROUP},
#include "runtime/report/Causes.def"
};
static_assert(std::size(kCauses) == kCauseCount);

const CauseInfo &infoOf(Cause cause) {
  return kCauses[static_cast<std::size_t>(cause)];
}

double utilisation(const Report &report, Int128 flops, FlopRate rate,
                   Duration stepTime) {
  const double possible = static_cast<double>(report.planned.accelerators) *
                          rate.toDouble() * toSeconds(stepTime);
  return possible > 0 ? static_cast<double>(flops) / possible : 0.0;
}

} // namespace

std::string_view keyOf(Cause cause) { return infoOf(cause).key; }
std::string_view wordsOf(Cause cause) { return infoOf(cause).words; }
CauseGroup groupOf(Cause cause) { return infoOf(cause).group; }

Cause exposedBy(program::CommunicationKind kind) {
  using program::CommunicationKind;
  switch (kind) {
  case CommunicationKind::None:
    break;
  case CommunicationKind::Tensor:
    return Cause::ExposedTensor;
  case CommunicationKind::Context:
    return Cause::ExposedContext;
  case CommunicationKind::Experts:
    return Cause::ExposedExperts;
  case CommunicationKind::Gradients:
    return Cause::ExposedGradients;
  case CommunicationKind::Parameters:
    return Cause::ExposedParameters;
  case CommunicationKind::Pipeline:
    return Cause::ExposedPipeline;
  case CommunicationKind::Norm:
    return Cause::ExposedNorm;
  case CommunicationKind::Host:
    return Cause::ExposedHost;
  }
  return Cause::Skew;
}

Int128 Waterfall::total() const {
  Int128 sum = 0;
  for (Int128 part : rankTime)
    sum += part;
  return sum;
}

std::string_view toString(Convention convention) {
  switch (convention) {
  case Convention::Exact:
    return "exact";
  case Convention::Full:
    return "full";
  case Convention::SixNd:
    return "6nd";
  }
  return "";
}

Int128 ModelFlops::operator[](Convention convention) const {
  switch (convention) {
  case Convention::Exact:
    return exact;
  case Convention::Full:
    return full;
  case Convention::SixNd:
    return sixNd;
  }
  return 0;
}

double Orders::aboveBound() const {
  return ratio((chosen.stepTime - bound).value, bound.value);
}

bool Orders::twoBounds() const {
  return (bound - anyOrderBound).value > bound.value / 200;
}

std::string_view toString(Fit fit) {
  switch (fit) {
  case Fit::Fits:
    return "fits";
  case Fit::Tight:
    return "tight";
  case Fit::DoesNotFit:
    return "does_not_fit";
  }
  return "";
}

Bytes MemoryReport::peak() const {
  return stages.empty() ? Bytes(0) : stages[fullest].peak.total();
}

Int128 Report::rankStepTime() const {
  return Int128(planned.accelerators) * stepTime.value;
}

double Report::mfu(Convention convention) const {
  return utilisation(*this, modelFlops[convention],
                     printedPeak.value_or(peak).rate, stepTime);
}

double Report::mfuAt(Duration other) const {
  return utilisation(*this, modelFlops.exact, printedPeak.value_or(peak).rate,
                     other);
}

double Report::hfu(Convention convention) const {
  return utilisation(*this, modelFlops[convention] + recomputedFlops,
                     printedPeak.value_or(peak).rate, stepTime);
}

double Report::ownMfu(Convention convention) const {
  return utilisation(*this, modelFlops[convention], peak.rate, stepTime);
}

double Report::ownHfu(Convention convention) const {
  return utilisation(*this, modelFlops[convention] + recomputedFlops, peak.rate,
                     stepTime);
}

double Report::tokensPerSecond() const {
  return stepTime.value > 0
             ? static_cast<double>(planned.tokens()) / toSeconds(stepTime)
             : 0.0;
}

double Report::modelFlopsPerSecondPerAccelerator(Convention convention) const {
  const double time =
      toSeconds(stepTime) * static_cast<double>(planned.accelerators);
  return time > 0 ? static_cast<double>(modelFlops[convention]) / time : 0.0;
}

std::string_view Report::status() const {
  if (memory.fit == Fit::DoesNotFit)
    return "infeasible";
  const bool failed = std::any_of(
      expectations.begin(), expectations.end(), [](const auto &expectation) {
        return expectation.verdict == ExpectationResult::Verdict::Fails;
      });
  return failed ? "expectation_failed" : "ok";
}

std::vector<std::string> verify(const Report &report) {
  std::vector<std::string> broken;
  if (report.waterfall.total() != report.rankStepTime())
    broken.push_back(fmt::format(
        "R1: causes add up to {} ps, accelerators × step time is {} ps",
        digits(report.waterfall.total()), digits(report.rankStepTime())));
  const Int128 atPeak = timeAtRate(report.modelFlops.exact, report.peak.rate);
  if (report.waterfall[Cause::ModelArithmetic] != atPeak)
    broken.push_back(fmt::format(
        "R2: model arithmetic is {} ps, model FLOPs at the peak take {} ps",
        digits(report.waterfall[Cause::ModelArithmetic]), digits(atPeak)));
  for (std::size_t i = 0; i < kCauseCount; ++i)
    if (report.waterfall.rankTime[i] < 0 &&
        static_cast<Cause>(i) != Cause::LowerPeak)
      broken.push_back(fmt::format("R3: `{}` is {} ps", kCauses[i].key,
                                   digits(report.waterfall.rankTime[i])));
  for (const Communication &row : report.communication)
    if (row.exposed < 0 || row.exposed > row.inFlight)
      broken.push_back(
          fmt::format("R4: {} is exposed for {} ps of {} ps in flight",
                      program::toString(row.kind), digits(row.exposed),
                      digits(row.inFlight)));
  return broken;
}

} // namespace planc::report
