// Longest chains through a problem, for bounds and priorities.
#pragma once

#include "runtime/sched/Problem.h"

namespace planc::sched {

struct Chains {
  Table<TaskId, Duration> head; ///< no begin is earlier
  Table<TaskId, Duration> tail; ///< from its end, no makespan is shorter
};
Chains chainsOf(const Problem &problem);
/// The same along an order that is known: all tasks, dependences first.
Chains chainsOf(const Problem &problem, const std::vector<TaskId> &order);

/// The same where what stands before (behind) a task takes its time on each
/// resource, one after the other: of the ancestors of a task, any that begin
/// late have their sum before it. Of the nearest ancestors only, so that it
/// takes time linear in the tasks; never below chainsOf(). The dependences of a
/// task have smaller ids.
Chains loadedChainsOf(const Problem &problem);

/// `lowerBound` where the chains are known.
Duration lowerBound(const Problem &problem, const Chains &chains);

/// The same with every resource by itself in the preemptive schedule of
/// Jackson, which is the largest of least head + load + least tail over all
/// sets of its tasks.
Duration sweptBound(const Problem &problem, const Chains &chains);

/// What one machine does, in picoseconds.
struct HeadTail {
  std::int64_t head, length, tail;
};
/// The preemptive schedule of one machine by longest tail first: no schedule
/// of it ends before (Jackson). It is max over sets of least head + sum of
/// lengths + least tail.
std::int64_t preemptiveEnd(std::vector<HeadTail> jobs);

} // namespace planc::sched
