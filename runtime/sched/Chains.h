// Longest chains through a problem, for bounds and priorities.
#pragma once

#include "runtime/sched/Problem.h"

namespace planc::sched {

struct Chains {
  Table<TaskId, Duration> head; ///< no begin is earlier
  Table<TaskId, Duration> tail; ///< from its end, no makespan is shorter
};
Chains chainsOf(const Problem &problem);

/// `lowerBound` where the chains are known.
Duration lowerBound(const Problem &problem, const Chains &chains);

} // namespace planc::sched
