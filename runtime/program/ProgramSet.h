// Rank programs: what every rank of a job runs in one training step.
//
// Two levels. A *block* is a straight line of instructions that depend only on
// each other: the forward of a chunk, its backward, the update. A *rank
// program* runs blocks, in order, on its compute stream, and beside them
// transfers and collectives that cross blocks. A block run that nothing outside
// touches takes the same time every time, so the simulator may run it once
// (runtime/sim).
#pragma once

#include "runtime/base/Table.h"
#include "runtime/program/Instruction.h"

#include <string>
#include <vector>

namespace planc::program {

using BlockId = Id<struct BlockTag>;
using RankClassId = Id<struct RankClassTag>;
using TaskId = Id<struct TaskTag>;   ///< within one rank program
using PieceId = Id<struct PieceTag>; ///< within one rank program

struct Block {
  std::string name; ///< `chunk 3 forward`
  std::vector<Instruction> instructions;
};

enum class TaskKind : std::uint8_t {
  Run,  ///< one run of a block, on the compute stream
  Send, ///< to `peer`; matched with the peer's Recv of the same tag
  Recv,
  Collective, ///< crosses blocks: tied weights, gradient norm, fixed gathers
};
std::string_view toString(TaskKind kind);

enum class PassKind : std::uint8_t {
  Forward,
  Backward,
  WeightGradient,
  Update
};
std::string_view toString(PassKind kind);

/// One entry of a rank program. Tasks of one stream start in the order of their
/// ids; `deps` are other tasks of the same rank, ended before this one starts.
/// A Recv starts when its stream is free and ends when the message has arrived;
/// a Send occupies the sender's Send stream and both links.
struct Task {
  TaskKind kind = TaskKind::Run;
  Stream stream = Stream::Compute;
  std::vector<TaskId> deps;
  OriginId clause;

  // Run
  BlockId block;
  PassKind pass = PassKind::Forward;
  std::int32_t microBatch = -1;
  std::int32_t chunk = -1; ///< global virtual stage
  /// A forward whose block runs a backward too, of another micro-batch: that
  /// micro-batch and its chunk; −1 without.
  std::int32_t withMicroBatch = -1, withChunk = -1;

  bool sendsBack() const {
    return pass == PassKind::Backward || withMicroBatch >= 0;
  }

  // Send, Recv, Collective
  Message message;
  RankClassId peer;      ///< Send, Recv
  std::int64_t tag = -1; ///< Send, Recv: equal on both sides, unique per pair.
                         ///< Collective over several classes: equal on all
  std::optional<Duration> duration; ///< overrides the cost model
  std::string name;
};

/// A weight gradient (or several of one layer) that is brought home once a
/// step, or a parameter shard gathered once a step. Pieces next to each other
/// that agree in group may be merged into one bucket; boundaries are
/// runtime/sched's to choose.
struct Piece {
  enum class Kind : std::uint8_t { Reduce, Gather } kind = Kind::Reduce;
  /// AllReduce or ReduceScatter for Reduce, AllGather for Gather.
  InstructionKind collective = InstructionKind::AllReduce;
  Message message;
  /// Reduce: ready when this instruction of this task's block has ended. When
  /// `instruction` is past the block's end: when the task has ended.
  TaskId task;
  std::uint32_t instruction = 0;
  /// Gather: wanted by these (task, instruction); may start when the update of
  /// `task` has ended in the step before.
  struct Use {
    TaskId task;
    std::uint32_t instruction = 0;
  };
  std::vector<Use> uses;
  /// Reductions over another group that must follow, on the smaller piece
  /// (hybrid sharding): the next piece in this chain, else none.
  PieceId then;
  std::int32_t layer = -1; ///< for `bucket layer`
  std::string name;
  OriginId origin, clause;
};

/// Memory of a rank at its peak (METRICS M8), filled by lowering.
struct Memory {
  Bytes parameters, gradients, optimizer, activations, gathered, buffers,
      logits, workspace;
  /// What an allocator that gives nothing back holds besides at that moment: of
  /// the update's tensors and those of passes, what the other cannot use. The
  /// former are larger than the holes that the latter leave. Not in total().
  Bytes unreturned;
  Bytes host; ///< of the host's memory, on behalf of one rank; not in total()
  Bytes total() const {
    return parameters + gradients + optimizer + activations + gathered +
           buffers + logits + workspace;
  }
};

/// What one class of equal ranks runs. `ranks` accelerators do the same at the
/// same time; collectives inside the class are symmetric.
struct RankProgram {
  std::string name;       ///< `stage 3`
  std::int64_t ranks = 1; ///< how many accelerators it stands for
  std::int64_t first = 0; ///< index of one of them in the cluster
  Table<TaskId, Task> tasks;
  /// In the order in which gradients become ready / parameters are wanted.
  Table<PieceId, Piece> reduces;
  Table<PieceId, Piece> gathers;
  Memory memory;
};

/// The whole step. Immutable once made; safe to share between threads.
struct ProgramSet {
  std::string name;
  std::int64_t accelerators = 1;
  std::int32_t microBatches = 1;
  Table<BlockId, Block> blocks;
  Table<RankClassId, RankProgram> classes;
  /// The gradient norm joins all classes before the update (METRICS M1).
  enum class StepEnd : std::uint8_t { Free, Joined } stepEnd = StepEnd::Joined;
};

/// Rules P1…: ids in range, dependences acyclic and backwards in order, every
/// Send matched by one Recv, pieces ready by an instruction that exists. Gives
/// one line per broken rule, empty when sound.
std::vector<std::string> verify(const ProgramSet &set);

/// One line an instruction; reading it back gives the same set
/// (compiler/syntax/ReadProgram.h).
std::string toText(const ProgramSet &set);

} // namespace planc::program
