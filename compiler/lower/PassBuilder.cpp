#include "compiler/lower/PassBuilder.h"

#include "compiler/lower/Quantise.h"
#include "compiler/shard/Homes.h"

#include <algorithm>

namespace planc::lower {

using program::Instruction;
using program::InstructionKind;
using program::Phase;
using program::Stream;
using shard::ShardedValueId;
using shard::Step;
using shard::StepKind;

namespace {

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

} // namespace

void PassBuilder::add(const std::vector<PlannedStep> &steps,
                      const std::vector<Kernel> &kernels) {
  for (const Kernel &kernel : kernels) {
    read_.insert(kernel.operands.begin(), kernel.operands.end());
    noteSum(*steps[kernel.steps.back()].step);
  }
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

void PassBuilder::readSlots(const std::vector<shard::Port> &ports) {
  for (const shard::Port &port : ports)
    arrivals_.push_back(port);
}

LoweredPass PassBuilder::finish(const std::vector<shard::Port> &outputs) {
  for (const shard::Port &port : outputs)
    if (const std::uint32_t producer = producer_[port.value.index()];
        producer != kNoInstruction) {
      pass_.writes.push_back({port.slot, producer});
      Instruction &maker = pass_.instructions[producer];
      if (maker.phase != Phase::Forward && !read_.count(port.value))
        maker.makes += held(port.value);
    }
  pass_.steps.resize(here(), nullptr);
  return std::move(pass_);
}

/// Products that each add themselves to those before are one buffer.
void PassBuilder::noteSum(const Step &step) {
  if (step.kind == StepKind::Compute &&
      opOf(body_, step).attributes.accumulated)
    added_.insert(step.operands.begin() + 1, step.operands.end());
}

Bytes PassBuilder::held(ShardedValueId value) const {
  if (added_.count(value) != 0)
    return Bytes(0);
  const bool isGradient = std::any_of(
      sharded_.weightGradients.begin(), sharded_.weightGradients.end(),
      [&](const auto &gradient) { return gradient.value == value; });
  if (isGradient || sourceOf(value).kind == ops::ValueKind::Weight)
    return Bytes(0);
  return heldBytes(graph_, id_, value);
}

std::uint32_t PassBuilder::completes(ShardedValueId gradient) const {
  for (const auto &[value, instruction] : scattered_)
    if (value == gradient)
      return instruction;
  return producer_[gradient.index()];
}

std::uint32_t
PassBuilder::lastOf(const std::vector<ShardedValueId> &values) const {
  std::uint32_t last = 0;
  for (ShardedValueId value : values)
    if (producer_[value.index()] != kNoInstruction)
      last = std::max(last, producer_[value.index()]);
  return last;
}

bool PassBuilder::isView(const Step &step) const {
  return step.kind == StepKind::Compute &&
         ops::classOf(opOf(body_, step).kind) == ops::OpClass::View;
}

void PassBuilder::alias(const Step &step) {
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

void PassBuilder::depend(Instruction &instruction, ShardedValueId operand) {
  std::uint32_t producer = producer_[operand.index()];
  if (producer != kNoInstruction)
    instruction.deps.push_back(producer);
  auto index = static_cast<std::uint32_t>(pass_.instructions.size());
  for (const shard::Port &port : arrivals_)
    if (port.value == operand && producer == kNoInstruction)
      pass_.reads.push_back({port.slot, index});
}

void PassBuilder::push(Instruction instruction,
                       const std::vector<ShardedValueId> &results) {
  std::sort(instruction.deps.begin(), instruction.deps.end());
  instruction.deps.erase(
      std::unique(instruction.deps.begin(), instruction.deps.end()),
      instruction.deps.end());
  for (ShardedValueId result : results) {
    producer_[result.index()] =
        static_cast<std::uint32_t>(pass_.instructions.size());
    if (instruction.phase != Phase::Forward && read_.count(result))
      instruction.makes += held(result);
  }
  pass_.instructions.push_back(std::move(instruction));
}

void PassBuilder::addKernel(const std::vector<PlannedStep> &steps,
                            const Kernel &kernel) {
  const PlannedStep &last = steps[kernel.steps.back()];
  Instruction instruction;
  switch (ops::classOf(opOf(body_, *last.step).kind)) {
  case ops::OpClass::Contraction:
    instruction.kind = isRouted(last.step->results[0])
                           ? InstructionKind::GroupedMatMul
                           : InstructionKind::MatMul;
    break;
  case ops::OpClass::Attention:
    instruction.kind = opOf(body_, *last.step).kind == ops::OpKind::Attention
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
    if (!dependOnCopy(instruction, opOf(body_, *last.step), operand))
      depend(instruction, operand);
  if (kernel.steps.size() == 1)
    isStep(*last.step);
  push(std::move(instruction), kernel.results);
}

bool PassBuilder::dependOnCopy(Instruction &product, const ops::Op &op,
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
    made.work.bytesWritten = quantisedBytes(
        *op.attributes.compute, body_.forward, sharded_.values[operand]);
    if (made.phase != Phase::Forward)
      made.makes = made.work.bytesWritten;
    depend(made, operand);
    copy->second = here();
    pass_.copies.push_back(here());
    push(std::move(made), {});
  }
  product.deps.push_back(copy->second);
  return true;
}

void PassBuilder::keep(const NarrowCopies &narrow) {
  const bool isSame = narrow.format == graph_.graph->options.compute;
  for (ShardedValueId value : narrow.kept) {
    if (isSame && copies_.count(value) != 0)
      continue;
    const ops::Value &source = sourceOf(value);
    Instruction made;
    made.phase = Phase::Forward;
    made.name = source.name + " keep";
    made.origin = source.origin;
    made.work.bytesRead = bytesOf(graph_, id_, value);
    made.work.bytesWritten = bytesIn(narrow.format, graph_, id_, value);
    depend(made, value);
    push(std::move(made), {});
  }
}

std::int64_t PassBuilder::localExperts(ShardedValueId id) const {
  const ops::Value &source = sourceOf(id);
  const shard::ShardedValue &value = sharded_.values[id];
  for (std::size_t d = 0; d < source.dims.size() && d < value.sizes.size(); ++d)
    if (source.dims[d] == source.route.experts)
      return value.sizes[d];
  return 1;
}

void PassBuilder::sortTokens(const PlannedStep &exchange, ShardedValueId rows,
                             ShardedValueId result) {
  Instruction sort;
  sort.phase = exchange.phase;
  sort.name = exchange.step->name + " sort";
  sort.origin = exchange.step->origin;
  sort.work.bytesRead = sort.work.bytesWritten = bytesOf(graph_, id_, rows);
  depend(sort, rows);
  push(std::move(sort), {result});
}

void PassBuilder::addCollective(const PlannedStep &planned) {
  const Step &step = *planned.step;
  Instruction instruction;
  instruction.kind = collectiveKind(step.kind);
  instruction.stream = streamOf(step.communication);
  instruction.phase = planned.phase;
  instruction.message.bytes = step.bytes;
  instruction.message.kind = step.communication;
  setGroup(instruction.message, step);
  const bool isExchange =
      step.kind == StepKind::AllToAll &&
      step.communication == program::CommunicationKind::Experts;
  const std::int64_t given = isExchange ? localExperts(step.operands[0]) : 0;
  const std::int64_t got = isExchange ? localExperts(step.results[0]) : 0;
  if (isExchange && given < got && given > 1)
    sortTokens(planned, step.operands[0], step.operands[0]);
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
  isStep(step);
  push(std::move(instruction), step.results);
  if (isExchange && got < given && got > 1)
    sortTokens(planned, step.results[0], step.results[0]);
}

} // namespace planc::lower
