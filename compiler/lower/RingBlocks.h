// Attention around a ring: the work of each step.
#pragma once

#include "compiler/lower/Kernels.h"

namespace planc::lower {

/// Which pairs of positions count.
struct Mask {
  bool causal = false;
  std::optional<std::int64_t> window, document;
};

/// Positions from `begin` up to, not including, `end`.
struct Positions {
  std::int64_t begin = 0, end = 0;
};

/// Pairs of a query and a key that the mask lets through.
Int128 pairsBetween(Positions queries, Positions keys, const Mask &mask);

/// Where the members of a ring stand in a sequence: by member, in order.
/// `sizes` are those of its axes, outermost first. Under a causal mask each
/// axis takes pieces r and 2n - 1 - r of 2n of what is left, so that all have
/// equal work; else piece r of n.
std::vector<std::vector<Positions>>
placesInRing(std::int64_t length, const std::vector<std::int64_t> &sizes,
             const Mask &mask);

/// Pairs of each step: at step t member r has the keys of member r - t.
struct RingStepPairs {
  Int128 most = 0; ///< of one member
  Int128 all = 0;  ///< of all together
};
std::vector<RingStepPairs> ringPairs(std::int64_t length,
                                     const std::vector<std::int64_t> &sizes,
                                     const Mask &mask);

/// The work of an attention step of `shard` in as many blocks as the ring of
/// `gather` has members. Model FLOPs are shared out by the pairs of all
/// members, executed ones by those of the busiest, since a step lasts as long
/// as that one. A block reads the queries and its keys and values, and adds to
/// what the blocks before it left.
struct RingRequest {
  const shard::ShardedGraph *graph = nullptr;
  ops::BodyId body;
  const shard::Step *attention = nullptr;
  const shard::Step *gather = nullptr;
  const ops::Op *op = nullptr;
};
std::vector<program::Work> ringBlocks(const RingRequest &request);

} // namespace planc::lower
