// Weights, their gradients and optimizer states: where they are kept, and what
// brings them home once a step or once a micro-batch.
#pragma once

#include "compiler/shard/Homes.h"

namespace planc::shard {

/// Layouts and flat cuts of all weights; what depends on gradients is still
/// empty.
Table<ops::WeightId, WeightState> storeWeights(const graph::OpGraph &graph,
                                               const Homes &homes);

/// Needs all bodies. One laying for the gradient of a weight in all of them: a
/// body whose gradient is partial where another's is not brings it home itself,
/// every micro-batch.
void settleGradients(ShardedGraph &graph, const Homes &homes);

/// Then: gradients cut as flat buffers are reduce-scattered at the end of every
/// body, and the once-a-step collectives are written down.
void reduceGradients(ShardedGraph &graph, const Homes &homes);

} // namespace planc::shard
