// Matrix products beside the collectives that bring their operands or take
// their results away (`overlap tensor`).
#pragma once

#include "compiler/lower/LowerBody.h"
#include "compiler/lower/MergePasses.h"

namespace planc::lower {

struct TensorOverlap {
  const shard::ShardedGraph *graph = nullptr;
  ops::BodyId body;
  InstructionTime time;
};

/// Collectives of activations, one after the other, in every pass of the body:
/// a gather, and the products that keep the gathered dimension; a
/// reduce-scatter, and the products that make what it scatters, alone or added
/// up. Products are cut along that dimension in as many parts as the group has
/// members, the collective in one step less
/// (program::InstructionKind::CollectiveStep). A part of a gathered operand is
/// used when its step has ended, one's own at once; a part of a result is sent
/// while the next is made, and what has arrived is added up at the end. Of an
/// all-reduce the products and the message are cut in 2, 4 or 8 along their
/// longest dimension of rows.
///
/// Whichever makes the pass shorter by `request.time` stays, so a pass never
/// gets longer. Bytes, FLOPs and what is communicated over which group are the
/// same. Transformer Engine's user buffers and PyTorch's asynchronous tensor
/// parallelism do so (docs/cost.md, "Products beside collectives").
void overlapTensor(const TensorOverlap &request, LoweredBody &lowered);

} // namespace planc::lower
