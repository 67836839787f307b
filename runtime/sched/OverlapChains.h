// Longest chains through tasks and pieces, each piece sent alone on a free
// link: no bucket that holds it takes less.
#pragma once

#include "runtime/sched/Overlap.h"

namespace planc::sched {

/// Tasks, then a task for each piece that takes what it costs alone (or
/// nothing), then one for its tail; on resources that mean nothing.
Problem withPieces(const OverlapProblem &problem);

struct OverlapChains {
  Table<TaskId, Duration> head;            ///< no begin is earlier
  Table<TaskId, Duration> tail;            ///< after its end, at least
  Table<OverlapPieceId, Duration> ready;   ///< not ready before
  Table<OverlapPieceId, Duration> arrived; ///< after its arrival, at least
};
OverlapChains chainsOf(const OverlapProblem &problem);

} // namespace planc::sched
