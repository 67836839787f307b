#include "runtime/sim/EngineState.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace planc::sim {

using program::kStreamCount;

EngineData::EngineData(const CompiledProgram &program, std::int64_t units,
                       const Options &options)
    : machine_(program.classes.size(), units, options.contention),
      replay_(units, options.contention), classes_(program.classes.size()),
      owners_(program.classes.size() * kStreamCount), dirty_(owners_.size()),
      round_(owners_.size()), isolatedKnown_(program.forms.size()) {}

EngineState::EngineState(const CompiledProgram &program, std::int64_t units,
                         const Options &options)
    : EngineData(program, units, options), program_(program),
      options_(options) {
  timeline_.classes.resize(program.classes.size());
  timeline_.isolated.resize(program.forms.size());
  auto steps = static_cast<std::size_t>(options.steps);
  timeline_.steps.resize(steps);
  steps_.resize(steps);
  groups_.assign(steps, std::vector<GroupState>(program.groups.size()));
  arrivedCount_.assign(steps, 0);
  joinedAt_.assign(steps, -1);
  for (const CompiledClass &rankClass : program.classes)
    joining_ += rankClass.firstUpdate != kNone;
  for (std::int32_t step = 0; step < options.steps; ++step)
    prepareStep(step);
  for (Slot slot = 0; slot < owners_.size(); ++slot)
    markDirty(slot);
  reserve();
}

void EngineState::reserve() {
  auto steps = static_cast<std::size_t>(options_.steps);
  std::size_t instructions = 0;
  for (std::uint32_t c = 0; c < classes_.size(); ++c) {
    std::size_t runs = 0;
    for (const CompiledTask &task : program_.classes[c].tasks)
      if (task.kind == program::TaskKind::Run) {
        ++runs;
        instructions += program_.forms[task.form].count;
      }
    timelineOf(c).runs.reserve(runs * steps);
    classes_[c].materialisedAt.reserve(runs * steps);
    timelineOf(c).communications.reserve(
        (program_.classes[c].tasks.size() - runs) * steps);
  }
  if (options_.mode == Mode::Flat)
    timeline_.instructions.reserve(instructions * steps);
}

void EngineState::prepareStep(std::int32_t step) {
  std::vector<StepState> &states = steps_[static_cast<std::size_t>(step)];
  states.resize(program_.classes.size());
  for (std::size_t c = 0; c < states.size(); ++c) {
    const CompiledClass &rankClass = program_.classes[c];
    StepState &state = states[c];
    state.tasks.resize(rankClass.tasks.size());
    for (std::size_t t = 0; t < state.tasks.size(); ++t) {
      const CompiledTask &task = rankClass.tasks[t];
      state.tasks[t].waiting = task.waiting + (step > 0 ? task.later : 0);
    }
    state.pipelineLeft = rankClass.pipelineRuns;
    left_ += rankClass.tasks.size();
  }
  prepareBuckets(step);
}

void EngineState::prepareBuckets(std::int32_t step) {
  const bool last = step + 1 == options_.steps;
  for (std::uint32_t c = 0; c < classes_.size(); ++c) {
    const CompiledClass &rankClass = program_.classes[c];
    StepState &state = stateOf(step, c);
    state.reduceWaiting.clear();
    for (const CompiledBucket &bucket : rankClass.reduces)
      state.reduceWaiting.push_back(bucket.waiting);
    state.gatherWaiting.clear();
    for (const CompiledBucket &bucket : rankClass.gathers)
      state.gatherWaiting.push_back(bucket.waiting);
    state.reduceReady.assign(rankClass.reduces.size(), 0);
    state.reduceBegin = state.reduceReady;
    state.reduceEnd.assign(rankClass.reduces.size(), -1);
    state.reduceRecord.assign(rankClass.reduces.size(), kNone);
    state.gatherReady.assign(rankClass.gathers.size(), 0);
    state.gatherBegin = state.gatherReady;
    state.gatherEnd.assign(rankClass.gathers.size(), -1);
    state.gatherRecord.assign(rankClass.gathers.size(), kNone);
    left_ += rankClass.reduces.size() + (last ? 0 : rankClass.gathers.size());
  }
}

Result<timeline::Timeline> EngineState::run() {
  do {
    round();
    if (nearPieces_ && snapshot_)
      takeSnapshot();
    if (!nextMoment())
      break;
    handleMoment();
  } while (now_ < kEndOfTime);
  if (now_ >= kEndOfTime)
    return Failure{FailureKind::Unsupported,
                   "the step takes more than 53 days, where virtual time ends",
                   {}};
  if (left_ > 0)
    return deadlock();
  finishTimeline();
  return std::move(timeline_);
}

void EngineState::round() {
  bool zero = true; // whether the moment may have more that starts
  while (zero) {
    round_.swap(dirty_);
    round_.drain([&](Slot slot) { attempt(slot); });
    const bool ends = (!machine_.idle() && machine_.nextTime() == now_) ||
                      (!events_.empty() && events_.front().time == now_);
    zero = !ends && !dirty_.empty();
  }
}

void EngineState::attempt(Slot slot) {
  std::uint32_t rankClass = slot / kStreamCount;
  int stream = static_cast<int>(slot % kStreamCount);
  if (machine_.busy(slot))
    return;
  if (stream == static_cast<int>(program::Stream::Compute))
    attemptCompute(rankClass);
  else
    attemptStream(rankClass, stream);
}

bool EngineState::nextMoment() {
  if (machine_.idle() && events_.empty())
    return false;
  now_ = kEndOfTime;
  if (!machine_.idle())
    now_ = machine_.nextTime();
  if (!events_.empty())
    now_ = std::min(now_, events_.front().time);
  return true;
}

void EngineState::handleMoment() {
  auto after = [](const Event &a, const Event &b) { return a.after(b); };
  for (;;) {
    if (!events_.empty() && events_.front().time == now_) {
      std::pop_heap(events_.begin(), events_.end(), after);
      Event event = events_.back();
      events_.pop_back();
      handleEvent(event);
    } else if (!machine_.idle() && machine_.nextTime() == now_) {
      handleSlot(machine_.next());
    } else {
      return;
    }
  }
}

void EngineState::handleEvent(const Event &event) {
  if (event.kind == Event::Kind::Arrival)
    arrived(event.step, event.index);
  // A run that became instructions tells of its later pieces itself.
  else if (event.time <= classes_[event.index].materialisedAt[event.run])
    pieceReady(event.index, event.step, event.bucket);
}

void EngineState::handleSlot(Slot slot) {
  std::uint32_t c = slot / kStreamCount;
  int stream = static_cast<int>(slot % kStreamCount);
  ClassState &state = classes_[c];
  if (state.running && state.materialised &&
      state.run.current(stream) != BlockRun::kNone) {
    state.run.finish(stream, placeOf(c), now_);
    drain(c);
    if (stream != 0)
      markDirty(slot);
    if (state.run.done())
      runEnded(c);
    return;
  }
  machine_.finish(slot, now_);
  Owner owner = owners_[slot];
  switch (owner.kind) {
  case Owner::Kind::Run:
    runEnded(c);
    return;
  case Owner::Kind::Send:
    sendEnded(owner.step, owner.index);
    break;
  case Owner::Kind::Group:
    groupEnded(owner.step, owner.index);
    return;
  case Owner::Kind::Reduce:
    reduceEnded(c, owner.step, owner.index);
    break;
  case Owner::Kind::Gather:
    gatherEnded(c, owner.step, owner.index);
    break;
  }
  freeStream(c, stream);
}

void EngineState::freeStream(std::uint32_t rankClass, int stream) {
  ClassState &state = classes_[rankClass];
  markDirty(rankClass * kStreamCount + static_cast<Slot>(stream));
  if (!state.running || !state.materialised || state.run.done())
    return;
  state.run.advance(1u << stream, placeOf(rankClass), now_);
  drain(rankClass);
  if (state.run.done())
    runEnded(rankClass);
}

void EngineState::pushEvent(Event event) {
  event.sequence = sequence_++;
  events_.push_back(event);
  std::push_heap(events_.begin(), events_.end(),
                 [](const Event &a, const Event &b) { return a.after(b); });
}

std::string EngineState::describe(std::uint32_t rankClass,
                                  std::uint32_t task) const {
  const program::RankProgram &source = *program_.classes[rankClass].source;
  const program::Task &what = source.tasks[program::TaskId(task)];
  std::string name = what.name;
  if (name.empty() && what.kind == program::TaskKind::Run)
    name = program_.source->blocks[what.block].name;
  std::string micro = what.microBatch >= 0
                          ? fmt::format(", micro-batch {}", what.microBatch)
                          : "";
  return fmt::format("`{}` {} {} `{}`{}", source.name, toString(what.kind),
                     task, name, micro);
}

Failure EngineState::deadlock() const {
  constexpr std::size_t kShown = 8;
  std::string text = "the order can never run; waiting for each other:";
  std::size_t shown = 0;
  for (std::uint32_t c = 0; c < classes_.size(); ++c)
    for (int s = 0; s < kStreamCount; ++s) {
      Cursor cursor = classes_[c].order[s];
      bool begun = s == 0 && classes_[c].running;
      if ((!begun && !head(c, s, cursor)) || shown++ >= kShown)
        continue;
      std::uint32_t task =
          begun ? classes_[c].task : program_.classes[c].order[s][cursor.at];
      text += fmt::format("{} {}{}", shown > 1 ? "," : "", describe(c, task),
                          begun ? ", begun" : "");
    }
  if (shown > kShown)
    text += fmt::format(", and {} more", shown - kShown);
  return {FailureKind::Illegal, text, {}};
}

namespace {

bool inRange(const std::vector<std::vector<OpCost>> &costs) {
  for (const std::vector<OpCost> &list : costs)
    for (const OpCost &cost : list)
      if (cost.duration.value < 0 || cost.duration.value >= kEndOfTime ||
          cost.latency.value < 0 || cost.latency > cost.duration)
        return false;
  return true;
}

bool inRange(const CompiledProgram &program) {
  for (const CompiledClass &rankClass : program.classes)
    for (const auto *buckets : {&rankClass.reduces, &rankClass.gathers})
      for (const CompiledBucket &bucket : *buckets)
        if (bucket.cost.duration.value < 0 ||
            bucket.cost.duration.value >= kEndOfTime)
          return false;
  return true;
}

} // namespace

Simulator::Simulator(const program::ProgramSet &set, const Costs &costs)
    : costs_(costs), program_(std::make_unique<const CompiledProgram>(
                         compileProgram(set, costs))) {}
Simulator::~Simulator() = default;

const program::ProgramSet &Simulator::set() const { return *program_->source; }

Beginning::Beginning() = default;
Beginning::~Beginning() = default;

Result<timeline::Timeline> Simulator::run(const IssueOrder &order,
                                          const Options &options) const {
  return run(order, options, nullptr);
}

Result<timeline::Timeline> Simulator::run(const IssueOrder &order,
                                          const Options &options,
                                          Beginning &beginning) const {
  return run(order, options,
             options.mode == Mode::Reuse ? &beginning : nullptr);
}

Result<timeline::Timeline> Simulator::run(const IssueOrder &order,
                                          const Options &options,
                                          Beginning *beginning) const {
  if (options.steps < 1)
    return Failure{FailureKind::Internal, "a run of no steps", {}};
  const auto ordered = std::make_shared<const CompiledProgram>(
      withOrder(*program_, costs_, order));
  if (!inRange(costs_.instructions) || !inRange(costs_.tasks) ||
      !inRange(*ordered))
    return Failure{
        FailureKind::Unsupported,
        "one operation takes more than 53 days, where virtual time ends",
        {}};
  EngineState state(*ordered, costs_.units, options);
  if (!beginning)
    return state.run();
  state.expect(beginning->instructions_);
  state.leaveSnapshot(ordered, beginning->snapshot_);
  if (beginning->snapshot_)
    beginning->resumed_ += state.resume(*beginning->snapshot_);
  Result<timeline::Timeline> timeline = state.run();
  if (timeline)
    beginning->instructions_ =
        std::max(beginning->instructions_, timeline->instructions.size());
  return timeline;
}

Result<timeline::Timeline> simulate(const program::ProgramSet &set,
                                    const Costs &costs, const IssueOrder &order,
                                    const Options &options) {
  return Simulator(set, costs).run(order, options);
}

} // namespace planc::sim
