// Products in formats narrower than what they read is held in: copies of
// operands, made by kernels of their own. A copy is held twice, by rows for one
// product and by columns for the other that contracts along them (Transformer
// Engine's row-wise and column-wise data).
#pragma once

#include "compiler/lower/EmitProgram.h"
#include "compiler/lower/Kernels.h"

namespace planc::lower {

/// Whether the operator reads a copy of this value.
bool isQuantised(const ops::Body &body, const ops::Op &op,
                 const shard::ShardedValue &value);

/// Of both copies.
Bytes quantisedBytes(Precision format, const ops::Body &body,
                     const shard::ShardedValue &value);

/// Of `kept`, what the backward's `steps` read by elementwise operators alone,
/// or by these and by products in narrow formats, where the plan keeps it in a
/// format narrower than it is held in (`precision saved`). Every elementwise
/// operator of the backward then reads the narrow copy. `Megatron-Core` does so
/// with the input of an activation (activation_func_fp8_input_store),
/// DeepSeek-V3 with that of SwiGLU (arXiv 2412.19437, 3.3.3).
NarrowCopies narrowCopies(const shard::ShardedGraph &graph, ops::BodyId body,
                          const std::vector<PlannedStep> &steps,
                          const std::vector<shard::ShardedValueId> &kept);

/// What is kept from the forward to the backward, and how.
struct SavedRequest {
  const shard::ShardedGraph &graph;
  ops::BodyId body;
  const NarrowCopies &narrow;
};

/// Bytes of `kept`: of a value that only products in narrow formats read in the
/// backward, one copy; of narrow copies, theirs.
Bytes savedBytes(const SavedRequest &request,
                 const std::vector<shard::ShardedValueId> &kept);

/// Bytes of the copies of one instance of a weight besides its storage; none
/// where it is stored in 8 bits, but for the one by columns.
Bytes weightCopies(const shard::ShardedGraph &graph, ops::WeightId weight);

} // namespace planc::lower
