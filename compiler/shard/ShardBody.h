// One body on one rank: the rule applied to its operators in order.
#pragma once

#include "compiler/shard/Homes.h"

namespace planc::shard {

struct BodyRequest {
  const graph::OpGraph *graph = nullptr;
  ops::BodyId body;
  const Homes *homes = nullptr;
  /// Layouts and flat cuts of weights.
  const Table<ops::WeightId, WeightState> *weights = nullptr;
};

/// Everything of ShardedBody but the reductions that need to know all bodies:
/// weight gradients are left as their operators made them (ShardState.h).
ShardedBody shardBody(const BodyRequest &request);

} // namespace planc::shard
