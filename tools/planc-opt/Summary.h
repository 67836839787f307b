// What a simulated program comes to, in exact numbers.
#pragma once

#include "runtime/timeline/Timeline.h"

#include <string>
#include <vector>

namespace planc::tool {

/// Of one rank of a class, in the first step.
struct ClassSummary {
  Duration busy;         ///< pipeline runs
  Duration idle;         ///< of the pipeline span
  Duration transfer;     ///< of that: waits for a message on the wire (M5)
  Duration first;        ///< start of the first pipeline run
  Duration last;         ///< end of the last one
  std::int64_t peak = 0; ///< most micro-batches · chunks in flight
};

/// METRICS M6: `global` counts what is idle between the first start and the
/// last end over all ranks, `span` what the longest rank's own time is above
/// the most work of a rank. Idle is everything that is no pipeline run, so
/// these are what closed forms speak of; the part of it that METRICS M5 charges
/// to messages on the wire is said beside.
struct Summary {
  Duration makespan; ///< last end of anything
  Duration span;     ///< of the pipeline
  Duration longest;  ///< a rank's own first start to last end
  Duration mostBusy;
  std::int64_t messages = 0;
  std::vector<ClassSummary> classes;
};

/// `timeline` is of one step.
Summary summarise(const timeline::Timeline &timeline,
                  const program::ProgramSet &set);

/// One line a number, ratios reduced and with six decimals.
std::string toText(const Summary &summary, const program::ProgramSet &set,
                   Duration stepTime);

} // namespace planc::tool
