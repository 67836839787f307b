// The sharded graph: what one rank of the mesh computes, with every collective
// that follows from the plan's `shard` clauses made explicit.
//
// One program for all ranks (SPMD); stages come later and add only what follows
// from stages. No axis is known by name here: axes are the user's words.
#pragma once

#include "compiler/graph/OpGraph.h"
#include "compiler/sema/Plan.h"

#include <string>
#include <vector>

namespace planc::shard {

using sema::AxisId;
using ShardedValueId = Id<struct ShardedValueTag>; ///< within one body

/// How a value lies on the mesh; both vectors are indexed by axis.
struct Layout {
  /// The dimension the axis cuts; an invalid id: whole on the axis.
  std::vector<ops::DimId> cut;
  /// A sum over the axis is still to be taken (never together with a cut).
  std::vector<bool> partial;

  bool operator==(const Layout &) const = default;
};

struct ShardedValue {
  ops::ValueId source; ///< the value of the operator graph it is a laying of
  Layout layout;
  std::vector<std::int64_t>
      sizes; ///< local, in the order of the value's dimensions
  std::string name;
};

enum class StepKind : std::uint8_t {
  Compute,
  AllReduce,
  AllGather,
  ReduceScatter,
  AllToAll,
  Slice, ///< keep one's own part; no communication
};

/// One thing every rank does, in order.
struct Step {
  StepKind kind = StepKind::Compute;
  program::Phase phase = program::Phase::Forward;
  /// Compute: index of the operator in the body's forward or backward.
  std::uint32_t op = 0;
  std::vector<ShardedValueId> operands, results;
  /// Collective, Slice: the group's axes in mesh order, the dimension cut
  /// before (all_gather, all_to_all) and the one cut after (reduce_scatter,
  /// all_to_all, slice).
  std::vector<AxisId> axes;
  ops::DimId from, to;
  /// Bytes of the whole tensor over the group, per rank of the rest of the
  /// mesh; for an all-to-all what one rank holds (program::Message::bytes).
  Bytes bytes;
  program::CommunicationKind communication = program::CommunicationKind::None;
  std::string name; ///< `decoder.ffn gather`
  OriginId origin;  ///< the operator's place in the model
  OriginId clause;  ///< the `shard` clause of the axis
  /// Compute: the work of one rank, traffic as if each operator were a kernel.
  program::Work work;
};

/// A weight on the mesh, and its states. Flat cuts (`…State`) hold one padded
/// buffer a layer and know no divisibility; they are over axes that do not cut
/// the tensor.
struct WeightState {
  Layout layout;                  ///< of the weight as operators read it
  std::int64_t localElements = 0; ///< of one instance, before flat cuts
  /// Axes its gradient is partial over once all micro-batches are added.
  std::vector<AxisId> partial;
  std::vector<AxisId> optimizerState, gradientState, parameterState;
};

/// A body on one rank.
struct Port {
  ops::SlotId slot;
  ShardedValueId value;
};
struct ShardedBody {
  Table<ShardedValueId, ShardedValue> values;
  std::vector<Step> forward, backward;
  std::vector<Port> inputs, outputs;                 ///< forward
  std::vector<Port> gradientInputs, gradientOutputs; ///< backward
  struct WeightGradient {
    ops::WeightId weight;
    ShardedValueId value;   ///< local, partial over WeightState::partial
    std::uint32_t step = 0; ///< backward step that completes it
  };
  std::vector<WeightGradient> weightGradients;
  /// Forward values kept for the backward, as they are kept: before an
  /// all-gather, after a slice or an all-to-all. Weights and given tensors are
  /// not among them.
  std::vector<ShardedValueId> saved;
};

struct ShardedGraph {
  const graph::OpGraph *graph = nullptr; ///< outlives this
  sema::Mesh mesh;
  Table<ops::BodyId, ShardedBody> bodies;
  Table<ops::WeightId, WeightState> weights;
  /// How each slot lies between bodies (its home on every axis).
  Table<ops::SlotId, Layout> slots;
};

/// Applies the one rule, one operator and axis at a time. Errors of the plan
/// that only shapes can tell (a dimension not divisible by its axes) are
/// sema's; here the plan is known to be legal.
ShardedGraph shardGraph(const graph::OpGraph &graph, const sema::Plan &plan);

/// Rules H1…; one line per broken rule.
std::vector<std::string> verify(const ShardedGraph &graph);

/// One step a line, then the once-a-step collectives of every weight.
std::string toText(const ShardedGraph &graph);

} // namespace planc::shard
