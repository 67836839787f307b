#include "runtime/sim/EngineState.h"

#include <algorithm>

namespace planc::sim {

using program::kStreamCount;
using program::Stream;
using program::TaskKind;
using timeline::Communication;
using timeline::CommunicationSource;

namespace {
Communication communication(CommunicationSource source, std::int32_t step,
                            std::uint32_t index) {
  Communication out;
  out.source = source;
  out.step = step;
  out.index = index;
  return out;
}

constexpr int kParameters = static_cast<int>(Stream::Parameters);
} // namespace

std::uint32_t EngineState::record(std::uint32_t rankClass, Communication what,
                                  Time ready) {
  what.ready = Duration(ready);
  what.begin = Duration(now_);
  std::vector<Communication> &list = timelineOf(rankClass).communications;
  list.push_back(what);
  return static_cast<std::uint32_t>(list.size() - 1);
}

void EngineState::taskEnded(std::uint32_t rankClass, std::int32_t step,
                            std::uint32_t task) {
  const CompiledClass &compiled = program_.classes[rankClass];
  stateOf(step, rankClass).tasks[task].end = now_;
  --left_;
  const CompiledTask &what = compiled.tasks[task];
  for (std::uint32_t at = what.successorsAt; at < what.successorsEnd; ++at)
    lower(rankClass, step, compiled.successors[at]);
}

void EngineState::lower(std::uint32_t rankClass, std::int32_t step,
                        std::uint32_t task) {
  StepState &state = stateOf(step, rankClass);
  if (--state.tasks[task].waiting > 0)
    return;
  state.tasks[task].ready = now_;
  const CompiledTask &what = program_.classes[rankClass].tasks[task];
  if (what.kind == TaskKind::Recv) {
    std::uint32_t sender = program_.transfers[what.match].from;
    markDirty(sender * kStreamCount + static_cast<Slot>(Stream::Send));
  } else {
    markDirty(rankClass * kStreamCount + static_cast<Slot>(what.stream));
  }
}

void EngineState::pipelineEnded(std::uint32_t rankClass, std::int32_t step) {
  const CompiledClass &compiled = program_.classes[rankClass];
  for (std::uint32_t task : compiled.afterPipeline)
    lower(rankClass, step, task);
  if (!compiled.reducesAfterPipeline)
    return;
  for (std::uint32_t b = 0; b < compiled.reduces.size(); ++b)
    if (!compiled.reduces[b].follows)
      pieceReady(rankClass, step, b);
}

bool EngineState::head(std::uint32_t rankClass, int stream,
                       Cursor &cursor) const {
  const std::vector<std::uint32_t> &order =
      program_.classes[rankClass].order[stream];
  if (order.empty())
    return false;
  for (;;) {
    if (cursor.at == order.size())
      cursor = {cursor.step + 1, 0};
    if (cursor.step >= options_.steps)
      return false;
    // Receives are no queue: they end in any order.
    if (stream != static_cast<int>(Stream::Recv) ||
        stateOf(cursor.step, rankClass).tasks[order[cursor.at]].end < 0)
      return true;
    ++cursor.at;
  }
}

void EngineState::attemptStream(std::uint32_t rankClass, int stream) {
  if (stream == static_cast<int>(Stream::Recv))
    return;
  Cursor cursor = classes_[rankClass].order[stream];
  if (head(rankClass, stream, cursor) && startTask(rankClass, stream, cursor))
    return;
  for (std::size_t leg = 0; leg < std::size(kReductionStreams); ++leg)
    if (stream == static_cast<int>(kReductionStreams[leg]))
      startReduce(rankClass, leg);
  if (stream == kParameters)
    startGather(rankClass, stream);
}

bool EngineState::startTask(std::uint32_t rankClass, int stream, Cursor head) {
  std::uint32_t task = program_.classes[rankClass].order[stream][head.at];
  const CompiledTask &what = program_.classes[rankClass].tasks[task];
  if (stateOf(head.step, rankClass).tasks[task].waiting > 0)
    return false;
  if (what.kind == TaskKind::Send) {
    const Transfer &transfer = program_.transfers[what.match];
    if (stateOf(head.step, transfer.to).tasks[transfer.recv].waiting > 0)
      return false;
  }
  makeWay(rankClass, stream);
  if (machine_.busy(rankClass * kStreamCount + static_cast<Slot>(stream)))
    return true; // the block was first
  classes_[rankClass].order[stream] = {head.step, head.at + 1};
  if (what.kind == TaskKind::Send)
    startSend(rankClass, head.step, what.match);
  else
    joinGroup(rankClass, head.step, task);
  return true;
}

void EngineState::startSend(std::uint32_t rankClass, std::int32_t step,
                            std::uint32_t match) {
  const Transfer &transfer = program_.transfers[match];
  const OpCost &cost = program_.transferCosts[transfer.cost];
  makeWay(transfer.members[0], cost);
  makeWay(transfer.members[1], cost);
  StepState &from = stateOf(step, transfer.from);
  StepState &to = stateOf(step, transfer.to);
  from.tasks[transfer.send].begin = now_;
  to.tasks[transfer.recv].begin = now_;
  Communication sent =
      communication(CommunicationSource::Send, step, transfer.send);
  sent.stream = Stream::Send;
  sent.kind = program::CommunicationKind::Pipeline;
  Communication got =
      communication(CommunicationSource::Recv, step, transfer.recv);
  got.stream = Stream::Recv;
  got.kind = program::CommunicationKind::Pipeline;
  from.tasks[transfer.send].record =
      record(transfer.from, sent, from.tasks[transfer.send].ready);
  to.tasks[transfer.recv].record =
      record(transfer.to, got, to.tasks[transfer.recv].ready);
  Slot slot = rankClass * kStreamCount + static_cast<Slot>(Stream::Send);
  owners_[slot] = {Owner::Kind::Send, match, step};
  machine_.startMessage(slot, cost, transfer.members, now_);
}

void EngineState::sendEnded(std::int32_t step, std::uint32_t match) {
  const Transfer &transfer = program_.transfers[match];
  timelineOf(transfer.from)
      .communications[stateOf(step, transfer.from).tasks[transfer.send].record]
      .end = Duration(now_);
  taskEnded(transfer.from, step, transfer.send);
  const Duration latency = program_.transferCosts[transfer.cost].latency;
  if (latency.value == 0) {
    arrived(step, match);
    return;
  }
  Event event;
  event.kind = Event::Kind::Arrival;
  event.time = now_ + latency.value;
  event.index = match;
  event.step = step;
  pushEvent(event);
}

void EngineState::arrived(std::int32_t step, std::uint32_t match) {
  const Transfer &transfer = program_.transfers[match];
  timelineOf(transfer.to)
      .communications[stateOf(step, transfer.to).tasks[transfer.recv].record]
      .end = Duration(now_);
  taskEnded(transfer.to, step, transfer.recv);
}

void EngineState::joinGroup(std::uint32_t rankClass, std::int32_t step,
                            std::uint32_t task) {
  const CompiledTask &what = program_.classes[rankClass].tasks[task];
  stateOf(step, rankClass).tasks[task].begin = now_;
  machine_.hold(rankClass * kStreamCount + static_cast<Slot>(what.stream));
  GroupState &group = groups_[static_cast<std::size_t>(step)][what.match];
  if (++group.joined == program_.groups[what.match].members.size())
    startGroup(step, what.match);
}

void EngineState::startGroup(std::int32_t step, std::uint32_t index) {
  const Group &group = program_.groups[index];
  for (const Member &member : group.members)
    makeWay(member, group.cost);
  groups_[static_cast<std::size_t>(step)][index].begin = now_;
  for (std::size_t i = 0; i < group.members.size(); ++i) {
    const std::uint32_t c = group.members[i].rankClass, task = group.tasks[i];
    StepState &state = stateOf(step, c);
    Communication joined =
        communication(CommunicationSource::Collective, step, task);
    joined.stream = program_.classes[c].tasks[task].stream;
    joined.kind =
        program_.classes[c].source->tasks[program::TaskId(task)].message.kind;
    state.tasks[task].record = record(c, joined, state.tasks[task].begin);
  }
  std::uint32_t first = group.members[0].rankClass;
  Stream stream = program_.classes[first].tasks[group.tasks[0]].stream;
  Slot slot = first * kStreamCount + static_cast<Slot>(stream);
  owners_[slot] = {Owner::Kind::Group, index, step};
  machine_.startMessage(slot, group.cost, group.members, now_);
}

void EngineState::groupEnded(std::int32_t step, std::uint32_t index) {
  const Group &group = program_.groups[index];
  for (std::size_t i = 0; i < group.members.size(); ++i) {
    std::uint32_t c = group.members[i].rankClass;
    std::uint32_t task = group.tasks[i];
    Stream stream = program_.classes[c].tasks[task].stream;
    machine_.letGo(c * kStreamCount + static_cast<Slot>(stream));
    timelineOf(c).communications[stateOf(step, c).tasks[task].record].end =
        Duration(now_);
    if (stream == Stream::Compute) {
      chargeIdle(c, step, task);
      classes_[c].computeEnd = now_;
    }
    taskEnded(c, step, task);
    freeStream(c, static_cast<int>(stream));
  }
}

void EngineState::pieceReady(std::uint32_t rankClass, std::int32_t step,
                             std::uint32_t bucket) {
  StepState &state = stateOf(step, rankClass);
  if (--state.reduceWaiting[bucket] > 0)
    return;
  state.reduceReady[bucket] = now_;
  markDirty(
      rankClass * kStreamCount +
      static_cast<Slot>(program_.classes[rankClass].reduces[bucket].stream));
}

void EngineState::startReduce(std::uint32_t rankClass, std::size_t leg) {
  Cursor &cursor = classes_[rankClass].reduces[leg];
  const CompiledClass &compiled = program_.classes[rankClass];
  const std::vector<std::uint32_t> &order = compiled.reduceOrder[leg];
  if (cursor.at == order.size())
    cursor = {cursor.step + 1, 0};
  if (order.empty() || cursor.step >= options_.steps)
    return;
  const std::uint32_t bucket = order[cursor.at];
  StepState &state = stateOf(cursor.step, rankClass);
  if (state.reduceWaiting[bucket] > 0)
    return;
  const OpCost &cost = compiled.reduces[bucket].cost;
  const int stream = static_cast<int>(kReductionStreams[leg]);
  makeWay(rankClass, stream);
  makeWay(compiled.self[0], cost);
  Slot slot = rankClass * kStreamCount + static_cast<Slot>(stream);
  if (machine_.busy(slot))
    return;
  state.reduceBegin[bucket] = now_;
  Communication begun =
      communication(CommunicationSource::Reduce, cursor.step, bucket);
  begun.stream = kReductionStreams[leg];
  begun.kind = compiled.reduces[bucket].kind;
  state.reduceRecord[bucket] =
      record(rankClass, begun, state.reduceReady[bucket]);
  owners_[slot] = {Owner::Kind::Reduce, bucket, cursor.step};
  machine_.startMessage(slot, cost, compiled.self, now_);
  ++cursor.at;
}

void EngineState::startGather(std::uint32_t rankClass, int stream) {
  Cursor &cursor = classes_[rankClass].gathers;
  const CompiledClass &compiled = program_.classes[rankClass];
  if (cursor.at == compiled.gathers.size())
    cursor = {cursor.step + 1, 0};
  // Nobody uses what would be gathered after the last step.
  if (compiled.gathers.empty() || cursor.step + 1 >= options_.steps ||
      stateOf(cursor.step, rankClass).gatherWaiting[cursor.at] > 0)
    return;
  const OpCost &cost = compiled.gathers[cursor.at].cost;
  makeWay(rankClass, stream);
  makeWay(compiled.self[0], cost);
  Slot slot = rankClass * kStreamCount + static_cast<Slot>(stream);
  if (machine_.busy(slot))
    return;
  StepState &state = stateOf(cursor.step, rankClass);
  state.gatherBegin[cursor.at] = now_;
  Communication begun =
      communication(CommunicationSource::Gather, cursor.step, cursor.at);
  begun.stream = Stream::Parameters;
  begun.kind = compiled.gathers[cursor.at].kind;
  state.gatherRecord[cursor.at] =
      record(rankClass, begun, state.gatherReady[cursor.at]);
  owners_[slot] = {Owner::Kind::Gather, cursor.at, cursor.step};
  machine_.startMessage(slot, cost, compiled.self, now_);
  ++cursor.at;
}

void EngineState::reduceEnded(std::uint32_t rankClass, std::int32_t step,
                              std::uint32_t bucket) {
  const CompiledClass &compiled = program_.classes[rankClass];
  StepState &state = stateOf(step, rankClass);
  state.reduceEnd[bucket] = now_;
  --left_;
  timelineOf(rankClass).communications[state.reduceRecord[bucket]].end =
      Duration(now_);
  for (std::uint32_t follower : compiled.reduces[bucket].followers)
    pieceReady(rankClass, step, follower);
  for (std::uint32_t task : compiled.afterReduces)
    lower(rankClass, step, task);
}

void EngineState::gatherEnded(std::uint32_t rankClass, std::int32_t step,
                              std::uint32_t bucket) {
  const CompiledClass &compiled = program_.classes[rankClass];
  StepState &state = stateOf(step, rankClass);
  state.gatherEnd[bucket] = now_;
  --left_;
  timelineOf(rankClass).communications[state.gatherRecord[bucket]].end =
      Duration(now_);
  for (std::uint32_t task : compiled.afterGathers)
    lower(rankClass, step + 1, task);
  ClassState &running = classes_[rankClass];
  const CompiledTask *task =
      running.running ? &compiled.tasks[running.task] : nullptr;
  if (!task || !running.materialised || task->hooks == kNone ||
      running.step != step + 1)
    return;
  for (const Hook &use : compiled.hooks[task->hooks].uses)
    if (use.bucket == bucket)
      running.run.release(use.instruction, placeOf(rankClass), now_);
  drain(rankClass);
  if (running.run.done())
    runEnded(rankClass);
}

} // namespace planc::sim
