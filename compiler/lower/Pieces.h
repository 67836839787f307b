// Weight gradients and gathered parameters of a stage as pieces that may be
// merged.
#pragma once

#include "compiler/lower/Blocks.h"

namespace planc::lower {

/// One run of a pass in a rank program.
struct PassRun {
  program::TaskId task;
  /// Where the pass's instructions are in the task's block; null: as in its
  /// own.
  const std::vector<std::uint32_t> *places = nullptr;

  bool isValid() const { return task.isValid(); }
  std::uint32_t placeOf(std::uint32_t instruction) const {
    return places && instruction < places->size() ? (*places)[instruction]
                                                  : instruction;
  }
};

/// Where the passes of one chunk stand in a rank program.
struct ChunkRuns {
  std::size_t chunk = 0;
  ChunkPass forward, backward, input, weight; ///< those that are run
  PassRun firstForward;
  /// The last of each kind: backwards whole, of inputs, of weights.
  PassRun lastBackward, lastInput, lastWeight;
  /// Of passes that complete weight gradients: the last of each run of them
  /// through this chunk, before the stage turns to another; the last of all
  /// comes last.
  std::vector<PassRun> runEnds;

  /// All gradients of the chunk are complete when it ends.
  program::TaskId completion() const {
    program::TaskId last = lastBackward.task;
    for (const PassRun &run : {lastInput, lastWeight})
      if (run.isValid() && (!last.isValid() || last < run.task))
        last = run.task;
    return last;
  }
};

/// Fills `reduces` (in the order the last micro-batch completes them) and
/// `gathers` (in the order the first micro-batch wants them) with the
/// once-a-step collectives of shard::WeightState; several of one weight are a
/// chain. `runs` stand in the order of their completions.
void addPieces(const EmitRequest &request, const std::vector<ChunkRuns> &runs,
               program::RankProgram &program);

} // namespace planc::lower
