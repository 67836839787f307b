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
  /// A sum over the axis is still to be taken. Together with a cut: over the
  /// copies of each part, where the axis is larger than the dimension
  /// (`kv_heads`).
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

/// How a gather of keys and values, or the reduce-scatter of their gradients,
/// is done: at once, or in steps around a ring, each beside the part of the
/// attention it feeds (`Overlapped`) or between two of them (`Serial`). The
/// bytes are the same.
enum class RingSteps : std::uint8_t { None, Serial, Overlapped };

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
  /// One an axis: members of the group along it and how many accelerators they
  /// are apart (as in program::Message). The whole axis, but where it is larger
  /// than the dimension only the holders of different parts, or of copies.
  std::vector<std::int64_t> sizes, strides;
  ops::DimId from, to;
  /// Bytes of the whole tensor over the group, per rank of the rest of the
  /// mesh; for an all-to-all what one rank holds (program::Message::bytes).
  Bytes bytes;
  program::CommunicationKind communication = program::CommunicationKind::None;
  RingSteps ring = RingSteps::None;
  std::string name; ///< `decoder.ffn gather`
  OriginId origin;  ///< the operator's place in the model
  OriginId clause;  ///< the `shard` clause of the axis
  /// Compute: the work of one rank, traffic as if each operator were a kernel.
  /// An Add of gradients may be done in parts: then `operands` are fewer than
  /// the operator's.
  program::Work work;
};

/// A weight on the mesh, and its states. Flat cuts (`…State`) hold one padded
/// buffer a layer and know no divisibility; they are over axes that do not cut
/// the tensor.
struct WeightState {
  Layout layout;                   ///< of the weight as operators read it
  std::vector<std::int64_t> sizes; ///< local, by dimension, before flat cuts
  std::int64_t localElements = 0;  ///< of one instance: their product
  /// How the gradient lies while micro-batches are added, before flat cuts. An
  /// axis that cuts the weight may be partial here instead.
  Layout gradient;
  std::int64_t gradientElements = 0; ///< of one instance, laid so
  /// Axes its gradient is partial over once all micro-batches are added.
  std::vector<AxisId> partial;
  /// Axes of flat cuts. `optimizerState` includes `parameterState`: who holds a
  /// part of the parameters updates that part only.
  std::vector<AxisId> optimizerState, gradientState, parameterState;
  /// Collectives of one instance once a step, in order: what brings the
  /// gradient home (the larger first, the next on the smaller piece), then what
  /// gathers updated parameters from the owners of their optimizer state. No
  /// operands and results.
  std::vector<Step> reduces, gathers;
};

struct Port {
  ops::SlotId slot;
  ShardedValueId value;
};

/// A body on one rank. A loss over a cut `vocab` is a compute step with partial
/// results, then an all-reduce for each of its statistics.
///
/// Parameters cut as flat buffers (ZeRO-3): before the first step of a pass
/// that reads one of the body's weights stands an AllGather without operands,
/// whose results are those weights; `bytes` is the whole buffer in the compute
/// precision. Gradients cut as flat buffers (ZeRO-2): the backward ends with a
/// ReduceScatter whose operands are the weight gradients, without results.
/// Weights that are cut over different axes make one such step each.
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
  /// all-gather (after it, with `kernels gathers = kept`), after a slice or an
  /// all-to-all. Weights and given tensors are
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

/// The format in which parameters that are kept cut are gathered: as kernels
/// read them, or as they are stored where that is narrower. (fp8 is gathered
/// where `parameters` are fp8, as Megatron-Core's fp8 parameter gather and
/// torchao's fp8 all-gather do; else operands are quantised after the gather.)
Precision gatherFormat(const graph::GraphOptions &options);

/// Rules H1…H9; one line per broken rule, empty when sound:
/// H1 what a step reads has arrived, is saved, or was made before; H2 a value
/// has the sizes of its layout; H3 a collective changes the layout on its axes
/// as its kind says, and nowhere else; H4 its bytes are those of the tensor
/// over its group; H5 an operator works on what it can: no gathered dimension
/// cut, a contracted one cut in all who contract it and its result partial, a
/// mapped one cut alike in the result; H6 slots lie at home; H7 saved values
/// are the forward's, none after an all-gather; H8 gradients of a weight lie
/// alike in all bodies; H9 groups: axes of the mesh, in its order, none of
/// size 1.
std::vector<std::string> verify(const ShardedGraph &graph);

/// One step a line, then the once-a-step collectives of every weight.
std::string toText(const ShardedGraph &graph);

} // namespace planc::shard
