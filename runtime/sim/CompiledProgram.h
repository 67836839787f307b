// A ProgramSet with its costs and issue order, laid out flat for the engine:
// everything that stays the same from step to step.
#pragma once

#include "runtime/sim/BlockRun.h"
#include "runtime/sim/IssueOrder.h"

namespace planc::sim {

inline constexpr std::uint32_t kNone = 0xffff'ffff;

/// What few tasks have.
struct TaskHooks {
  std::vector<Hook> pieces;           ///< reductions made ready, one by one
  std::vector<Hook> uses;             ///< gathers of the step before, awaited
  std::vector<std::uint32_t> gathers; ///< made ready when the task has ended
};

struct CompiledTask {
  program::TaskKind kind = program::TaskKind::Run;
  program::Stream stream = program::Stream::Compute;
  program::PassKind pass = program::PassKind::Forward;
  std::uint32_t form = kNone;  ///< Run
  std::uint32_t match = kNone; ///< Send, Recv: transfer; Collective: group
  std::int32_t waiting = 0;    ///< things awaited in every step
  std::int32_t later = 0;      ///< and besides in every step but the first
  std::uint32_t hooks = kNone; ///< in CompiledClass::hooks
  program::BlockId block;      ///< Run
  std::uint32_t successorsAt = 0, successorsEnd = 0;
  /// Dependences that are no runs, in CompiledClass::awaited.
  std::uint32_t awaitedAt = 0, awaitedEnd = 0;
};

struct CompiledBucket {
  OpCost cost;
  program::CommunicationKind kind = program::CommunicationKind::None;
  program::Stream stream = program::Stream::Gradients; ///< reductions
  std::int32_t waiting = 0; ///< pieces, or the bucket before
  bool follows = false;     ///< another bucket
  std::vector<std::uint32_t> followers;
};

/// Streams of reductions: those of a second leg have their own, so that they
/// run beside the first leg of the next bucket.
inline constexpr program::Stream kReductionStreams[] = {
    program::Stream::Gradients, program::Stream::Sums};

struct CompiledClass {
  const program::RankProgram *source = nullptr;
  std::vector<CompiledTask> tasks;
  std::vector<std::uint32_t> successors, awaited;
  std::vector<TaskHooks> hooks;
  /// Tasks of each stream, in order.
  std::vector<std::uint32_t> order[program::kStreamCount];
  std::vector<char> secondLegs; ///< by reduce piece
  std::vector<CompiledBucket> reduces, gathers;
  /// Reductions of each of kReductionStreams, in order.
  std::vector<std::uint32_t> reduceOrder[std::size(kReductionStreams)];
  Member self[1] = {};

  std::uint32_t pipelineRuns = 0;
  std::uint32_t firstUpdate = kNone, lastRun = kNone;
  std::uint32_t firstPiece = kNone; ///< the first task that makes one ready
  /// Tasks that wait for: each reduction; the last pipeline run; each gather of
  /// the step before; the last run of the step before.
  std::vector<std::uint32_t> afterReduces, afterPipeline, afterGathers,
      afterStep;
  bool reducesAfterPipeline = false;
};

/// A message, both of its tasks.
struct Transfer {
  std::uint32_t from = 0, send = kNone, to = 0, recv = kNone;
  std::uint32_t cost = 0; ///< in CompiledProgram::transferCosts
  Member members[2];
};

/// A collective task over one class or several.
struct Group {
  std::vector<Member> members;
  std::vector<std::uint32_t> tasks; ///< by member
  OpCost cost;                      ///< the largest of the members'
};

struct CompiledProgram {
  const program::ProgramSet *source = nullptr;
  const IssueOrder *order = nullptr; ///< after withOrder()
  std::vector<CompiledBlock> forms;  ///< by timeline::FormId
  std::vector<CompiledClass> classes;
  std::vector<Transfer> transfers;
  std::vector<OpCost> transferCosts; ///< by transfer; of equal neighbours one
  std::vector<Group> groups;
  bool joins = false; ///< the first updates of all classes begin together
};

/// What is the same in every order; the arguments must outlive the result and
/// pass their verifiers.
CompiledProgram compileProgram(const program::ProgramSet &set,
                               const Costs &costs);
/// With forms, buckets and what waits for them. The order must outlive it.
CompiledProgram withOrder(const CompiledProgram &program, const Costs &costs,
                          const IssueOrder &order);

} // namespace planc::sim
