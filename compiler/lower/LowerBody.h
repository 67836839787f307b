// A sharded body as instructions: kernels and collectives with their
// dependences.
#pragma once

#include "compiler/sema/Plan.h"
#include "compiler/shard/ShardedGraph.h"
#include "runtime/program/Instruction.h"

#include <string>
#include <vector>

namespace planc::lower {

/// The instructions of one pass through a body. `deps` count from the pass's
/// own first instruction.
struct LoweredPass {
  std::vector<program::Instruction> instructions;
  struct SlotUse {
    ops::SlotId slot;
    std::uint32_t instruction = 0;
  };
  /// Instructions that read a slot as it arrives, and the one that leaves the
  /// new value in a slot. A slot handed on untouched is in neither.
  std::vector<SlotUse> reads, writes;
};

/// Who runs the reduce-scatters of gradients that are kept cut (ZeRO-2).
enum class Scatters : std::uint8_t {
  InPass, ///< each backward, at its end
  ByStage ///< the stage, whenever it turns to another chunk: see Pieces.h
};

/// One body under one choice of recomputation.
struct LoweredBody {
  LoweredPass forward, backward; ///< backward with what it recomputes
  struct Gradient {
    ops::WeightId weight;
    std::uint32_t instruction = 0; ///< of the backward, completes it
  };
  std::vector<Gradient> gradients; ///< in the order they are complete
  /// With Scatters::ByStage: what is left out of the backward, ready after
  /// `instruction`. The step lives in the sharded graph.
  struct Scatter {
    const shard::Step *step = nullptr;
    std::uint32_t instruction = 0;
  };
  std::vector<Scatter> scatters;
  /// What one micro-batch keeps from its forward to its backward.
  Bytes saved;
  /// The most that a pass holds besides, at one moment.
  Bytes transient;
};

/// Elementwise steps of one kernel become one instruction whose traffic is what
/// enters and leaves the kernel; views and slices become none.
/// `All` runs the whole forward again; `Attention` only what the attention
/// operator's dropped results need (Korthikanti et al., 2205.05198, 5).
LoweredBody lowerBody(const shard::ShardedGraph &graph, ops::BodyId body,
                      sema::Recompute recompute,
                      Scatters scatters = Scatters::InPass);

/// Of a collective step.
program::InstructionKind collectiveKind(shard::StepKind kind);

/// The accelerators of a step's group; axes of size 1 are left out.
void setGroup(program::Message &message, const shard::Step &step);

} // namespace planc::lower
