// Predictions beside what was measured: each row of a table of runs as a plan,
// through the ordinary compiler.
#pragma once

#include "compiler/diag/Diagnostic.h"
#include "compiler/source/SourceSet.h"
#include "compiler/validate/MeasuredRow.h"
#include "compiler/validate/Statistics.h"
#include "runtime/report/Report.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace planc::validate {

/// A prediction and what it is held against.
struct Measured {
  double predicted = 0, measured = 0;
  std::string by; ///< what the measured value was made from: `tokens_s`, …

  double error() const { return predicted / measured - 1; }
};

struct RowResult {
  MeasuredRow row;
  std::string planText, planName;
  std::string planFile;           ///< on disk, where the row names one there
  std::vector<std::string> notes; ///< what was assumed
  std::string reason; ///< why it is not expressed; empty where it is

  // Where it is expressed.
  std::string accelerator, parallelism, fit; ///< `tp · pp`, `does_not_fit`
  double stepSeconds = 0;                    ///< predicted
  double mfu = 0;                            ///< predicted, exact
  std::optional<double> mfuMeasured;         ///< exact, of the measured step
  std::optional<Measured> step, memory, activations; ///< s, GiB, GiB
  /// s, one micro-batch through one layer: of those that are alike, the most.
  std::optional<Measured> layerForward, layerBackward;
  std::array<double, report::kCauseCount> waterfall{}; ///< shares of the step

  bool isExpressed() const { return reason.empty(); }
};

struct Group {
  std::string by, name; ///< `source`, `llm-foundry`
  ErrorSummary step, memory;
  std::optional<double> tau; ///< of step times; from four rows on
};

struct Validation {
  std::vector<RowResult> rows; ///< in the order of the tables
  ErrorSummary step, memory, activations;
  ErrorSummary layers; ///< forward and backward times of a layer alone
  /// Kendall's τ of step times and of MFU, the mean over sources of four rows
  /// or more.
  std::optional<double> rankCorrelation, rankCorrelationMfu;
  std::vector<Group> groups;
};

struct Table {
  std::string name; ///< for messages
  std::string text;
  std::string folder; ///< where a row's `plan_file` is; empty: the library
};

struct ValidateOptions {
  std::vector<Table> tables; ///< empty: those of the library
  std::string only;          ///< ids, with `*` and `?`; empty: all
  std::size_t threads = 1;
};

struct Validated {
  std::optional<Validation> result; ///< nothing after an error
  std::vector<std::string> files;   ///< on disk, that were read
  source::SourceSet sources;
  std::vector<diag::Diagnostic> diagnostics;
};

/// Where a row's `split` is `fit`, its own step time gave a constant to the
/// library: the row is shown, and left out of every summary. The result does
/// not depend on `threads`.
Validated validate(const ValidateOptions &options);

/// The tables inside the program.
std::vector<Table> standardTables();

/// `*`: any letters, `?`: one.
bool matches(std::string_view pattern, std::string_view text);

} // namespace planc::validate
