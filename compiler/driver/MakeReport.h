// From a finished compile to its report.
#pragma once

#include "compiler/driver/Compilation.h"
#include "runtime/report/BuildReport.h"

namespace planc::driver {

/// What the report is made from; refers to `compilation`.
report::ReportInputs reportInputs(const Compilation &compilation,
                                  const Options &options);

/// Needs everything of `compilation` but the report.
report::Report makeReport(const Compilation &compilation,
                          const Options &options);

/// The bubble of the schedule itself where it is large, and the micro-batches
/// with which it falls under a tenth.
struct BubbleAdvice {
  std::int64_t numerator = 0, denominator = 1;
  std::optional<std::int64_t> microBatches;
};
/// Nothing without a pipeline or up to a fifth.
std::optional<BubbleAdvice> bubbleAdvice(const sema::Plan &plan);

/// The file, line and text an origin points at, its own place first.
report::ResolvedLine resolve(const Compilation &compilation, OriginId origin);

} // namespace planc::driver
