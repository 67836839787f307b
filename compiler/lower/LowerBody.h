// A sharded body as instructions: kernels and collectives with their
// dependences.
#pragma once

#include "compiler/lower/Rerun.h"
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
  /// By instruction: the step it is, where it is one whole step and no other.
  std::vector<const shard::Step *> steps;
  /// Instructions that copy one operand of products into a narrow format.
  std::vector<std::uint32_t> copies;
};

/// Who runs the reduce-scatters of gradients that are kept cut (ZeRO-2).
enum class Scatters : std::uint8_t {
  InPass, ///< each backward, at its end
  ByStage ///< the stage, whenever it turns to another chunk: see Pieces.h
};

/// Where products of weight gradients stand in a backward: each beside the
/// product of the input gradient, or behind the next reduction of activations,
/// which goes on meanwhile (`overlap tensor`).
enum class WeightOrder : std::uint8_t { InPlace, UnderReductions };

struct LowerOptions {
  Scatters scatters = Scatters::InPass;
  WeightOrder weights = WeightOrder::InPlace;
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
  /// The backward cut in two (SplitBackward.h), for schedules that run them
  /// apart. What is left out of it is ready after `weight`'s instruction.
  struct Split {
    LoweredPass input, weight;
    std::vector<Gradient> inputGradients, weightGradients;
    std::vector<Scatter> scatters;
    /// What one micro-batch keeps from the first to the second, and the part of
    /// it that the first makes.
    Bytes retained, made;
    Bytes transient;
  } split;
  /// What one micro-batch keeps from its forward to its backward.
  Bytes saved;
  /// The most that a pass holds besides, at one moment.
  Bytes transient;
};

/// Elementwise steps of one kernel become one instruction whose traffic is what
/// enters and leaves the kernel; views and slices become none.
LoweredBody lowerBody(const shard::ShardedGraph &graph, ops::BodyId body,
                      const RerunChoice &recompute,
                      const LowerOptions &options = {});

/// Bodies in every form that some unit runs them in. A form is a choice of what
/// is made again; bodies that no choice touches have one.
struct LoweredModel {
  Table<ops::BodyId, std::vector<LoweredBody>> forms;
  std::vector<RerunChoice> choices;
  std::vector<std::size_t> choiceOf; ///< by unit; empty: the first everywhere

  std::size_t formOf(std::size_t unit, ops::BodyId body) const {
    return forms[body].size() == 1 || choiceOf.empty() ? 0 : choiceOf[unit];
  }
  const LoweredBody &of(std::size_t unit, ops::BodyId body) const {
    return forms[body][formOf(unit, body)];
  }
};

/// Of a collective step.
program::InstructionKind collectiveKind(shard::StepKind kind);

/// The accelerators of a step's group; axes of size 1 are left out.
void setGroup(program::Message &message, const shard::Step &step);

} // namespace planc::lower
