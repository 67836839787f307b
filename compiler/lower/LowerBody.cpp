#include "compiler/lower/LowerBody.h"

#include "compiler/lower/Kernels.h"
#include "compiler/lower/Liveness.h"
#include "compiler/lower/Quantise.h"
#include "compiler/lower/Rerun.h"
#include "compiler/lower/RingBlocks.h"
#include "compiler/lower/SplitBackward.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

namespace planc::lower {

using program::Instruction;
using program::InstructionKind;
using program::Phase;
using program::Stream;
using shard::ShardedValueId;
using shard::Step;
using shard::StepKind;

namespace {

constexpr std::uint32_t kNoInstruction = ~0u;

Stream streamOf(program::CommunicationKind kind) {
  switch (kind) {
  case program::CommunicationKind::Gradients:
    return Stream::Gradients;
  case program::CommunicationKind::Parameters:
    return Stream::Parameters;
  case program::CommunicationKind::Experts:
    return Stream::Experts;
  default:
    return Stream::Tensor;
  }
}

/// Turns the steps of one pass into instructions, in order.
class PassBuilder {
public:
  PassBuilder(const shard::ShardedGraph &graph, ops::BodyId body)
      : graph_(graph), id_(body), sharded_(graph.bodies[body]),
        body_(graph.graph->bodies[body]),
        producer_(sharded_.values.size(), kNoInstruction) {}

  void add(const std::vector<PlannedStep> &steps,
           const std::vector<Kernel> &kernels) {
    for (const PlannedStep &planned : steps)
      if (isRing(*planned.step, StepKind::ReduceScatter))
        scatters_[planned.step->operands[0]] = planned.step;
    for (const Kernel &kernel : kernels) {
      const PlannedStep &last = steps[kernel.steps.back()];
      const bool around = goesAround(*last.step);
      if (!around)
        gatherAtOnce(kernel.operands);
      if (last.step->kind == StepKind::Slice || isView(*last.step))
        alias(*last.step);
      else if (isRing(*last.step, StepKind::AllGather)) {
        rings_[last.step->results[0]] = last;
        alias(*last.step);
      } else if (auto home = cameHome_.find(last.step->operands.empty()
                                                ? ShardedValueId()
                                                : last.step->operands[0]);
                 home != cameHome_.end() &&
                 isRing(*last.step, StepKind::ReduceScatter))
        producer_[last.step->results[0].index()] = home->second;
      else if (around)
        addRing(last);
      else if (last.step->kind == StepKind::Compute)
        addKernel(steps, kernel);
      else
        addCollective(last);
    }
  }

  void readSlots(const std::vector<shard::Port> &ports) {
    for (const shard::Port &port : ports)
      arrivals_.push_back(port);
  }

  LoweredPass finish(const std::vector<shard::Port> &outputs) {
    for (const shard::Port &port : outputs)
      if (producer_[port.value.index()] != kNoInstruction)
        pass_.writes.push_back({port.slot, producer_[port.value.index()]});
    return std::move(pass_);
  }

  /// The last instruction a weight gradient goes through in this pass: what
  /// makes it, or the reduce-scatter that follows.
  std::uint32_t completes(ShardedValueId gradient) const {
    for (const auto &[value, instruction] : scattered_)
      if (value == gradient)
        return instruction;
    return producer_[gradient.index()];
  }

  /// The last instruction that makes one of `values`.
  std::uint32_t lastOf(const std::vector<ShardedValueId> &values) const {
    std::uint32_t last = 0;
    for (ShardedValueId value : values)
      if (producer_[value.index()] != kNoInstruction)
        last = std::max(last, producer_[value.index()]);
    return last;
  }

private:
  static bool isRing(const Step &step, StepKind kind) {
    return step.kind == kind && step.ring != shard::RingSteps::None;
  }

  /// Attention whose keys and values travel.
  bool goesAround(const Step &step) const {
    if (step.kind != StepKind::Compute)
      return false;
    const ops::OpKind kind = opOf(step).kind;
    const std::size_t keys = kind == ops::OpKind::Attention ? 1 : 2;
    return (kind == ops::OpKind::Attention ||
            kind == ops::OpKind::AttentionGrad) &&
           rings_.count(step.operands[keys]) &&
           rings_.count(step.operands[keys + 1]);
  }

  /// Whoever else reads what a ring would bring has it gathered.
  void gatherAtOnce(const std::vector<ShardedValueId> &operands) {
    for (ShardedValueId operand : operands)
      if (auto ring = rings_.find(operand); ring != rings_.end()) {
        PlannedStep gather = ring->second;
        rings_.erase(ring);
        producer_[operand.index()] = kNoInstruction;
        addCollective(gather);
      }
  }

  bool isView(const Step &step) const {
    return step.kind == StepKind::Compute &&
           ops::classOf(opOf(step).kind) == ops::OpClass::View;
  }
  const ops::Op &opOf(const Step &step) const {
    bool forward = step.phase == Phase::Forward;
    return forward ? body_.forward.forward[step.op] : body_.backward[step.op];
  }

  const ops::Value &sourceOf(ShardedValueId id) const {
    return body_.forward.values[sharded_.values[id].source];
  }
  bool isRouted(ShardedValueId id) const {
    return sourceOf(id).route.isRouted();
  }

  void alias(const Step &step) {
    if (step.operands.empty() || step.results.empty())
      return;
    for (ShardedValueId result : step.results) {
      producer_[result.index()] = producer_[step.operands[0].index()];
      for (std::size_t i = 0; i < arrivals_.size(); ++i)
        if (arrivals_[i].value == step.operands[0]) {
          arrivals_.push_back({arrivals_[i].slot, result});
          break;
        }
    }
  }

  void depend(Instruction &instruction, ShardedValueId operand) {
    std::uint32_t producer = producer_[operand.index()];
    if (producer != kNoInstruction)
      instruction.deps.push_back(producer);
    auto index = static_cast<std::uint32_t>(pass_.instructions.size());
    for (const shard::Port &port : arrivals_)
      if (port.value == operand && producer == kNoInstruction)
        pass_.reads.push_back({port.slot, index});
  }

  void push(Instruction instruction,
            const std::vector<ShardedValueId> &results) {
    std::sort(instruction.deps.begin(), instruction.deps.end());
    instruction.deps.erase(
        std::unique(instruction.deps.begin(), instruction.deps.end()),
        instruction.deps.end());
    for (ShardedValueId result : results)
      producer_[result.index()] =
          static_cast<std::uint32_t>(pass_.instructions.size());
    pass_.instructions.push_back(std::move(instruction));
  }

  void addKernel(const std::vector<PlannedStep> &steps, const Kernel &kernel) {
    const PlannedStep &last = steps[kernel.steps.back()];
    Instruction instruction;
    switch (ops::classOf(opOf(*last.step).kind)) {
    case ops::OpClass::Contraction:
      instruction.kind = isRouted(last.step->results[0])
                             ? InstructionKind::GroupedMatMul
                             : InstructionKind::MatMul;
      break;
    case ops::OpClass::Attention:
      instruction.kind = opOf(*last.step).kind == ops::OpKind::Attention
                             ? InstructionKind::Attention
                             : InstructionKind::AttentionGrad;
      break;
    default:
      instruction.kind = InstructionKind::Memory;
    }
    instruction.phase = last.phase;
    instruction.work = kernel.work;
    instruction.name = last.step->name;
    instruction.origin = last.step->origin;
    instruction.clause = last.step->clause;
    for (ShardedValueId operand : kernel.operands)
      if (!dependOnCopy(instruction, opOf(*last.step), operand))
        depend(instruction, operand);
    push(std::move(instruction), kernel.results);
  }

  /// A product in a narrow format reads copies of operands that this pass made
  /// or was given; false where there is none. What the forward kept for the
  /// backward was copied there, weights once a step unless they are gathered.
  bool dependOnCopy(Instruction &product, const ops::Op &op,
                    ShardedValueId operand) {
    if (!isQuantised(body_.forward, op, sharded_.values[operand]))
      return false;
    const bool arrives =
        std::any_of(arrivals_.begin(), arrivals_.end(),
                    [&](const shard::Port &p) { return p.value == operand; });
    if (producer_[operand.index()] == kNoInstruction && !arrives)
      return false;
    auto [copy, isNew] = copies_.try_emplace(operand, 0);
    if (isNew) {
      Instruction made;
      made.phase = product.phase;
      made.name = product.name + " quantise";
      made.origin = product.origin;
      made.work.bytesRead = bytesOf(graph_, id_, operand);
      made.work.bytesWritten =
          quantisedBytes(*op.attributes.compute, sharded_.values[operand]);
      depend(made, operand);
      copy->second = static_cast<std::uint32_t>(pass_.instructions.size());
      push(std::move(made), {});
    }
    product.deps.push_back(copy->second);
    return true;
  }

  void addCollective(const PlannedStep &planned) {
    const Step &step = *planned.step;
    Instruction instruction;
    instruction.kind = collectiveKind(step.kind);
    instruction.stream = streamOf(step.communication);
    instruction.phase = planned.phase;
    instruction.message.bytes = step.bytes;
    instruction.message.kind = step.communication;
    setGroup(instruction.message, step);
    if (step.communication == program::CommunicationKind::Experts) {
      const ops::Route &route = sourceOf(step.operands[0]).route;
      instruction.message.copies = route.topK;
      instruction.message.nodes = route.nodes;
    }
    instruction.name = step.name;
    instruction.origin = step.origin;
    instruction.clause = step.clause;
    for (ShardedValueId operand : step.operands) {
      depend(instruction, operand);
      if (step.results.empty())
        scattered_.push_back(
            {operand, static_cast<std::uint32_t>(pass_.instructions.size())});
    }
    push(std::move(instruction), step.results);
  }

  std::uint32_t here() const {
    return static_cast<std::uint32_t>(pass_.instructions.size());
  }

  /// A message of each member to the next.
  Instruction passOn(const PlannedStep &gather, Bytes bytes,
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

  /// Attention in as many blocks as the ring has members, a message before each
  /// but the first. The gradients of keys and values follow the blocks and end
  /// at home.
  void addRing(const PlannedStep &planned) {
    const Step &step = *planned.step;
    const ops::Op &op = opOf(step);
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

  void addBlock(const PlannedStep &planned, const program::Work &work,
                std::int64_t index, std::uint32_t arrived) {
    const Step &step = *planned.step;
    const bool backward = opOf(step).kind == ops::OpKind::AttentionGrad;
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

  const shard::ShardedGraph &graph_;
  const ops::BodyId id_;
  const shard::ShardedBody &sharded_;
  const graph::Body &body_;
  /// Gathers of keys and values that go in steps, by result; reduce-scatters of
  /// their gradients, by operand; where these have come home.
  std::map<ShardedValueId, PlannedStep> rings_;
  std::map<ShardedValueId, const Step *> scatters_;
  std::map<ShardedValueId, std::uint32_t> cameHome_;
  std::vector<std::uint32_t> producer_;
  std::vector<shard::Port> arrivals_;
  std::map<ShardedValueId, std::uint32_t> copies_; ///< in a narrow format
  std::vector<std::pair<ShardedValueId, std::uint32_t>> scattered_;
  LoweredPass pass_;
};

/// A reduce-scatter of weight gradients into flat buffers (ZeRO-2).
bool isScatter(const Step &step) {
  return step.kind == StepKind::ReduceScatter && step.results.empty();
}

/// Parameters that what is made again has gathered already.
bool isGathered(const Step &step, const shard::ShardedBody &body,
                const Rerun &rerun) {
  return step.kind == StepKind::AllGather && step.operands.empty() &&
         std::any_of(rerun.steps.begin(), rerun.steps.end(),
                     [&](std::uint32_t index) {
                       const Step &again = body.forward[index];
                       return again.kind == StepKind::AllGather &&
                              again.results == step.results;
                     });
}

std::vector<PlannedStep> planned(const std::vector<Step> &steps) {
  std::vector<PlannedStep> out;
  for (const Step &step : steps)
    out.push_back({&step, step.phase});
  return out;
}

std::vector<LoweredBody::Gradient>
gradientsOf(const shard::ShardedBody &sharded, const PassBuilder &pass) {
  std::vector<LoweredBody::Gradient> gradients;
  for (const auto &gradient : sharded.weightGradients) {
    std::uint32_t at = pass.completes(gradient.value);
    if (at != kNoInstruction)
      gradients.push_back({gradient.weight, at});
  }
  std::stable_sort(gradients.begin(), gradients.end(),
                   [](const auto &a, const auto &b) {
                     return a.instruction < b.instruction;
                   });
  return gradients;
}

std::vector<LoweredBody::Scatter>
scattersAfter(const shard::ShardedBody &sharded, const PassBuilder &pass) {
  std::vector<LoweredBody::Scatter> scatters;
  for (const Step &step : sharded.backward)
    if (isScatter(step))
      scatters.push_back({&step, pass.lastOf(step.operands)});
  return scatters;
}

struct SplitRequest {
  const shard::ShardedGraph &graph;
  ops::BodyId body;
  const std::vector<PlannedStep> &backward;
  const std::vector<ShardedValueId> &kept;
  Scatters scatters;
};

LoweredBody::Split lowerSplit(const SplitRequest &request) {
  const shard::ShardedGraph &graph = request.graph;
  const ops::BodyId body = request.body;
  const shard::ShardedBody &sharded = graph.bodies[body];
  const SplitSteps steps =
      splitBackward(graph, body, request.backward, request.kept);
  LoweredBody::Split split;

  PassBuilder input(graph, body);
  input.readSlots(sharded.gradientInputs);
  KernelRequest inputRequest{&graph, body, &steps.input, &steps.made};
  input.add(steps.input, groupKernels(inputRequest));
  split.inputGradients = gradientsOf(sharded, input);
  split.input = input.finish(sharded.gradientOutputs);

  // What it reads was there before it began: no slot is waited for.
  PassBuilder weight(graph, body);
  KernelRequest weightRequest{&graph, body, &steps.weight, nullptr};
  weight.add(steps.weight, groupKernels(weightRequest));
  split.weightGradients = gradientsOf(sharded, weight);
  if (request.scatters == Scatters::ByStage)
    split.scatters = scattersAfter(sharded, weight);
  split.weight = weight.finish({});

  split.retained = bytesOf(graph, body, steps.retained);
  split.made = bytesOf(graph, body, steps.made);
  std::vector<ShardedValueId> held = request.kept;
  held.insert(held.end(), steps.made.begin(), steps.made.end());
  split.transient =
      std::max(peakTransient({&graph, body, &steps.input}, held),
               peakTransient({&graph, body, &steps.weight}, held));
  return split;
}

} // namespace

program::InstructionKind collectiveKind(StepKind kind) {
  switch (kind) {
  case StepKind::AllReduce:
    return InstructionKind::AllReduce;
  case StepKind::AllGather:
    return InstructionKind::AllGather;
  case StepKind::ReduceScatter:
    return InstructionKind::ReduceScatter;
  case StepKind::AllToAll:
    return InstructionKind::AllToAll;
  case StepKind::Compute:
  case StepKind::Slice:
    break;
  }
  return InstructionKind::Memory;
}

void setGroup(program::Message &message, const shard::Step &step) {
  for (std::size_t i = 0; i < step.sizes.size(); ++i) {
    if (step.sizes[i] == 1)
      continue;
    message.sizes.push_back(step.sizes[i]);
    message.strides.push_back(step.strides[i]);
  }
}

LoweredBody lowerBody(const shard::ShardedGraph &graph, ops::BodyId body,
                      const RerunChoice &recompute, Scatters scatters) {
  const shard::ShardedBody &sharded = graph.bodies[body];
  LoweredBody lowered;

  std::vector<PlannedStep> forward = planned(sharded.forward);
  PassBuilder forwardPass(graph, body);
  forwardPass.readSlots(sharded.inputs);
  KernelRequest forwardRequest{&graph, body, &forward, &sharded.saved};
  forwardPass.add(forward, groupKernels(forwardRequest));
  lowered.forward = forwardPass.finish(sharded.outputs);

  Rerun rerun = planRerun(graph, body, recompute);
  std::vector<PlannedStep> backward;
  for (std::uint32_t index : rerun.steps)
    backward.push_back({&sharded.forward[index], Phase::Recompute});
  for (const Step &step : sharded.backward)
    if ((scatters == Scatters::InPass || !isScatter(step)) &&
        !isGathered(step, sharded, rerun))
      backward.push_back({&step, step.phase});
  PassBuilder backwardPass(graph, body);
  backwardPass.readSlots(sharded.gradientInputs);
  // A value that is recomputed must reach memory if the backward reads it.
  KernelRequest backwardRequest{&graph, body, &backward, nullptr};
  backwardPass.add(backward, groupKernels(backwardRequest));
  if (scatters == Scatters::ByStage)
    lowered.scatters = scattersAfter(sharded, backwardPass);
  lowered.gradients = gradientsOf(sharded, backwardPass);
  lowered.backward = backwardPass.finish(sharded.gradientOutputs);
  lowered.split = lowerSplit({graph, body, backward, rerun.kept, scatters});

  lowered.saved = savedBytes(graph, body, rerun.kept);
  lowered.transient =
      std::max(peakTransient({&graph, body, &forward}, rerun.kept),
               peakTransient({&graph, body, &backward}, rerun.kept));
  return lowered;
}

} // namespace planc::lower
