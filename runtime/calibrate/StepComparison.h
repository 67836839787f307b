// Measured steps beside the prediction, and what would explain the difference.
#pragma once

#include "runtime/calibrate/StepLog.h"
#include "runtime/report/MeasuredRun.h"

namespace planc::calibrate {

/// One cause of the waterfall, as if it alone were wrong.
struct Suspect {
  report::Cause cause{};
  Duration predicted; ///< of a step, mean over ranks
  /// What it would have to be multiplied with; below 0: it cannot be, since the
  /// step is shorter than all the rest.
  double factor = 1;
  bool isPlausible = false;
};

struct StepComparison {
  StepForm form{};
  Steps steps;
  report::MeasuredRun run;
  std::vector<Suspect> suspects; ///< in the order of the waterfall
  /// Ways to count FLOPs that give the log's own TFLOP/s within two percent.
  std::vector<report::FlopCount> countedAs;

  double ratio() const; ///< measured over predicted
};

StepComparison compareSteps(const StepLog &log, const report::Report &report);

std::string toText(const StepComparison &comparison);
std::string toJson(const StepComparison &comparison);

} // namespace planc::calibrate
