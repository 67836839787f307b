// Questions to a Timeline that do not depend on how a run was simulated.
#pragma once

#include "runtime/timeline/Timeline.h"

#include <functional>
#include <span>

namespace planc::timeline {

/// Times of the instructions of a run: `origin + times[i].begin` is absolute.
struct RunInstructions {
  Duration origin; ///< 0 for a run that has its own times
  std::span<const InstructionTimes> times;
};
RunInstructions instructionsOf(const Timeline &timeline, const Run &run);

/// Every wait of a class inside the window, those of reused runs included,
/// absolute and cut to the window, by begin.
std::vector<Wait> waitsIn(const Timeline &timeline, RankClassId rankClass,
                          Window window);

/// Time a stream of the class is in use inside the window; instructions of
/// blocks count on their own streams.
Duration busy(const Timeline &timeline, const program::ProgramSet &set,
              RankClassId rankClass, Stream stream, Window window);

/// Time inside the window that communication is in flight on a rank of the
/// class, by CommunicationKind, counted once for each message or collective.
std::vector<Duration> inFlight(const Timeline &timeline,
                               const program::ProgramSet &set,
                               RankClassId rankClass, Window window);

/// Time that forward, backward and weight-gradient runs of the class take in
/// one step.
Duration pipelineWork(const Timeline &timeline, const program::ProgramSet &set,
                      RankClassId rankClass, std::int32_t step);

} // namespace planc::timeline
