// Attention around a ring: its blocks and the messages between them.
#include "compiler/lower/PassBuilder.h"
#include "compiler/lower/RingBlocks.h"

#include <fmt/core.h>

namespace planc::lower {

using program::Instruction;
using program::InstructionKind;
using program::Stream;
using shard::ShardedValueId;
using shard::Step;
using shard::StepKind;

bool PassBuilder::goesAround(const Step &step) const {
  if (step.kind != StepKind::Compute)
    return false;
  const ops::OpKind kind = opOf(body_, step).kind;
  const std::size_t keys = kind == ops::OpKind::Attention ? 1 : 2;
  return (kind == ops::OpKind::Attention ||
          kind == ops::OpKind::AttentionGrad) &&
         rings_.count(step.operands[keys]) &&
         rings_.count(step.operands[keys + 1]);
}

void PassBuilder::gatherAtOnce(const std::vector<ShardedValueId> &operands) {
  for (ShardedValueId operand : operands)
    if (auto ring = rings_.find(operand); ring != rings_.end()) {
      PlannedStep gather = ring->second;
      rings_.erase(ring);
      producer_[operand.index()] = kNoInstruction;
      addCollective(gather);
    }
}

Instruction PassBuilder::passOn(const PlannedStep &gather, Bytes bytes,
                                std::string name) const {
  Instruction instruction;
  instruction.kind = InstructionKind::CollectivePermute;
  instruction.stream = Stream::Context;
  instruction.phase = gather.phase;
  instruction.message.bytes = bytes;
  instruction.message.kind = program::CommunicationKind::Context;
  setGroup(instruction.message, *gather.step);
  instruction.name = std::move(name);
  instruction.origin = gather.step->origin;
  instruction.clause = gather.step->clause;
  return instruction;
}

void PassBuilder::addRing(const PlannedStep &planned) {
  const Step &step = *planned.step;
  const ops::Op &op = opOf(body_, step);
  const bool backward = op.kind == ops::OpKind::AttentionGrad;
  const std::size_t query = backward ? 1 : 0;
  const ShardedValueId keys = step.operands[query + 1],
                       values = step.operands[query + 2];
  const PlannedStep gather = rings_.at(keys);
  const bool serial = gather.step->ring == shard::RingSteps::Serial;
  const std::vector<program::Work> blocks =
      ringBlocks({&graph_, id_, &step, gather.step, &op});
  const auto members = static_cast<std::int64_t>(blocks.size());
  const Bytes message(
      (gather.step->bytes.value + rings_.at(values).step->bytes.value) /
      members);
  Bytes gradients;
  if (backward)
    for (std::size_t r = 1; r < step.results.size(); ++r)
      if (auto scatter = scatters_.find(step.results[r]);
          scatter != scatters_.end())
        gradients += Bytes(scatter->second->bytes.value / members);

  std::uint32_t arrived = kNoInstruction, block = kNoInstruction,
                home = kNoInstruction;
  for (std::int64_t t = 0; t < members; ++t) {
    const bool isLast = t + 1 == members;
    const auto send = [&] {
      if (isLast)
        return kNoInstruction;
      Instruction next = passOn(gather, message, step.name + " ring");
      if (t == 0) {
        depend(next, keys);
        depend(next, values);
      }
      // Two buffers: what arrives takes the place of what the block before
      // has read.
      if (block != kNoInstruction)
        next.deps.push_back(block);
      push(std::move(next), {});
      return here() - 1;
    };
    const std::uint32_t needed = arrived;
    if (!serial)
      arrived = send();
    addBlock(planned, blocks[static_cast<std::size_t>(t)], t, needed);
    block = here() - 1;
    if (t > 0 && gradients.value > 0) {
      Instruction back =
          passOn(gather, gradients, step.name + " ring of gradients");
      back.phase = step.phase;
      back.deps.push_back(block);
      push(std::move(back), {});
      home = here() - 1;
    }
    if (serial)
      arrived = send();
  }
  for (ShardedValueId result : step.results)
    producer_[result.index()] = block;
  if (backward && home != kNoInstruction)
    for (std::size_t r = 1; r < step.results.size(); ++r)
      if (scatters_.count(step.results[r]))
        cameHome_[step.results[r]] = home;
}

void PassBuilder::addBlock(const PlannedStep &planned,
                           const program::Work &work, std::int64_t index,
                           std::uint32_t arrived) {
  const Step &step = *planned.step;
  const bool backward = opOf(body_, step).kind == ops::OpKind::AttentionGrad;
  Instruction instruction;
  instruction.kind =
      backward ? InstructionKind::AttentionGrad : InstructionKind::Attention;
  instruction.phase = planned.phase;
  instruction.work = work;
  instruction.name = fmt::format("{} block {}", step.name, index + 1);
  instruction.origin = step.origin;
  instruction.clause = step.clause;
  for (ShardedValueId operand : step.operands)
    if (index == 0 || !rings_.count(operand))
      depend(instruction, operand);
  if (arrived != kNoInstruction)
    instruction.deps.push_back(arrived);
  push(std::move(instruction), {});
}

} // namespace planc::lower
