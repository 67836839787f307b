#include "runtime/sim/EngineState.h"

#include <algorithm>
#include <limits>

namespace planc::sim {

using program::kStreamCount;
using program::PassKind;
using program::TaskKind;

void EngineState::attemptCompute(std::uint32_t rankClass) {
  ClassState &state = classes_[rankClass];
  if (state.running)
    return;
  Cursor cursor = state.order[0];
  if (!head(rankClass, 0, cursor))
    return;
  state.order[0] = cursor;
  std::uint32_t task = program_.classes[rankClass].order[0][cursor.at];
  if (stateOf(cursor.step, rankClass).tasks[task].waiting > 0)
    return;
  if (program_.classes[rankClass].tasks[task].kind != TaskKind::Run) {
    startTask(rankClass, 0, cursor);
    return;
  }
  if (!joinHolds(rankClass, cursor.step, task))
    startRun(rankClass, cursor);
}

bool EngineState::joinHolds(std::uint32_t rankClass, std::int32_t step,
                            std::uint32_t task) {
  if (!program_.joins || task != program_.classes[rankClass].firstUpdate)
    return false;
  auto at = static_cast<std::size_t>(step);
  StepState &state = stateOf(step, rankClass);
  if (state.arrival < 0) {
    state.arrival = now_;
    if (++arrivedCount_[at] == joining_) {
      joinedAt_[at] = now_;
      for (std::uint32_t c = 0; c < classes_.size(); ++c)
        markDirty(c * kStreamCount);
    }
  }
  return joinedAt_[at] < 0;
}

void EngineState::startRun(std::uint32_t rankClass, Cursor head) {
  ClassState &state = classes_[rankClass];
  const CompiledClass &compiled = program_.classes[rankClass];
  state.order[0] = {head.step, head.at + 1};
  if (head.at + 1 < compiled.order[0].size())
    nearPieces_ |= compiled.order[0][head.at + 1] == compiled.firstPiece;
  state.task = compiled.order[0][head.at];
  state.step = head.step;
  state.begin = now_;
  chargeIdle(rankClass, head.step, state.task);
  stateOf(head.step, rankClass).tasks[state.task].begin = now_;
  state.running = true;

  timeline::Run run;
  run.task = program::TaskId(state.task);
  const std::uint32_t form = compiled.tasks[state.task].form;
  run.block = compiled.tasks[state.task].block;
  run.form = timeline::FormId(form);
  run.step = head.step;
  run.begin = Duration(now_);
  timelineOf(rankClass).runs.push_back(run);
  state.materialisedAt.push_back(std::numeric_limits<Time>::max());
  isolated(form);
  if (options_.mode == Mode::Reuse && !gathersMissing(rankClass) &&
      !touched(rankClass, program_.forms[form]))
    startApart(rankClass);
  else
    startMaterialised(rankClass);
}

void EngineState::startApart(std::uint32_t rankClass) {
  ClassState &state = classes_[rankClass];
  const CompiledTask &task = program_.classes[rankClass].tasks[state.task];
  const timeline::IsolatedRun &apart = isolated(task.form);
  state.materialised = false;
  Slot slot = rankClass * kStreamCount;
  machine_.startTimed(slot, now_ + apart.duration.value);
  owners_[slot] = {Owner::Kind::Run, 0, state.step};
  if (task.hooks == kNone)
    return;
  for (const Hook &hook : program_.classes[rankClass].hooks[task.hooks].pieces)
    if (hook.instruction < apart.instructions.size()) {
      Event event;
      event.time = now_ + apart.instructions[hook.instruction].end.value;
      event.index = rankClass;
      event.bucket = hook.bucket;
      event.run =
          static_cast<std::uint32_t>(timelineOf(rankClass).runs.size() - 1);
      event.step = state.step;
      pushEvent(event);
    }
}

void EngineState::startMaterialised(std::uint32_t rankClass) {
  ClassState &state = classes_[rankClass];
  const CompiledClass &compiled = program_.classes[rankClass];
  const CompiledTask &task = compiled.tasks[state.task];
  const CompiledBlock &block = program_.forms[task.form];
  state.materialised = true;
  state.run.reset(block);
  if (task.hooks != kNone && state.step > 0) {
    const StepState &before = stateOf(state.step - 1, rankClass);
    for (const Hook &use : compiled.hooks[task.hooks].uses)
      if (before.gatherEnd[use.bucket] < 0)
        state.run.hold(use.instruction);
  }
  state.run.advance(block.streams, placeOf(rankClass), now_);
  drain(rankClass);
  if (!state.run.done())
    return;
  Slot slot = rankClass * kStreamCount;
  machine_.startTimed(slot, now_);
  owners_[slot] = {Owner::Kind::Run, 0, state.step};
}

bool EngineState::gathersMissing(std::uint32_t rankClass) const {
  const ClassState &state = classes_[rankClass];
  const CompiledClass &compiled = program_.classes[rankClass];
  const CompiledTask &task = compiled.tasks[state.task];
  if (task.hooks == kNone || state.step == 0)
    return false;
  const StepState &before = stateOf(state.step - 1, rankClass);
  const std::vector<Hook> &uses = compiled.hooks[task.hooks].uses;
  return std::any_of(uses.begin(), uses.end(), [&](const Hook &use) {
    return before.gatherEnd[use.bucket] < 0;
  });
}

bool EngineState::touched(std::uint32_t rankClass,
                          const CompiledBlock &block) const {
  for (Slot stream = 1; stream < kStreamCount; ++stream)
    if ((block.streams >> stream & 1) &&
        machine_.busy(rankClass * kStreamCount + stream))
      return true;
  return machine_.touches(rankClass, block.kernels, block.levels);
}

void EngineState::makeWay(const Member &member, const OpCost &cost) {
  if (!isApart(member.rankClass) || options_.contention == Contention::Off ||
      cost.duration <= cost.latency)
    return;
  const CompiledBlock &block = blockOf(member.rankClass);
  if ((slowsKernels(cost) && block.kernels) ||
      (levelsOf(cost) & block.levels) != 0)
    materialise(member.rankClass);
}

void EngineState::makeWay(std::uint32_t rankClass, int stream) {
  if (isApart(rankClass) && (blockOf(rankClass).streams >> stream & 1))
    materialise(rankClass);
}

void EngineState::materialise(std::uint32_t rankClass) {
  ClassState &state = classes_[rankClass];
  const CompiledTask &task = program_.classes[rankClass].tasks[state.task];
  replay_.runTo(program_.forms[task.form], now_ - state.begin);
  std::swap(state.run, replay_.run());
  state.run.shift(Duration(state.begin));
  state.run.clearEnded();
  state.materialised = true;
  state.materialisedAt.back() = now_;
  // A run at its very end keeps the event that ends it.
  if (state.run.done())
    return;
  Slot first = rankClass * kStreamCount;
  machine_.finish(first, now_);
  for (int stream = 0; stream < kStreamCount; ++stream)
    if (state.run.current(stream) != BlockRun::kNone)
      machine_.adopt(first + static_cast<Slot>(stream), replay_.machine(),
                     static_cast<Slot>(stream), state.begin,
                     program_.classes[rankClass].self);
}

void EngineState::drain(std::uint32_t rankClass) {
  ClassState &state = classes_[rankClass];
  const CompiledClass &compiled = program_.classes[rankClass];
  const CompiledTask &task = compiled.tasks[state.task];
  if (task.hooks != kNone)
    for (std::uint32_t instruction : state.run.ended()) {
      const std::vector<Hook> &pieces = compiled.hooks[task.hooks].pieces;
      auto at =
          std::lower_bound(pieces.begin(), pieces.end(), Hook{instruction, 0});
      for (; at != pieces.end() && at->instruction == instruction; ++at)
        pieceReady(rankClass, state.step, at->bucket);
    }
  state.run.clearEnded();
}

void EngineState::runEnded(std::uint32_t rankClass) {
  ClassState &state = classes_[rankClass];
  const CompiledClass &compiled = program_.classes[rankClass];
  const CompiledTask &task = compiled.tasks[state.task];
  recordRun(rankClass);
  state.running = false;
  state.computeEnd = now_;
  std::int32_t step = state.step;
  if (task.hooks != kNone) {
    const TaskHooks &hooks = compiled.hooks[task.hooks];
    for (const Hook &hook : hooks.pieces)
      if (hook.instruction >= program_.forms[task.form].count)
        pieceReady(rankClass, step, hook.bucket);
    StepState &now = stateOf(step, rankClass);
    for (std::uint32_t gather : hooks.gathers)
      if (--now.gatherWaiting[gather] == 0)
        now.gatherReady[gather] = now_;
    markDirty(rankClass * kStreamCount +
              static_cast<Slot>(program::Stream::Parameters));
  }
  taskEnded(rankClass, step, state.task);
  if (task.pass != PassKind::Update &&
      --stateOf(step, rankClass).pipelineLeft == 0)
    pipelineEnded(rankClass, step);
  if (state.task == compiled.lastRun && step + 1 < options_.steps)
    for (std::uint32_t waiter : compiled.afterStep)
      lower(rankClass, step + 1, waiter);
  markDirty(rankClass * kStreamCount);
}

void EngineState::recordRun(std::uint32_t rankClass) {
  ClassState &state = classes_[rankClass];
  timeline::Run &run = timelineOf(rankClass).runs.back();
  run.end = Duration(now_);
  if (!state.materialised)
    return;
  const CompiledClass &compiled = program_.classes[rankClass];
  const CompiledTask &task = compiled.tasks[state.task];
  std::vector<timeline::InstructionTimes> &times = state.run.times();
  run.first = static_cast<std::uint32_t>(timeline_.instructions.size());
  timeline_.instructions.insert(timeline_.instructions.end(), times.begin(),
                                times.end());
  GatherEnds gathers;
  if (task.hooks != kNone && state.step > 0)
    gathers = {compiled.hooks[task.hooks].uses,
               stateOf(state.step - 1, rankClass).gatherEnd};
  runWaits_.clear();
  findWaits(program_.forms[task.form], times, {state.begin, now_}, gathers,
            runWaits_);
  for (Wait wait : runWaits_) {
    wait.step = state.step;
    wait.task = program::TaskId(state.task);
    addWait(rankClass, wait);
  }
}

const timeline::IsolatedRun &EngineState::isolated(std::uint32_t form) {
  timeline::IsolatedRun &apart = timeline_.isolated[timeline::FormId(form)];
  if (isolatedKnown_[form])
    return apart;
  isolatedKnown_[form] = 1;
  replay_.runTo(program_.forms[form], kEndOfTime);
  apart.duration = Duration(replay_.now());
  apart.instructions = replay_.run().times();
  findWaits(program_.forms[form], apart.instructions, {0, replay_.now()}, {},
            apart.waits);
  return apart;
}

BlockRun::Place EngineState::placeOf(std::uint32_t rankClass) {
  return {machine_, rankClass, program_.classes[rankClass].self};
}

} // namespace planc::sim
