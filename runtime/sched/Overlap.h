// Tasks beside messages that may be merged: which pieces travel together, in
// what order the link takes them, and in what order resources take their tasks
// so that the whole ends soon. Pure combinatorics; a piece is a gradient to be
// reduced, or a parameter to be gathered before its first use.
//
// Every problem given must pass `check`. Ties go to the smaller id.
#pragma once

#include "runtime/sched/Algorithms.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace planc::sched {

using OverlapPieceId = Id<struct OverlapPieceTag>;

/// Ready at its release and when `after` has ended, if there is one.
struct OverlapPiece {
  TaskId after;
  Duration release;
  Bytes bytes;
  std::int32_t group = 0;    ///< in `groups`; only equal ones share a bucket
  std::vector<TaskId> users; ///< begin when it has arrived, not before
  Duration tail;             ///< must pass between its arrival and the end
};

/// One serial link for all groups. A bucket of S bytes goes when all of its
/// pieces are ready and the link is free, and holds it for its group's cost of
/// S. Any pieces of a group may share one.
struct OverlapProblem {
  Problem problem;
  Table<OverlapPieceId, OverlapPiece> pieces;
  std::vector<LinkCost> groups;
};

struct OverlapBucket {
  std::int32_t group = 0;
  std::vector<OverlapPieceId> pieces;
  Duration begin, end;
};

struct OverlapSchedule {
  Table<TaskId, Duration> begin;
  std::vector<OverlapBucket> buckets; ///< in the order of the link
  Duration makespan; ///< last end of a task, or of a bucket and its tails
};

/// Rules S1…S4 of the tasks, then of the pieces: O1 groups and tasks exist; O2
/// nothing is negative; O3 the sum of all times, each piece sent alone, is
/// within 2^60; O4 no cycle through pieces. Empty when sound.
std::vector<std::string> check(const OverlapProblem &problem);

/// Rules S5…S7 of the tasks, then O5 each piece in one bucket, of its group; O6
/// a bucket begins when its pieces are ready or later; O7 it lasts as its bytes
/// cost, and the link holds one at a time, in order; O8 users wait for their
/// pieces; O9 the makespan is the last end. Knows no algorithm.
std::vector<std::string> verify(const OverlapProblem &problem,
                                const OverlapSchedule &schedule);

/// What a schedule decides; everything then happens as early as it can.
struct OverlapOrder {
  std::vector<std::vector<TaskId>> tasks;           ///< of each resource
  std::vector<std::vector<OverlapPieceId>> buckets; ///< of the link
};
OverlapOrder orderOf(const OverlapProblem &problem,
                     const OverlapSchedule &schedule);

/// Nothing when the order can never run. O(n + dependences).
std::optional<OverlapSchedule> overlapInOrder(const OverlapProblem &problem,
                                              const OverlapOrder &order);

/// The baseline: tasks by id, and nothing runs beside a message that could have
/// waited. Pieces without users go when all tasks have ended, one bucket a
/// group; those with users one bucket a group when none waits for a task, else
/// each alone. Nothing when tasks by id can never run.
std::optional<OverlapSchedule>
overlapInProgramOrder(const OverlapProblem &problem);

struct BucketCaps {
  Bytes cap = Bytes(25 << 20), first = Bytes(1 << 20);
};

/// What a framework does (PyTorch DDP): tasks by id; buckets of a group by id,
/// closed when they reach the cap, started in that order; of several groups the
/// one whose bucket has waited longest. Nothing when that can never run.
std::optional<OverlapSchedule> overlapFramework(const OverlapProblem &problem,
                                                const BucketCaps &caps = {});

/// What the optimiser may decide; off: tasks by id, a bucket for each piece,
/// the link first come first served.
struct OverlapDecisions {
  bool moveTasks = true;
  bool mergePieces = true;
  bool orderLink = true;
};

/// The optimiser: never worse than program order, framework order and `starts`
/// (where those keep to `decisions`), mostly within 1 % of the best. Its effort
/// is bounded by the size of the problem, never by a clock.
OverlapSchedule scheduleOverlap(const OverlapProblem &problem,
                                std::span<const OverlapSchedule> starts = {},
                                const OverlapDecisions &decisions = {});

/// The smallest makespan by branch and bound over orders of tasks, partitions
/// of pieces and orders of buckets. Exponential: for tests. Nothing when there
/// are more than `kExactOverlap` tasks and pieces together.
inline constexpr std::size_t kExactOverlap = 16;
std::optional<OverlapSchedule>
scheduleOverlapExact(const OverlapProblem &problem);

/// No schedule ends before: longest chains through pieces, each resource's and
/// the link's load between heads and tails, the best buckets for the earliest
/// ready times, and a resource followed by the link
/// (or the link by a resource) as a flow shop of two machines.
Duration overlapLowerBound(const OverlapProblem &problem);

} // namespace planc::sched
