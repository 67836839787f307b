// Step times in the logs of training runs.
#pragma once

#include "runtime/base/Quantity.h"
#include "runtime/calibrate/LogProblem.h"
#include "runtime/calibrate/NcclLog.h"

#include <optional>
#include <string_view>
#include <vector>

namespace planc::calibrate {

/// How a line says what a step took.
enum class StepForm : std::uint8_t {
#define PLANC_STEP_FORM(NAME, WORDS, KEY, MEASURE) NAME,
#include "runtime/calibrate/StepForms.def"
};
std::string_view wordsOf(StepForm form); ///< `Megatron-LM`

struct StepLog {
  StepForm form{};
  /// In the order of the log. Seconds a step, or tokens a second and
  /// accelerator where `areTokens`.
  std::vector<double> values;
  bool areTokens = false;
  std::vector<double> teraflops; ///< a second and accelerator, as printed
  std::optional<LogProblem> error;
};

/// The form that most lines have; of equally many the first of the list.
StepLog readStepLog(const LogText &log);

struct Steps {
  Duration median, lower, upper; ///< of the middle half
  std::size_t counted = 0, skipped = 0;
  std::optional<double> teraflops; ///< median of what the log prints
};

/// Without the first tenth (one to ten of three steps or more), which warms up.
/// `tokensOfAccelerator`: of one step, for logs of tokens a second.
Steps stepsOf(const StepLog &log, double tokensOfAccelerator);

} // namespace planc::calibrate
