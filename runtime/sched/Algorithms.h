// Scheduling algorithms as free functions. Every problem given must pass
// `check`. Ties go to the smaller id.
#pragma once

#include "runtime/sched/Problem.h"

#include <optional>
#include <span>

namespace planc::sched {

// --- Tasks on resources -----------------------------------------------------

/// Tasks of one resource in the order of their ids, one after the other, and
/// nothing overlaps over resources either: the baseline. O(n + dependences).
Schedule scheduleOneByOne(const Problem &problem);

/// Tasks of one resource in the order of their ids, each as early as it can.
/// Nothing when that order can never run. O((n + dependences) log n).
std::optional<Schedule> scheduleInProgramOrder(const Problem &problem);

/// List scheduling: a free resource takes the ready task with the longest chain
/// of durations behind it. Within (resources + 1) of the best, in practice
/// close. O((n + dependences) log n).
Schedule scheduleCriticalPath(const Problem &problem);

/// The smallest makespan, by branch and bound over the orders of every
/// resource. Exponential: for tests, at most `kExactTasks` tasks; nothing
/// above.
inline constexpr std::size_t kExactTasks = 12;
std::optional<Schedule> scheduleExact(const Problem &problem);

/// No schedule ends before: the longest chain, and for every resource its load
/// between its earliest possible begin and the shortest chain behind it.
Duration lowerBound(const Problem &problem);

// --- Buckets on one link ----------------------------------------------------
// Items in ready order travel as buckets of consecutive items. A bucket of S
// bytes starts when the link is free and its last item is ready, and takes
// latency + bytes · S (research: MG-WFBP's problem).

struct Item {
  Duration ready; ///< not decreasing along the items
  Bytes bytes;
};

/// latency + S · psPerGiB / 2^30, rounded up.
struct LinkCost {
  Duration latency;
  std::int64_t psPerGibibyte = 0;
  Duration of(Bytes bytes) const;
};

/// Ends of the buckets: bucket b holds the items [ends[b − 1], ends[b]).
using Buckets = std::vector<std::size_t>;

/// A bucket closes when its bytes reach the cap, so it may pass it by one item;
/// the first one at `firstCap` (PyTorch DDP: 1 MiB, then 25 MiB).
Buckets bucketsFixed(std::span<const Item> items, Bytes cap, Bytes firstCap);

/// Megatron's distributed optimizer: closes at max(40 000 000, 1 000 000 · dp)
/// parameters.
Buckets bucketsMegatron(std::span<const Item> items, std::int64_t replicas,
                        std::int64_t bytesPerParameter);

/// One bucket.
Buckets bucketsOne(std::span<const Item> items);

/// A bucket for each run of equal group numbers (layers).
Buckets bucketsByGroup(std::span<const std::int32_t> groups);

/// Least finish of the last bucket over all partitions and orders, by
/// D(j) = min over i < j of max(D(i), ready_j) + cost(P_j − P_i). D does not
/// decrease, so of the i with D(i) ≤ ready_j the largest is best, and the
/// others are a sliding minimum of D(i) − P_i at the link's rate: O(n).
Buckets bucketsOptimal(std::span<const Item> items, const LinkCost &cost);

/// When the last bucket ends.
Duration finishOf(std::span<const Item> items, const Buckets &buckets,
                  const LinkCost &cost);

/// No partition ends before max over j of ready_j + cost(P_n − P_{j−1}).
Duration bucketLowerBound(std::span<const Item> items, const LinkCost &cost);

} // namespace planc::sched
