// Blocks of a program: the passes of chunks, shared by chunks that hold equal
// units.
#pragma once

#include "compiler/lower/EmitProgram.h"

#include <map>

namespace planc::lower {

/// A chunk's pass as a block of the program.
struct ChunkPass {
  program::BlockId block;
  /// First instruction of each unit's pass, in the order the pass runs them
  /// (model order forward, reversed backward), and its body.
  struct Part {
    std::size_t unit = 0; ///< of the stage graph
    ops::BodyId body;
    std::uint32_t first = 0;
    /// Copies from the host stand before `first`, one to the host after the
    /// last instruction.
    Bytes parametersIn, activationsIn, activationsOut;

    std::uint32_t copiesIn() const {
      return (parametersIn.value > 0) + (activationsIn.value > 0);
    }
  };
  std::vector<Part> parts;
};

/// Two passes in one block.
struct PairedPass {
  program::BlockId block;
  /// Where the instructions of the forward and of the backward have gone.
  std::vector<std::uint32_t> forward, backward;
};

struct TailGroup;

/// Gradients of weights of several passes in one block.
struct TailPass {
  program::BlockId block;
  /// By group: where the instructions of its last pass have gone.
  std::vector<std::vector<std::uint32_t>> places;
};

/// Builds and shares blocks: two chunks of equal bodies have one.
class BlockBuilder {
public:
  BlockBuilder(const EmitRequest &request, program::ProgramSet &set)
      : request_(request), set_(set) {}

  ChunkPass pass(const pipeline::Chunk &chunk, schedules::PassKind kind);
  /// The two merged (MergePasses.h).
  const PairedPass &together(const ChunkPass &forward,
                             const ChunkPass &backward);
  /// All of a tail (WeightTail.h); `passes` are the groups' own.
  const TailPass &tail(const std::vector<TailGroup> &groups,
                       const std::vector<const ChunkPass *> &passes);

private:
  program::Block join(const std::vector<ChunkPass::Part> &parts,
                      schedules::PassKind kind) const;
  /// A fetch (parameters that are kept elsewhere) starts no earlier than the
  /// part `prefetch` before its own.
  void holdFetches(const std::vector<ChunkPass::Part> &parts,
                   program::Block &block) const;
  void addCopiesIn(const ChunkPass::Part &part, program::Block &block) const;
  void awaitCopies(const ChunkPass::Part &part, program::Block &block) const;
  void addCopyOut(const ChunkPass::Part &part, program::Block &block) const;

  const EmitRequest &request_;
  program::ProgramSet &set_;
  std::map<std::pair<schedules::PassKind, std::vector<std::uint32_t>>,
           program::BlockId>
      blocks_; ///< by the bodies they run
  std::map<std::pair<program::BlockId, program::BlockId>, PairedPass> pairs_;
  /// By the blocks they run, and how often.
  std::map<std::vector<std::pair<program::BlockId, std::size_t>>, TailPass>
      tails_;
};

} // namespace planc::lower
