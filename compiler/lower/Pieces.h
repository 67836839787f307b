// Weight gradients and gathered parameters of a stage as pieces that may be
// merged.
#pragma once

#include "compiler/lower/Blocks.h"

namespace planc::lower {

/// Where the passes of one chunk stand in a rank program.
struct ChunkRuns {
  std::size_t chunk = 0;
  ChunkPass forward, backward;
  program::TaskId firstForward, lastBackward;
  /// The last of each run of backwards through this chunk, before the stage
  /// turns to another; lastBackward is the last of them.
  std::vector<program::TaskId> runEnds;
};

/// Fills `reduces` (in the order the last micro-batch completes them) and
/// `gathers` (in the order the first micro-batch wants them) with the
/// once-a-step collectives of shard::WeightState; several of one weight are a
/// chain. `runs` stand in the order of their last backwards.
void addPieces(const EmitRequest &request, const std::vector<ChunkRuns> &runs,
               program::RankProgram &program);

} // namespace planc::lower
