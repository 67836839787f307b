// A step time that no schedule of the same work can beat (METRICS M10).
#pragma once

#include "runtime/sim/Engine.h"

namespace planc::sim {

/// Where all ranks meet before their updates (StepEnd::Joined, or one Norm
/// collective over all classes): from one meeting to the next, the longest
/// chain; for every rank's compute stream the load between the earliest begin
/// and the shortest chain behind it; for its reductions the load after the
/// earliest of them can be ready. Elsewhere only the load of a rank counts,
/// since steps may overlap over ranks.
///
/// Holds for any order of runs and of the instructions in them, any buckets and
/// any overlap, as long as a bucket takes no longer than its pieces one after
/// the other, and no less than each of them.
Duration stepLowerBound(const Simulator &simulator);

} // namespace planc::sim
