// How much a pass holds at its worst moment, besides what is kept anyway.
#pragma once

#include "compiler/lower/Kernels.h"

#include <vector>

namespace planc::lower {

struct LivenessRequest {
  const shard::ShardedGraph *graph = nullptr;
  ops::BodyId body;
  const std::vector<PlannedStep> *steps = nullptr;
};

/// The largest sum, over the steps, of values made by a step of the pass and
/// not read for the last time yet. Weights, weight gradients, given tensors and
/// `kept` do not count.
Bytes peakTransient(const LivenessRequest &request,
                    const std::vector<shard::ShardedValueId> &kept);

} // namespace planc::lower
