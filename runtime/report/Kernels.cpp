#include "runtime/report/Kernels.h"

#include "runtime/report/RankTime.h"

#include <algorithm>

namespace planc::report {

namespace {

using program::InstructionKind;
using program::Phase;

KernelParts::Sort sortOf(InstructionKind kind) {
  switch (kind) {
  case InstructionKind::MatMul:
  case InstructionKind::GroupedMatMul:
    return KernelParts::Sort::Product;
  case InstructionKind::Attention:
  case InstructionKind::AttentionGrad:
    return KernelParts::Sort::Attention;
  case InstructionKind::Memory:
  case InstructionKind::Update:
  case InstructionKind::AllReduce:
  case InstructionKind::AllGather:
  case InstructionKind::ReduceScatter:
  case InstructionKind::AllToAll:
  case InstructionKind::Broadcast:
  case InstructionKind::CollectivePermute:
  case InstructionKind::CollectiveStep:
  case InstructionKind::Send:
  case InstructionKind::Recv:
  case InstructionKind::HostOut:
  case InstructionKind::HostIn:
  case InstructionKind::HostUpdate:
    return KernelParts::Sort::Memory;
  }
  return KernelParts::Sort::Memory;
}

std::int64_t at(Int128 flops, FlopRate rate) {
  return static_cast<std::int64_t>(timeAtRate(flops, rate));
}

/// Duration of a kernel that states its own time: arithmetic, bound by it.
cost::ComputeCost statedCost(Duration stated, Duration arithmetic) {
  cost::ComputeCost cost;
  cost.total = stated;
  cost.arithmetic = std::min(stated, arithmetic);
  cost.bound = cost::Bound::Arithmetic;
  return cost;
}

} // namespace

KernelParts partsOf(const program::Instruction &instruction,
                    const ReportInputs &inputs) {
  const program::Work &work = instruction.work;
  const auto own = inputs.cluster.accelerator.peak(work.precision)
                       .value_or(inputs.peak.rate);
  const cost::ComputeCost cost =
      instruction.duration ? statedCost(*instruction.duration,
                                        Duration(at(work.flops.value, own)))
                           : inputs.cost.compute(instruction.kind, work);

  KernelParts parts;
  parts.sort = sortOf(instruction.kind);
  parts.phase = instruction.phase;
  parts.launch = cost.launch.value;
  parts.after = cost.after.value;
  parts.straggle = cost.straggle.value;
  parts.launches = work.kernels;
  if (parts.sort == KernelParts::Sort::Memory)
    return parts;

  parts.rest = cost.bound == cost::Bound::Arithmetic ? Cause::BelowPeak
                                                     : Cause::MemoryBound;
  parts.arithmetic = cost.arithmetic.value;
  if (instruction.phase == Phase::Recompute) {
    parts.recomputedFlops = work.flops.value;
    return parts;
  }
  parts.modelFlops = work.modelFlops.value;
  parts.model = at(work.modelFlops.value, inputs.peak.rate);
  parts.lower = at(work.modelFlops.value, own) - parts.model;
  const double best = inputs.cluster.accelerator.constants.matmulEfficiency;
  if (parts.sort == KernelParts::Sort::Product && !instruction.duration &&
      best > 0)
    parts.smallness = std::max<std::int64_t>(
        0, cost.total.value - cost.launch.value - cost.after.value -
               cost.straggle.value -
               durationFromSeconds(toSeconds(cost.arithmetic) / best).value);
  return parts;
}

} // namespace planc::report
