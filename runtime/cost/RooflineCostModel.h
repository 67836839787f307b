// Roofline with measured efficiencies for kernels, latency and bandwidth on the
// levels a group spans for collectives. Formulas: docs/cost.md.
#pragma once

#include "runtime/cost/CostModel.h"
#include "runtime/hardware/AttentionKernel.h"
#include "runtime/hardware/Cluster.h"

#include <optional>

namespace planc::cost {

struct Options {
  /// The newest where there is none, or where the accelerator does not have
  /// it: refusing is the caller's.
  std::optional<hardware::AttentionKernel> attention;
  enum class Launch : std::uint8_t { Gaps, Graphs } launch = Launch::Gaps;
  /// How many run the job in step: the slowest of them sets the pace.
  std::int64_t accelerators = 1;
};

class RooflineCostModel final : public CostModel {
public:
  /// `cluster` passes hardware::verify. Copied: the model owns what it reads.
  /// Work in a precision without a stated peak runs at that of the next wider
  /// one stated, else at the lowest.
  RooflineCostModel(const hardware::Cluster &cluster, const Options &options);

  ComputeCost compute(program::InstructionKind kind,
                      const program::Work &work) const override;
  CollectiveCost communicate(program::InstructionKind kind,
                             const program::Message &message) const override;
  std::int64_t units() const override;

private:
  hardware::Cluster cluster_;
  Options options_;
};

} // namespace planc::cost
