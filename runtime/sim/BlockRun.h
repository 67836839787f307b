// One run of a block, instruction by instruction, on the streams of one rank
// class.
#pragma once

#include "runtime/sim/Machine.h"
#include "runtime/timeline/Timeline.h"

#include <array>

namespace planc::sim {

/// A block laid out flat for the inner loop.
struct CompiledBlock {
  std::uint32_t count = 0;
  const program::Block *source = nullptr;
  const OpCost *costs = nullptr;      ///< by instruction
  std::vector<std::uint8_t> stream;   ///< by instruction
  std::vector<std::uint8_t> isKernel; ///< by instruction
  std::vector<std::uint32_t> waiting; ///< dependences, by instruction
  /// Instructions that depend on i: successors[successorsAt[i] … [i + 1]).
  std::vector<std::uint32_t> successorsAt, successors;
  /// Instructions of stream s in order: order[orderAt[s] … [s + 1]).
  std::array<std::uint32_t, program::kStreamCount + 1> orderAt{};
  std::vector<std::uint32_t> order;

  std::uint32_t streams = 0; ///< used, as bits
  bool kernels = false;
  std::uint32_t levels = 0; ///< of links used, as bits
};
CompiledBlock compileBlock(const program::Block &block,
                           const std::vector<OpCost> &costs);

/// The same block, its streams in the order of `instructions` (all of them,
/// dependences first).
void reorder(CompiledBlock &block, std::span<const std::uint32_t> instructions);

class BlockRun {
public:
  static constexpr std::uint32_t kNone = 0xffff'ffff;

  /// Where a run takes place.
  struct Place {
    Machine &machine;
    std::uint32_t rankClass;
    std::span<const Member> self; ///< the class, both directions
  };

  /// Nothing has started; `hold` and `advance` follow.
  void reset(const CompiledBlock &block);
  /// The instruction waits for one thing more, until `release`.
  void hold(std::uint32_t instruction) { ++waiting_[instruction]; }
  void release(std::uint32_t instruction, const Place &place, Time now);

  /// Starts whatever can start on the streams (as bits); instructions that take
  /// no time end at once.
  void advance(std::uint32_t streams, const Place &place, Time now);
  /// The instruction in flight on the stream has reached its end.
  void finish(int stream, const Place &place, Time now);

  const CompiledBlock &block() const { return *block_; }
  bool done() const { return left_ == 0; }
  /// In flight on the stream, else kNone.
  std::uint32_t current(int stream) const { return current_[stream]; }
  /// Ended since the last call of `clearEnded`.
  const std::vector<std::uint32_t> &ended() const { return ended_; }
  void clearEnded() { ended_.clear(); }
  std::vector<timeline::InstructionTimes> &times() { return times_; }
  void shift(Duration by);

private:
  void start(std::uint32_t instruction, const Place &place, Time now);
  void end(std::uint32_t instruction, Time now);

  const CompiledBlock *block_ = nullptr;
  std::vector<std::uint32_t> waiting_; ///< by instruction
  std::vector<timeline::InstructionTimes> times_;
  std::array<std::uint32_t, program::kStreamCount> cursor_{}, current_{};
  std::uint32_t left_ = 0;
  std::uint32_t dirty_ = 0; ///< streams whose head became ready
  std::vector<std::uint32_t> ended_;
};

/// Runs a block with nothing outside, up to any moment of its own time.
class Replay {
public:
  Replay(std::int64_t units, Contention contention)
      : units_(units), contention_(contention), machine_(1, units, contention) {
  }

  /// Handles every end up to and at `until`, counted from the block's begin.
  void runTo(const CompiledBlock &block, Time until);

  BlockRun &run() { return run_; }
  const Machine &machine() const { return machine_; }
  /// Of the last end handled.
  Time now() const { return now_; }

private:
  std::int64_t units_;
  Contention contention_;
  Machine machine_;
  BlockRun run_;
  Time now_ = 0;
};

struct RunSpan {
  Time begin = 0, end = 0;
};

/// An instruction of a block, and a bucket.
struct Hook {
  std::uint32_t instruction = 0;
  std::uint32_t bucket = 0;
  auto operator<=>(const Hook &) const = default;
};

/// What instructions of a run waited for from outside: which gathers, and when
/// each had ended.
struct GatherEnds {
  std::span<const Hook> uses;
  std::span<const Time> ends; ///< by bucket
};

/// Appends the idle stretches of the compute stream inside a run.
void findWaits(const CompiledBlock &block,
               std::span<const timeline::InstructionTimes> times, RunSpan span,
               const GatherEnds &gathers, std::vector<timeline::Wait> &out);

} // namespace planc::sim
