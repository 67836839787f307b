// What the backward computes again, and what is kept instead.
#pragma once

#include "compiler/sema/Plan.h"
#include "compiler/shard/ShardedGraph.h"

#include <string>
#include <vector>

namespace planc::lower {

/// What one layer makes again.
struct RerunChoice {
  bool all = false;               ///< everything from its inputs
  bool attention = false;         ///< what attention keeps besides its output
  std::vector<std::string> paths; ///< operators, as ops::pathNames has them

  bool operator==(const RerunChoice &) const = default;
  bool isNone() const { return !all && !attention && paths.empty(); }
};

/// `none`, or the words of a `recompute` clause.
std::string toText(const RerunChoice &choice);

struct Rerun {
  std::vector<std::uint32_t> steps;        ///< forward steps, in order
  std::vector<shard::ShardedValueId> kept; ///< from forward to backward
};

/// None: nothing again, all that the backward reads is kept; but logits that a
/// fused linear loss makes in chunks are made again under any choice.
/// All: the whole forward again, only the body's inputs are kept.
/// Attention: the attention operator again, whose results apart from its output
/// are dropped (Korthikanti et al., 2205.05198, 5).
/// Paths: all that these operators make is dropped; what they read is kept, or
/// made again from what is, collectives included.
Rerun planRerun(const shard::ShardedGraph &graph, ops::BodyId body,
                const RerunChoice &choice);

} // namespace planc::lower
