#include "runtime/sim/Costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace planc::sim {

using program::InstructionKind;
using program::TaskKind;

namespace {

std::int32_t narrow(std::int64_t value) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(
      value, 0, std::numeric_limits<std::int32_t>::max()));
}

OpCost fromKernel(const cost::ComputeCost &kernel) {
  OpCost out;
  out.duration = kernel.total;
  out.memoryShare = narrow(kernel.memoryShare);
  out.bound = kernel.bound;
  return out;
}

OpCost fromMessage(const cost::CollectiveCost &message) {
  OpCost out;
  out.duration = message.total;
  out.units = narrow(message.units);
  out.memoryShare = narrow(message.memoryShare);
  for (std::size_t level = 0; level < message.levels.size(); ++level)
    out.links[std::min(level, kLevels - 1)] =
        narrow(message.levels[level].share);
  return out;
}

OpCost instructionCost(const program::Instruction &instruction,
                       const cost::CostModel &model) {
  bool kernel = classOf(instruction.kind) == program::InstructionClass::Compute;
  OpCost out =
      kernel ? fromKernel(model.compute(instruction.kind, instruction.work))
             : fromMessage(
                   model.communicate(instruction.kind, instruction.message));
  if (instruction.duration)
    out.duration = *instruction.duration;
  return out;
}

/// The message of a stated duration: without bytes it is latency only.
void state(OpCost &cost, const program::Task &task) {
  cost.duration = *task.duration;
  if (task.kind == TaskKind::Send && task.message.bytes == Bytes(0))
    cost.latency = cost.duration;
  else
    cost.latency = std::min(cost.latency, cost.duration);
}

/// A pipeline sends the same few messages thousands of times.
class TaskCosts {
public:
  explicit TaskCosts(const cost::CostModel &model) : model_(model) {}

  OpCost of(const program::Task &task) {
    if (task.kind == TaskKind::Run || task.kind == TaskKind::Recv)
      return {};
    OpCost out = known(task.kind == TaskKind::Send, task.message);
    if (task.duration)
      state(out, task);
    return out;
  }

private:
  using Key = std::tuple<bool, std::int64_t, std::vector<std::int64_t>,
                         std::vector<std::int64_t>, program::CommunicationKind>;

  OpCost known(bool send, const program::Message &message) {
    auto [at, isNew] =
        known_.try_emplace(Key(send, message.bytes.value, message.sizes,
                               message.strides, message.kind));
    if (isNew) {
      const cost::CollectiveCost cost = model_.communicate(
          send ? InstructionKind::Send : InstructionKind::AllReduce, message);
      at->second = fromMessage(cost);
      if (send)
        at->second.latency = cost.latency;
    }
    return at->second;
  }

  const cost::CostModel &model_;
  std::map<Key, OpCost> known_;
};

} // namespace

Costs modelCosts(const program::ProgramSet &set, const cost::CostModel &model) {
  Costs out;
  out.units = narrow(model.units());
  for (const program::Block &block : set.blocks) {
    std::vector<OpCost> &list = out.instructions.emplace_back();
    for (const program::Instruction &instruction : block.instructions)
      list.push_back(instructionCost(instruction, model));
  }
  TaskCosts tasks(model);
  for (const program::RankProgram &rankClass : set.classes) {
    std::vector<OpCost> &list = out.tasks.emplace_back();
    for (const program::Task &task : rankClass.tasks)
      list.push_back(tasks.of(task));
  }
  out.bucket = [&model](const program::RankProgram &,
                        const program::Piece &piece, Bytes bytes) {
    program::Message message = piece.message;
    message.bytes = bytes;
    cost::CollectiveCost cost = model.communicate(piece.collective, message);
    OpCost bucket = fromMessage(cost);
    bucket.latency = cost.latency;
    return bucket;
  };
  return out;
}

OpCost AffineCost::operator()(const program::RankProgram &,
                              const program::Piece &, Bytes bytes) const {
  OpCost out;
  Int128 flow = Int128(bytes.value) * perMebibyte.value;
  flow = (flow + (1 << 20) - 1) >> 20;
  Int128 most = std::numeric_limits<std::int64_t>::max() / 4;
  out.duration =
      Duration(static_cast<std::int64_t>(std::min(latency.value + flow, most)));
  out.latency = std::min(latency, out.duration);
  return out;
}

Result<Costs> statedCosts(const program::ProgramSet &set, AffineCost bucket) {
  Costs out;
  for (const program::Block &block : set.blocks) {
    std::vector<OpCost> &list = out.instructions.emplace_back();
    for (const program::Instruction &instruction : block.instructions) {
      if (!instruction.duration)
        return Failure{FailureKind::Illegal,
                       fmt::format("`{}` of block `{}` states no duration",
                                   instruction.name, block.name),
                       instruction.origin};
      list.emplace_back().duration = *instruction.duration;
    }
  }
  for (const program::RankProgram &rankClass : set.classes) {
    std::vector<OpCost> &list = out.tasks.emplace_back();
    for (const program::Task &task : rankClass.tasks) {
      list.emplace_back();
      if (task.kind == TaskKind::Run || task.kind == TaskKind::Recv)
        continue;
      if (!task.duration)
        return Failure{FailureKind::Illegal,
                       fmt::format("a {} of class `{}` states no duration",
                                   toString(task.kind), rankClass.name),
                       task.clause};
      state(list.back(), task);
    }
  }
  out.bucket = bucket;
  return out;
}

} // namespace planc::sim
