// What the backward computes again, and what is kept instead.
#pragma once

#include "compiler/sema/Plan.h"
#include "compiler/shard/ShardedGraph.h"

#include <vector>

namespace planc::lower {

struct Rerun {
  std::vector<std::uint32_t> steps;        ///< forward steps, in order
  std::vector<shard::ShardedValueId> kept; ///< from forward to backward
};

/// None: nothing again, all that the backward reads is kept.
/// All: the whole forward again, only the body's inputs are kept.
/// Attention: the attention operator again, whose results apart from its output
/// are dropped; its operands are kept, or made again from what is.
Rerun planRerun(const shard::ShardedGraph &graph, ops::BodyId body,
                sema::Recompute recompute);

} // namespace planc::lower
