// Products in formats narrower than what they read is held in: copies of
// operands, made by kernels of their own. A copy is held twice, by rows for one
// product and by columns for the other that contracts along them (Transformer
// Engine's row-wise and column-wise data).
#pragma once

#include "compiler/lower/EmitProgram.h"

namespace planc::lower {

/// Whether the operator reads a copy of this value.
bool isQuantised(const ops::Body &body, const ops::Op &op,
                 const shard::ShardedValue &value);

/// Of both copies.
Bytes quantisedBytes(Precision format, const ops::Body &body,
                     const shard::ShardedValue &value);

/// Bytes of what is kept from the forward to the backward: of a value that only
/// such products read in the backward, one copy.
Bytes savedBytes(const shard::ShardedGraph &graph, ops::BodyId body,
                 const std::vector<shard::ShardedValueId> &kept);

/// Bytes of the copies of one instance of a weight besides its storage; none
/// where it is stored in 8 bits, but for the one by columns.
Bytes weightCopies(const shard::ShardedGraph &graph, ops::WeightId weight);

} // namespace planc::lower
