// A backward cut in two: what brings gradients to the layer before, and what
// only the weights wait for.
#pragma once

#include "compiler/lower/Kernels.h"

#include <vector>

namespace planc::lower {

struct SplitSteps {
  /// Both in the order they had. `input` is all that the body's gradient
  /// outputs need, and gradients of biases and norms; `weight` the rest: the
  /// products, and what is communicated or made again for them alone.
  std::vector<PlannedStep> input, weight;
  /// What `weight` reads and does not make, apart from weights and given
  /// tensors: stays in memory between the two.
  std::vector<shard::ShardedValueId> retained;
  /// Those of them that were not kept since the forward.
  std::vector<shard::ShardedValueId> made;
};

/// `kept` is what the forward leaves for the backward.
SplitSteps splitBackward(const shard::ShardedGraph &graph, ops::BodyId body,
                         const std::vector<PlannedStep> &backward,
                         const std::vector<shard::ShardedValueId> &kept);

/// The backward in another order: products that only weights wait for stand
/// behind the next reduction of activations that the body's gradient outputs
/// need, or at the end; what they read stays where it is. This is the bulk
/// overlap of Megatron-LM and Transformer Engine: the reduce-scatter of an
/// input gradient beside the product of the weight gradient.
std::vector<PlannedStep>
weightsUnderReductions(const shard::ShardedGraph &graph, ops::BodyId body,
                       const std::vector<PlannedStep> &backward);

} // namespace planc::lower
