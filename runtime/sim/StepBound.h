// A step from meeting to meeting, as chains and loads without an order: what
// Bound.h's two bounds are found with.
#pragma once

#include "runtime/sched/Chains.h"
#include "runtime/sim/Bound.h"
#include "runtime/sim/CompiledProgram.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>

namespace planc::sim {

struct BlockBound {
  Duration least;              ///< of a run, in any order
  std::vector<Duration> ready; ///< of an instruction, after the run's begin
  std::vector<Duration> left;  ///< from an instruction's begin to the run's end

  Duration leftFrom(std::uint32_t instruction) const {
    return instruction < left.size() ? left[instruction] : Duration(0);
  }
};

BlockBound boundOf(const program::Block &block,
                   const std::vector<OpCost> &costs);

/// Time of a link, by level, were it one's alone.
struct LinkUse {
  std::array<Duration, kLevels> levels;

  void add(const LinkUse &other) {
    for (std::size_t level = 0; level < kLevels; ++level)
      levels[level] += other.levels[level];
  }
  Duration most() const {
    return *std::max_element(levels.begin(), levels.end());
  }
};
/// Of `length` on the wire. A little less than the share says, as rates are
/// rounded up to millionths.
LinkUse useOf(const OpCost &cost, Duration length);

/// What the forwards of a chunk cannot end without.
struct Gathered {
  Duration load; ///< of the stream
  LinkUse use;   ///< of the rank's links, inward and outward
  Duration rest = Duration(std::numeric_limits<std::int64_t>::max());
  ///< least of a run after one of them

  void add(Duration share, const LinkUse &links, Duration after) {
    load += share;
    use.add(links);
    rest = std::min(rest, after);
  }
};

/// Pieces of one collective over one group, and what a bucket of all of them
/// takes. A bucket's time per byte falls with its size, so a set of pieces
/// takes its share of that at least, however it is cut. What a byte takes of
/// the links does not: it changes with the algorithm, so the least of buckets
/// whose sizes double from the smallest piece to all of them is taken. An
/// algorithm that were the cheapest only between two of these would be missed.
class PieceLoads {
public:
  PieceLoads(const Costs &costs, const program::RankProgram &rankClass,
             const Table<program::PieceId, program::Piece> &pieces);

  Duration shareOf(const program::Piece &piece) const;
  /// Of the links, no more than `alone`, which is the piece by itself.
  LinkUse useOf(const program::Piece &piece, const OpCost &alone) const;

private:
  using Key = std::tuple<program::InstructionKind, std::vector<std::int64_t>,
                         std::vector<std::int64_t>>;
  static Key keyOf(const program::Piece &piece) {
    return {piece.collective, piece.message.sizes, piece.message.strides};
  }
  /// What a bucket of a size takes of the links.
  struct Rung {
    std::int64_t bytes = 0;
    LinkUse use;
  };
  struct Sum {
    const program::Piece *like = nullptr;
    std::int64_t bytes = 0, smallest = 0;
    OpCost cost;
    std::vector<Rung> rungs; ///< by size
  };
  std::map<Key, Sum> groups_;
};

/// Every rank's update, then its runs.
class StepBound {
public:
  StepBound(const Simulator &simulator, Contention contention);
  LowerBounds find();

private:
  const BlockBound &blockOf(const program::Task &task) const {
    return blocks_[task.block.index()];
  }
  /// All runs of a rank, one after the other.
  Duration loadOf(const program::RankProgram &rankClass) const;
  /// With the chains that there are now.
  Duration endOf(const sched::Chains &chains) const;

  sched::TaskId add(Duration duration, std::size_t resource);
  /// A node of this length after the update of a class; one for each length.
  sched::TaskId lengthAfter(program::RankClassId c, Duration length);
  /// Which tasks a collective beside the runs must have to count.
  enum class Awaited { ByRuns, ByAnything };
  void addClass(program::RankClassId c, Awaited awaits);
  /// A backward reads what the forward of its micro-batch kept, a pass for
  /// weights what the backward did: whatever order a stream has.
  void linkPasses(const program::RankProgram &rankClass,
                  const std::vector<sched::TaskId> &nodes);
  void linkTransfers();
  /// Gathers follow the update one after the other; a run cannot end before
  /// what it does from their first use on.
  void linkGathers(program::RankClassId c);
  /// A micro-batch goes through the chunks in order and comes back when it went
  /// through all: its runs have the gathers of all its forwards before them,
  /// and a forward does not end before its own.
  void holdRuns(program::RankClassId c,
                const std::map<std::int32_t, Gathered> &byChunk);
  /// What waits for a run waits for what it does after a gather, too.
  void linkRests();
  /// Each compute stream in the program's order.
  void linkOrder();
  /// In that order the first forward of a chunk has before it, after the
  /// update: all gathers of the chunks that were forward before, and on the
  /// rank's links besides the messages that runs have received till then.
  void holdFirsts(program::RankClassId c);
  bool comesAfterUpdate(const Transfer &transfer) const;

  // BoundReductions.cpp
  /// A run that completes gradients of a chunk is the last of the chunk's: all
  /// others lie before it, none earlier than the first can begin, nor those of
  /// its pass before the first of its pass. By task; of what stands before it.
  std::vector<Duration> beforeCompletion(program::RankClassId c,
                                         const sched::Chains &chains) const;
  /// A link takes pieces after they are ready: of any set of them, the sum of
  /// their shares after the first is ready; each at least its own time on all
  /// its links. Second legs have a link of their own.
  Duration reductionsEnd(program::RankClassId c,
                         const sched::Chains &chains) const;
  /// The same for each direction of the rank's links of a level, where all
  /// meet: they carry the pieces, and the messages of the pipeline that begin
  /// after one is ready, which somebody has to have received before.
  struct Carried {
    Duration ready;
    LinkUse use;
  };
  Duration linksEnd(program::RankClassId c, const sched::Chains &chains,
                    std::vector<Carried> pieces) const;

  const program::ProgramSet &set_;
  const Costs &costs_;
  const CompiledProgram &program_;
  const Contention contention_;
  bool meet_ = false; ///< all ranks, before their updates
  std::vector<BlockBound> blocks_;
  sched::Problem problem_;
  std::vector<std::vector<sched::TaskId>> nodes_; ///< by class and task
  std::vector<sched::TaskId> updates_;            ///< by class
  /// Of runs, what they do from the first use of a gather on.
  std::unordered_map<sched::TaskId, std::vector<sched::TaskId>> rests_;
  std::map<std::pair<program::RankClassId, Duration>, sched::TaskId> lengths_;
  std::map<program::RankClassId, std::map<std::int32_t, Gathered>>
      gathered_; ///< by chunk
};

} // namespace planc::sim
