// Orders, run without and with times: the truth about whether an order works.
#pragma once

#include "compiler/schedules/Schedules.h"

namespace planc::schedules {

/// Which rank holds each chunk of each copy of the model.
struct Holders {
  std::int64_t copies = 1, chunks = 1;
  std::vector<std::int64_t> ranks; ///< [copy · chunks + chunk]

  std::int64_t rankOf(std::int64_t copy, std::int64_t chunk) const {
    return ranks[static_cast<std::size_t>(copy * chunks + chunk)];
  }
};

Holders holdersOf(Placement placement, const Shape &shape);
/// Of orders that say it themselves: a chunk is where it is run first; on rank
/// `chunk mod stages` where nobody runs it.
Holders holdersOf(const Orders &orders, const Shape &shape);

struct Fault {
  enum class Kind : std::uint8_t {
    OutOfRange, ///< a micro-batch, chunk or slice that is not there
    WrongRank,  ///< of a chunk that another rank holds
    Twice,      ///< stands a second time
    Missing,    ///< `pass` stands nowhere; `index` is the order's length
    TooEarly,   ///< a backward before its forward, a W before its B
    NoPair,     ///< together with something else than a forward before it
    NeverRuns,  ///< what it needs waits for this rank: a deadlock
  } kind;
  std::size_t rank = 0, index = 0; ///< orders[rank][index]
  Pass pass;
  /// WrongRank: who holds it.
  std::int64_t holder = -1;
};

/// All that is wrong with the orders as they stand; a deadlock only where they
/// are complete, one fault a rank that is stuck.
std::vector<Fault> check(const Orders &orders, const Shape &shape,
                         const Holders &holders);

/// Durations of the passes of any chunk, in any unit; a pair takes the sum of
/// its two. `transfer` is added between ranks.
struct PassTimes {
  std::int64_t forward = 1, backward = 2, input = 1, weight = 1, transfer = 0;
  std::int64_t of(PassKind kind) const;
};
struct TimedPass {
  std::int64_t start = 0, end = 0;
};
/// When every pass runs if each rank starts each as soon as what it needs is
/// there: by rank, as the orders; empty for orders that have faults.
std::vector<std::vector<TimedPass>> runTimed(const Orders &orders,
                                             const Shape &shape,
                                             const Holders &holders,
                                             const PassTimes &times);

/// Latest end.
std::int64_t makespan(const std::vector<std::vector<TimedPass>> &runs);

} // namespace planc::schedules
