// What happened when, in virtual time: the result of runtime/sim.
//
// A run of a block that nothing outside touched is one entry; what its
// instructions did stands once, relative to the run's begin, in
// `Timeline::isolated`. A run that was touched has its own instruction times,
// absolute, in `Timeline::instructions`. Queries.h hides the difference.
#pragma once

#include "runtime/program/ProgramSet.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace planc::timeline {

using program::BlockId;
using program::CommunicationKind;
using program::PieceId;
using program::RankClassId;
using program::Stream;
using program::TaskId;

/// One instruction of one run. An instruction that waits holds nothing: `begin`
/// is when it got its stream.
struct InstructionTimes {
  Duration begin, end;
  /// Compute: the part of end − begin that communication beside it cost.
  Duration slowed;
};

/// What ended an idle stretch of a rank's compute stream (METRICS M5).
enum class WaitCause : std::uint8_t {
  Instruction, ///< a collective inside the block
  Recv,        ///< a message from another class
  Collective,  ///< a Collective task
  Reduce,      ///< a bucket of gradients
  Gather,      ///< a bucket of parameters
  Join,        ///< all classes meet before the update (StepEnd::Joined)
  NothingLeft, ///< no pipeline operation left here, some elsewhere: bubble
};
std::string_view toString(WaitCause cause);

/// An idle stretch of one rank's compute stream, charged to one dependence.
/// [begin, splitAt): before the message was on the wire (Recv: bubble) or the
/// last member had joined (Collective, Join: skew). [splitAt, end): exposed
/// communication of `kind`. NothingLeft: splitAt = end. A stretch in which one
/// dependence only waited for another of the same rank is split into one Wait
/// for each.
struct Wait {
  RankClassId rankClass;
  std::int32_t step = 0;
  Duration begin, splitAt, end;
  WaitCause cause = WaitCause::NothingLeft;
  CommunicationKind kind = CommunicationKind::None;
  /// Recv, Collective: that task. Otherwise the run that waited (in
  /// IsolatedRun: invalid).
  TaskId task;
  /// Instruction: its index in the block. Reduce, Gather: index of the bucket.
  std::uint32_t index = 0;

  Duration length() const { return end - begin; }
};

/// A block in one order of its instructions: first every block of the program
/// as it stands, by its id, then the orders that the schedule chose.
using FormId = Id<struct FormTag>;

/// One run of a form with nothing outside: times relative to its begin.
struct IsolatedRun {
  Duration duration;
  std::vector<InstructionTimes> instructions; ///< by index in the block
  std::vector<Wait> waits;
};

/// One run of a block on the compute stream of a rank class.
struct Run {
  static constexpr std::uint32_t kReused = 0xffff'ffff;

  TaskId task;
  BlockId block;
  FormId form; ///< of that block
  std::int32_t step = 0;
  Duration begin, end;
  /// First of this run in Timeline::instructions; kReused: see `isolated`.
  std::uint32_t first = kReused;

  bool isReused() const { return first == kReused; }
};

enum class CommunicationSource : std::uint8_t {
  Send,
  Recv,
  Collective,
  Reduce,
  Gather
};

/// One message, collective task or bucket, as one rank class saw it.
/// [begin, end) is when it was on the wire; `ready` is when this rank had
/// joined (its dependences ended, its stream free): begin − ready is skew.
struct Communication {
  CommunicationSource source = CommunicationSource::Send;
  Stream stream = Stream::Send;
  CommunicationKind kind = CommunicationKind::None;
  std::int32_t step = 0;
  /// Send, Recv, Collective: the task. Reduce, Gather: index of the bucket.
  std::uint32_t index = 0;
  Duration ready, begin, end;
};

/// Pieces of one rank class that travel as one collective.
struct Bucket {
  static constexpr std::uint32_t kNone = 0xffff'ffff;

  std::vector<PieceId> pieces;
  Bytes bytes; ///< of the message; the sum of the pieces
  /// The bucket whose end makes this one ready (hybrid sharding: the reduction
  /// over the second group), else kNone.
  std::uint32_t after = kNone;
  /// Reductions: a run of the class that has to end first, though no piece
  /// needs it, so that the bucket leaves the links to others till then; else
  /// invalid.
  TaskId hold = TaskId();
  bool operator==(const Bucket &) const = default;
};

struct ClassTimeline {
  std::vector<Run> runs;                     ///< by begin
  std::vector<Communication> communications; ///< by begin, then stream
  /// By begin. Those inside reused runs stand in `isolated` only.
  std::vector<Wait> waits;
  std::vector<Bucket> reduces, gathers; ///< in issue order
};

/// One step over all ranks.
struct StepTimes {
  /// First start and last end of forward, backward and weight-gradient runs.
  Duration pipelineBegin, pipelineEnd;
};

struct Timeline {
  Table<RankClassId, ClassTimeline> classes;
  Table<FormId, IsolatedRun> isolated;
  std::vector<InstructionTimes> instructions; ///< of runs that are not reused
  std::vector<StepTimes> steps;
  Duration stepTime; ///< METRICS M1
};

/// The part of the virtual time that the report looks at: one period of this
/// class, from the end of its last run in the last step but one to the end of
/// its last run in the last. At most `stepTime` long; a class whose period is
/// shorter waits at the step's end for the rest. With one step: from 0.
struct Window {
  Duration begin, end;
  Duration length() const { return end - begin; }
};
Window windowOf(const Timeline &timeline, RankClassId rankClass);

/// Rules T1…: no two entries of one stream overlap (receives may: they are
/// posted ahead), every task of every step is there once, dependences have
/// ended before what needs them begins, waits fill exactly the idle part of the
/// compute stream. One line per broken rule, empty when sound.
std::vector<std::string> verify(const Timeline &timeline,
                                const program::ProgramSet &set);

/// One line an entry, in order of class, begin, stream.
std::string toText(const Timeline &timeline, const program::ProgramSet &set);

} // namespace planc::timeline
