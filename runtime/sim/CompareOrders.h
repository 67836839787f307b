// The three orders that every report shows, and the bound: what overlapping
// bought and what is left.
#pragma once

#include "runtime/sim/Bound.h"
#include "runtime/sim/Engine.h"

#include <optional>

namespace planc::sim {

struct Outcome {
  IssueOrder order;
  timeline::Timeline timeline;
};

struct Comparison {
  Outcome program;    ///< nothing overlaps
  Outcome framework;  ///< the framework's buckets
  Outcome chosen;     ///< what the plan gets
  LowerBounds bounds; ///< of the step time
};

enum class Compared : std::uint8_t {
  All,
  ChosenOnly, ///< the others are made as far as the choice needs them, and what
              ///< the comparison holds of them means nothing
};

/// What a plan asks for.
struct Wanted {
  Overlap overlap = Overlap::Allowed;
  BucketPolicy framework;
  /// The plan's own buckets; nothing: whatever is found to be fastest, never
  /// slower than the framework's or the program's order.
  std::optional<BucketPolicy> buckets;
  /// Without `buckets`: reductions may wait though they are ready.
  bool holds = true;
  /// Weight gradients may leave their places (Reorder.h).
  bool moveWeights = false;
  /// Memory that orders of blocks may hold over the program's, by class; empty:
  /// none.
  Table<program::RankClassId, Bytes> spare;
  /// What is chosen is the same.
  Compared compared = Compared::All;
  /// A program of more tasks, each of whose orders takes long to simulate, is
  /// left as the framework orders it where no buckets can make a thousandth of
  /// its step.
  std::size_t manyTasks = 100'000;
};

Result<Comparison> compareOrders(const program::ProgramSet &set,
                                 const Costs &costs, const Wanted &wanted,
                                 const Options &options);

} // namespace planc::sim
