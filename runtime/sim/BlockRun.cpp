#include "runtime/sim/BlockRun.h"

#include <bit>

namespace planc::sim {

using program::kStreamCount;

namespace {

void compileOrder(CompiledBlock &out) {
  for (std::uint32_t i = 0; i < out.count; ++i)
    ++out.orderAt[out.stream[i] + 1u];
  for (int s = 0; s < kStreamCount; ++s)
    out.orderAt[s + 1] += out.orderAt[s];
  out.order.resize(out.count);
  std::array<std::uint32_t, kStreamCount + 1> at = out.orderAt;
  for (std::uint32_t i = 0; i < out.count; ++i)
    out.order[at[out.stream[i]]++] = i;
}

void compileSuccessors(CompiledBlock &out) {
  const std::vector<program::Instruction> &all = out.source->instructions;
  out.successorsAt.assign(out.count + 1, 0);
  for (const program::Instruction &instruction : all)
    for (std::uint32_t dep : instruction.deps)
      ++out.successorsAt[dep + 1];
  for (std::uint32_t i = 0; i < out.count; ++i)
    out.successorsAt[i + 1] += out.successorsAt[i];
  out.successors.resize(out.successorsAt[out.count]);
  std::vector<std::uint32_t> at = out.successorsAt;
  for (std::uint32_t i = 0; i < out.count; ++i)
    for (std::uint32_t dep : all[i].deps)
      out.successors[at[dep]++] = i;
}

} // namespace

CompiledBlock compileBlock(const program::Block &block,
                           const std::vector<OpCost> &costs) {
  CompiledBlock out;
  out.count = static_cast<std::uint32_t>(block.instructions.size());
  out.source = &block;
  out.costs = costs.data();
  for (std::uint32_t i = 0; i < out.count; ++i) {
    const program::Instruction &instruction = block.instructions[i];
    bool kernel =
        classOf(instruction.kind) == program::InstructionClass::Compute;
    out.stream.push_back(static_cast<std::uint8_t>(instruction.stream));
    out.isKernel.push_back(kernel);
    out.waiting.push_back(static_cast<std::uint32_t>(instruction.deps.size()));
    out.streams |= 1u << out.stream[i];
    out.kernels |= kernel;
    if (!kernel)
      out.levels |= levelsOf(costs[i]);
  }
  compileOrder(out);
  compileSuccessors(out);
  return out;
}

void reorder(CompiledBlock &block,
             std::span<const std::uint32_t> instructions) {
  std::array<std::uint32_t, kStreamCount + 1> at = block.orderAt;
  for (std::uint32_t i : instructions)
    block.order[at[block.stream[i]]++] = i;
}

void BlockRun::reset(const CompiledBlock &block) {
  block_ = &block;
  waiting_ = block.waiting;
  times_.assign(block.count, {});
  for (int s = 0; s < kStreamCount; ++s)
    cursor_[s] = block.orderAt[s];
  current_.fill(kNone);
  left_ = block.count;
  ended_.clear();
}

void BlockRun::release(std::uint32_t instruction, const Place &place,
                       Time now) {
  if (--waiting_[instruction] == 0)
    advance(1u << block_->stream[instruction], place, now);
}

void BlockRun::advance(std::uint32_t streams, const Place &place, Time now) {
  dirty_ = streams;
  while (dirty_ != 0) {
    int stream = std::countr_zero(dirty_);
    dirty_ &= dirty_ - 1;
    Slot slot = place.rankClass * kStreamCount + static_cast<Slot>(stream);
    while (cursor_[stream] < block_->orderAt[stream + 1]) {
      std::uint32_t head = block_->order[cursor_[stream]];
      if (waiting_[head] != 0 || current_[stream] != kNone ||
          place.machine.busy(slot))
        break;
      ++cursor_[stream];
      start(head, place, now);
    }
  }
}

void BlockRun::start(std::uint32_t instruction, const Place &place, Time now) {
  times_[instruction].begin = Duration(now);
  const OpCost &cost = block_->costs[instruction];
  if (cost.duration.value == 0) {
    end(instruction, now);
    return;
  }
  std::uint8_t stream = block_->stream[instruction];
  Slot slot = place.rankClass * kStreamCount + stream;
  current_[stream] = instruction;
  if (block_->isKernel[instruction])
    place.machine.startKernel(slot, cost, now);
  else
    place.machine.startMessage(slot, cost, place.self, now);
}

void BlockRun::finish(int stream, const Place &place, Time now) {
  std::uint32_t instruction = current_[stream];
  current_[stream] = kNone;
  place.machine.finish(
      place.rankClass * kStreamCount + static_cast<Slot>(stream), now);
  dirty_ = 0;
  end(instruction, now);
  advance(dirty_ | 1u << stream, place, now);
}

void BlockRun::end(std::uint32_t instruction, Time now) {
  timeline::InstructionTimes &times = times_[instruction];
  times.end = Duration(now);
  if (block_->isKernel[instruction])
    times.slowed =
        times.end - times.begin - block_->costs[instruction].duration;
  --left_;
  ended_.push_back(instruction);
  for (std::uint32_t at = block_->successorsAt[instruction];
       at < block_->successorsAt[instruction + 1]; ++at) {
    std::uint32_t successor = block_->successors[at];
    if (--waiting_[successor] == 0)
      dirty_ |= 1u << block_->stream[successor];
  }
}

void BlockRun::shift(Duration by) {
  for (timeline::InstructionTimes &times : times_) {
    times.begin += by;
    times.end += by;
  }
}

void Replay::runTo(const CompiledBlock &block, Time until) {
  machine_ = Machine(1, units_, contention_);
  static constexpr Member kSelf[1] = {{0, Member::kBoth}};
  BlockRun::Place place{machine_, 0, kSelf};
  run_.reset(block);
  now_ = 0;
  run_.advance(block.streams, place, 0);
  while (!machine_.idle() && machine_.nextTime() <= until) {
    now_ = machine_.nextTime();
    run_.finish(static_cast<int>(machine_.next()), place, now_);
  }
}

} // namespace planc::sim
