// Time of one instruction's kernels on an accelerator that does nothing else
// (docs/cost.md C1 to C4).
#pragma once

#include "runtime/cost/CostModel.h"
#include "runtime/cost/RooflineCostModel.h"

namespace planc::cost {

/// Costs kernels of one accelerator. Refers to what it is made from.
class KernelCosts {
public:
  KernelCosts(const hardware::Accelerator &accelerator, const Options &options)
      : accelerator_(accelerator), options_(options) {}

  ComputeCost cost(program::InstructionKind kind,
                   const program::Work &work) const;

private:
  double peakOf(Precision precision) const;
  double matmulShare(Precision precision) const;
  double straggleShare() const;
  double streamSeconds(double bytes, std::int32_t kernels) const;
  double matmul(const program::Work &work, program::InstructionKind kind) const;
  double fusedAttention(program::InstructionKind kind,
                        const program::Work &work) const;
  /// The one asked for, or the newest where it is not there.
  hardware::AttentionKernel attentionKernel() const;
  double attentionShare(program::InstructionKind kind) const;
  ComputeCost unfusedAttention(program::InstructionKind kind,
                               const program::Work &work) const;
  ComputeCost assemble(const program::Work &work, double arithmetic,
                       double memory) const;

  const hardware::Accelerator &accelerator_;
  const Options &options_;
};

} // namespace planc::cost
