// Roofline with measured efficiencies for kernels, latency and bandwidth on the
// levels a group spans for collectives. Formulas: docs/cost.md.
#pragma once

#include "runtime/cost/CostModel.h"
#include "runtime/hardware/Cluster.h"

namespace planc::cost {

enum class AttentionKernel : std::uint8_t {
  Newest, ///< the first the accelerator states: FlashAttention-3, the vendor
          ///< library's, FlashAttention-2; unfused where it states none
  Flash2,
  Flash3,
  Cudnn,
  Unfused, ///< two batched products and a softmax over all scores
};

struct Options {
  AttentionKernel attention = AttentionKernel::Newest;
  enum class Launch : std::uint8_t { Gaps, Graphs } launch = Launch::Gaps;
  /// How many run the job in step: the slowest of them sets the pace.
  std::int64_t accelerators = 1;
};

/// Whether the accelerator states an efficiency for the kernel. A model asked
/// for one that is not there uses the newest; refusing is the caller's.
bool hasKernel(const hardware::Accelerator &accelerator,
               AttentionKernel kernel);
/// What `Newest` stands for.
AttentionKernel newestKernel(const hardware::Accelerator &accelerator);

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
