// A timeline as a Chrome trace, which Perfetto opens: a process for each rank
// class, a thread for each stream.
#pragma once

#include "runtime/program/MemoryCurve.h"
#include "runtime/program/ProgramSet.h"
#include "runtime/timeline/Timeline.h"

#include <cstddef>
#include <string>
#include <vector>

namespace planc::report {

struct TraceOptions {
  /// Above this many events, only the first run of each block of a class shows
  /// the kernels and collectives inside it.
  std::size_t mostEvents = 250'000;
  /// By class; empty: no counters of memory.
  std::vector<program::MemoryCurve> memory;
};

/// The last step: runs with what is inside them, messages and buckets with an
/// arrow from each send to its receive, why ranks wait, and a counter of memory
/// for each class. Times are in microseconds from its first event, exact to the
/// picosecond, and in order; collectives say what PyTorch's profiler would of
/// them (TraceArguments.h).
std::string toTrace(const program::ProgramSet &set,
                    const timeline::Timeline &timeline,
                    const TraceOptions &options = {});

} // namespace planc::report
