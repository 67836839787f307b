// A step time that no schedule of the same work can beat (METRICS M10).
#pragma once

#include "runtime/sim/Engine.h"

namespace planc::sim {

struct LowerBounds {
  Duration anyOrder; ///< of the runs of each rank
  Duration inOrder;  ///< runs as the program, and so the pipeline's schedule,
                     ///< orders them; never below the other
};

/// Where all ranks meet before their updates (StepEnd::Joined, or one Norm
/// collective over all classes): from one meeting to the next, the longest
/// chain; for every rank's compute stream the load between the earliest begin
/// and the shortest chain behind it; for its reductions the load after the
/// earliest of them can be ready. Elsewhere the same for every rank by itself,
/// from one update of its own to the next, since steps may overlap over ranks.
///
/// A run holds its compute stream until its last instruction has ended, as in
/// the simulation. Both hold for any order of the instructions in a run, any
/// buckets, any order of gathers and any overlap, as long as a bucket takes no
/// longer than its pieces one after the other, and no less than each of them.
/// With contention on, messages of the pipeline and buckets share the links of
/// a rank, which carry no more than all of them give.
LowerBounds stepLowerBounds(const Simulator &simulator,
                            Contention contention = Contention::On);

/// Whether the updates of all classes begin together.
bool allMeet(const program::ProgramSet &set);

} // namespace planc::sim
