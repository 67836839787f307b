// Other orders of a block's instructions: weight gradients, which nothing in
// the block waits for, move beneath communication that something does wait for,
// and behind gradients whose reductions take long.
#pragma once

#include "runtime/sched/Overlap.h"
#include "runtime/sim/IssueOrder.h"

#include <span>

namespace planc::sim {

/// What lies around a run of a block. Times count from its begin.
struct Surroundings {
  /// A reduction, ready when the instruction has ended; past the block's end:
  /// when the run has.
  struct Reduction {
    std::uint32_t instruction = 0;
    Bytes bytes;
    std::int32_t group = 0; ///< in `groups`
  };
  std::vector<Reduction> reductions;
  std::vector<sched::LinkCost> groups;
  Duration linkFree; ///< of reductions of earlier runs
  Duration rest;     ///< compute behind the run that reductions may run under
  Bytes spare;       ///< memory that the order may hold more than the block
};

/// All instructions, in an order that lets the run and its reductions end
/// earlier when nothing else disturbs them, and holds no more memory
/// (program::peakOf) than the block as it stands and `spare`; the block as it
/// stands where none is found. Instructions other than those of weight
/// gradients keep their order on each stream. Takes what
/// `sched::scheduleOverlap` takes.
std::vector<std::uint32_t> reorder(const program::Block &block,
                                   std::span<const OpCost> costs,
                                   const Surroundings &around);

/// The same buckets, and orders for backwards and weight gradients: those that
/// `reorder` finds for what `seen` shows around each run. Runs whose reductions
/// have all that follows to run under share one order a block. Ranks may hold
/// `spare` more than the program says, by class; empty: nothing.
IssueOrder reorderedIssue(const program::ProgramSet &set, const Costs &costs,
                          const Table<program::RankClassId, Bytes> &spare,
                          const timeline::Timeline &seen,
                          const IssueOrder &order);

} // namespace planc::sim
