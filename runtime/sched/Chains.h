// Longest chains through a problem, for bounds and priorities.
#pragma once

#include "runtime/sched/Problem.h"

namespace planc::sched {

struct Chains {
  Table<TaskId, Duration> head; ///< no begin is earlier
  Table<TaskId, Duration> tail; ///< from its end, no makespan is shorter
};
Chains chainsOf(const Problem &problem);

} // namespace planc::sched
