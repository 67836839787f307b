// The engine's state and its steps by name; the loop is in Engine.cpp.
//
// At one moment of virtual time everything that ends is handled first, inside
// blocks included; then one round of attempts starts what can start, streams in
// order of class and stream; then again what ended at the same moment. A round
// therefore sees the same state whether runs are single events or not.
#pragma once

#include "runtime/sim/CompiledProgram.h"

#include <memory>

namespace planc::sim {

/// Something at a moment that cannot move.
struct Event {
  enum class Kind : std::uint8_t { Piece, Arrival } kind = Kind::Piece;
  Time time = 0;
  std::uint64_t sequence = 0;
  std::uint32_t index = 0;   ///< Piece: class; Arrival: transfer
  std::uint32_t bucket = 0;  ///< Piece
  std::uint32_t run = kNone; ///< Piece: in the class's runs
  std::int32_t step = 0;

  bool after(const Event &other) const {
    return time != other.time ? time > other.time : sequence > other.sequence;
  }
};

/// A task in one step.
struct TaskState {
  Time ready = 0;               ///< since nothing is awaited
  Time begin = 0;               ///< of a Recv and a Send: on the wire
  Time end = -1;                ///< −1 before
  std::int32_t waiting = 0;     ///< things awaited
  std::uint32_t record = kNone; ///< in the class's communications
};

/// What one class has done of one step.
struct StepState {
  std::vector<TaskState> tasks;
  std::vector<std::int32_t> reduceWaiting, gatherWaiting;
  std::vector<Time> reduceReady, gatherReady;
  std::vector<Time> reduceBegin, gatherBegin;
  std::vector<Time> reduceEnd, gatherEnd; ///< −1 before
  std::vector<std::uint32_t> reduceRecord, gatherRecord;
  std::uint32_t pipelineLeft = 0;
  Time arrival = -1; ///< at the join
};

/// A position in what repeats every step.
struct Cursor {
  std::int32_t step = 0;
  std::uint32_t at = 0;
};

struct ClassState {
  Cursor order[program::kStreamCount];
  Cursor reduces[std::size(kReductionStreams)]; ///< in reduceOrder
  Cursor gathers;

  bool running = false;
  bool materialised = false; ///< the run is in `run`, else one event
  std::uint32_t task = kNone;
  std::int32_t step = 0;
  Time begin = 0;
  BlockRun run;
  std::vector<Time> materialisedAt; ///< by run
  Time computeEnd = 0;              ///< of what was last on the compute stream
};

/// Who holds a slot, other than an instruction of a materialised run.
struct Owner {
  enum class Kind : std::uint8_t {
    Run,
    Send,
    Group,
    Reduce,
    Gather
  } kind = Kind::Run;
  std::uint32_t index = 0; ///< transfer, group, bucket
  std::int32_t step = 0;
};

struct GroupState {
  std::size_t joined = 0;
  Time begin = -1;
};

/// All that changes while the engine runs.
struct EngineData {
  EngineData(const CompiledProgram &program, std::int64_t units,
             const Options &options);

  Machine machine_;
  Replay replay_;
  Time now_ = 0;

  std::vector<ClassState> classes_;
  std::vector<std::vector<StepState>> steps_;
  std::vector<std::vector<GroupState>> groups_; ///< by step
  std::vector<std::size_t> arrivedCount_;       ///< by step, at the join
  std::vector<Time> joinedAt_;                  ///< by step; −1 before
  std::size_t joining_ = 0;                     ///< classes with an update
  std::vector<Owner> owners_;                   ///< by slot
  SlotSet dirty_, round_;                       ///< whose head may start
  std::vector<Event> events_;                   ///< heap
  std::uint64_t sequence_ = 0;
  std::size_t left_ = 0; ///< tasks and buckets that have not ended

  timeline::Timeline timeline_;
  std::vector<char> isolatedKnown_;
  bool nearPieces_ = false; ///< a class runs its last pass without any
};

/// What a run had done when a class began the last run before its first piece.
struct Snapshot {
  std::shared_ptr<const CompiledProgram> program; ///< in its order
  IssueOrder order;
  Options options;
  EngineData data;
};

class EngineState : private EngineData {
public:
  EngineState(const CompiledProgram &program, std::int64_t units,
              const Options &options);
  Result<timeline::Timeline> run();

  /// About so many instructions have times of their own.
  void expect(std::size_t instructions) {
    constexpr std::size_t kMore = 16; // room for a sixteenth more
    timeline_.instructions.reserve(instructions + instructions / kMore);
  }
  /// Goes on from where the other order was, where up to there this one's run
  /// would not have differed; else stays at the beginning, and false.
  bool resume(const Snapshot &snapshot);
  /// Leaves a snapshot behind on the way.
  void leaveSnapshot(std::shared_ptr<const CompiledProgram> program,
                     std::unique_ptr<const Snapshot> &out);

private:
  using Wait = timeline::Wait;

  // The loop (Engine.cpp).
  void prepareStep(std::int32_t step);
  void prepareBuckets(std::int32_t step);
  void takeSnapshot();
  void reserve();
  void round();
  void attempt(Slot slot);
  bool nextMoment();
  void handleMoment();
  void handleEvent(const Event &event);
  void handleSlot(Slot slot);
  void freeStream(std::uint32_t rankClass, int stream);
  void markDirty(Slot slot) { dirty_.insert(slot); }
  void pushEvent(Event event);
  Failure deadlock() const;
  std::string describe(std::uint32_t rankClass, std::uint32_t task) const;

  // Orders that begin alike (EngineResume.cpp).
  bool mayResume(const Snapshot &snapshot) const;
  bool differsOnlyLater(const Snapshot &snapshot,
                        std::uint32_t rankClass) const;

  // Runs (EngineRuns.cpp).
  void attemptCompute(std::uint32_t rankClass);
  bool joinHolds(std::uint32_t rankClass, std::int32_t step,
                 std::uint32_t task);
  void startRun(std::uint32_t rankClass, Cursor head);
  void startApart(std::uint32_t rankClass);
  void startMaterialised(std::uint32_t rankClass);
  bool gathersMissing(std::uint32_t rankClass) const;
  bool touched(std::uint32_t rankClass, const CompiledBlock &block) const;
  void materialise(std::uint32_t rankClass);
  /// Tells of the pieces that instructions which just ended have made ready.
  void drain(std::uint32_t rankClass);
  void runEnded(std::uint32_t rankClass);
  void recordRun(std::uint32_t rankClass);
  const timeline::IsolatedRun &isolated(std::uint32_t form);
  BlockRun::Place placeOf(std::uint32_t rankClass);

  // Tasks, buckets and what waits for them (EngineCommunication.cpp).
  void taskEnded(std::uint32_t rankClass, std::int32_t step,
                 std::uint32_t task);
  void lower(std::uint32_t rankClass, std::int32_t step, std::uint32_t task);
  void pipelineEnded(std::uint32_t rankClass, std::int32_t step);
  void attemptStream(std::uint32_t rankClass, int stream);
  bool startTask(std::uint32_t rankClass, int stream, Cursor head);
  void startSend(std::uint32_t rankClass, std::int32_t step,
                 std::uint32_t transfer);
  void joinGroup(std::uint32_t rankClass, std::int32_t step,
                 std::uint32_t task);
  void startGroup(std::int32_t step, std::uint32_t group);
  void startReduce(std::uint32_t rankClass, std::size_t leg);
  void startGather(std::uint32_t rankClass, int stream);
  void sendEnded(std::int32_t step, std::uint32_t transfer);
  void arrived(std::int32_t step, std::uint32_t transfer);
  void groupEnded(std::int32_t step, std::uint32_t group);
  /// A communication that begins now; its place in the class's list.
  std::uint32_t record(std::uint32_t rankClass, timeline::Communication what,
                       Time ready);
  void pieceReady(std::uint32_t rankClass, std::int32_t step,
                  std::uint32_t bucket);
  void reduceEnded(std::uint32_t rankClass, std::int32_t step,
                   std::uint32_t bucket);
  void gatherEnded(std::uint32_t rankClass, std::int32_t step,
                   std::uint32_t bucket);
  /// A run that the operation would touch becomes instructions first: one that
  /// takes what runs may need, or one that is on a stream.
  void makeWay(const Member &member, const OpCost &cost);
  void makeWay(std::uint32_t rankClass, int stream);
  bool isApart(std::uint32_t rankClass) const {
    return classes_[rankClass].running && !classes_[rankClass].materialised;
  }
  const CompiledBlock &blockOf(std::uint32_t rankClass) const {
    const CompiledClass &compiled = program_.classes[rankClass];
    return program_.forms[compiled.tasks[classes_[rankClass].task].form];
  }
  /// The task that a cursor of tasks stands at; false at the end.
  bool head(std::uint32_t rankClass, int stream, Cursor &cursor) const;

  // What the compute stream waited for (EngineWaits.cpp).
  void chargeIdle(std::uint32_t rankClass, std::int32_t step,
                  std::uint32_t task);
  /// The dependence of a task that ended last, after `begin`.
  struct Blame {
    Time end = 0;
    timeline::WaitCause cause = timeline::WaitCause::NothingLeft;
    std::uint32_t index = 0; ///< of the task or bucket
    bool known = false;
  };
  Blame lastDependence(std::uint32_t rankClass, std::int32_t step,
                       std::uint32_t task, Time begin) const;
  /// Charges [begin, end) to the dependence of `task` that ended last.
  void chargeTask(std::uint32_t rankClass, std::int32_t step,
                  std::uint32_t task, Time begin, Time end);
  void chargeCollective(std::uint32_t rankClass, std::int32_t step,
                        std::uint32_t task, Time begin, Time end);
  void chargeJoin(std::uint32_t rankClass, std::int32_t step,
                  std::uint32_t task, Time begin, Time end);
  void chargeBuckets(std::uint32_t rankClass, Wait wait);
  void addWait(std::uint32_t rankClass, Wait wait);
  void finishTimeline();
  void findPipelines();
  void splitTails();

  StepState &stateOf(std::int32_t step, std::uint32_t rankClass) {
    return steps_[static_cast<std::size_t>(step)][rankClass];
  }
  const StepState &stateOf(std::int32_t step, std::uint32_t rankClass) const {
    return steps_[static_cast<std::size_t>(step)][rankClass];
  }
  timeline::ClassTimeline &timelineOf(std::uint32_t rankClass) {
    return timeline_.classes[program::RankClassId(rankClass)];
  }

  const CompiledProgram &program_;
  Options options_;
  std::shared_ptr<const CompiledProgram> shared_; ///< to leave a snapshot of
  std::unique_ptr<const Snapshot> *snapshot_ = nullptr;
  std::vector<Wait> runWaits_; ///< of one run, while it is recorded
};

} // namespace planc::sim
