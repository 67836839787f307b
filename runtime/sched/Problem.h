// Scheduling as pure combinatorics: tasks with durations, dependences, and
// resources that hold one task at a time. Knows nothing of training.
#pragma once

#include "runtime/base/Quantity.h"
#include "runtime/base/Table.h"

#include <string>
#include <vector>

namespace planc::sched {

using TaskId = Id<struct SchedTaskTag>;
using ResourceId = Id<struct ResourceTag>;

struct Dependence {
  TaskId on;
  Duration lag; ///< begin ≥ end of `on` + lag
};

struct Task {
  ResourceId resource;
  Duration duration;
  Duration release; ///< earliest begin
  std::vector<Dependence> deps;
  std::string name;
};

struct Problem {
  Table<TaskId, Task> tasks;
  std::size_t resources = 0;
};

/// The begin of each task.
struct Schedule {
  Table<TaskId, Duration> begin;
  Duration makespan;
};

/// Rules S1…S4 of a problem that can be scheduled: resources and dependences in
/// range, durations and lags not negative, no cycle, the sum of all durations,
/// lags and releases within 2^62. Empty when sound.
std::vector<std::string> check(const Problem &problem);

/// Rules S5…S8 of a solution: every task has a begin, dependences and releases
/// kept, no two tasks of a resource at once, the makespan is the last end.
/// Knows no algorithm.
std::vector<std::string> verify(const Problem &problem,
                                const Schedule &schedule);

/// Ids in an order in which every dependence comes first, ties by id; shorter
/// than the table when there is a cycle.
std::vector<TaskId> topologicalOrder(const Problem &problem);
/// The same in no order beside that of dependences, sooner.
std::vector<TaskId> anyOrder(const Problem &problem);

} // namespace planc::sched
