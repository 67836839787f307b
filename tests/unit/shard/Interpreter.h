// Runs a model on real tensors: whole on one device, and sharded on every rank
// of a mesh with its collectives executed.
#pragma once

#include "compiler/shard/ShardedGraph.h"
#include "tests/unit/shard/Tensor.h"

#include <map>

namespace planc::oracle {

/// One run of a body: iterations of a repeat apart, each with its own weights.
struct BodyRun {
  ops::BodyId body;
  std::map<ops::WeightId, std::int64_t> instance; ///< by weight it reads
};
std::vector<BodyRun> runsOf(const graph::OpGraph &graph);

using Parameter = std::pair<ops::WeightId, std::int64_t>; ///< and its instance

/// Random weights and given tensors; token ids where a tensor is looked up.
struct Inputs {
  std::map<Parameter, Tensor> weights;
  std::map<ops::SlotId, Tensor> given;
};
Inputs randomInputs(const graph::OpGraph &graph, std::uint32_t seed);

struct Outcome {
  double loss = 0; ///< mean over tokens
  std::map<Parameter, Tensor> gradients;
  /// By run, slot: what left the body forward, and what it sent back.
  std::vector<std::map<ops::SlotId, Tensor>> outputs, gradientOutputs;
};

/// `Pass::Forward`: no gradients.
enum class Passes { Forward, Both };
Outcome runWhole(const graph::OpGraph &graph, const Inputs &inputs,
                 Passes passes);

/// Runs every rank and compares loss, slots, their gradients and, once brought
/// home, every weight's gradient with `expected`. Gives what differs.
std::vector<std::string> runSharded(const shard::ShardedGraph &graph,
                                    const sema::Plan &plan,
                                    const Inputs &inputs,
                                    const Outcome &expected);

} // namespace planc::oracle
