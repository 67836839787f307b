#include "runtime/cost/RooflineCostModel.h"

#include "runtime/cost/CollectiveCost.h"
#include "runtime/cost/HostCost.h"
#include "runtime/cost/KernelCost.h"

namespace planc::cost {

bool hasKernel(const hardware::Accelerator &accelerator,
               AttentionKernel kernel) {
  const hardware::AcceleratorConstants &c = accelerator.constants;
  switch (kernel) {
  case AttentionKernel::Newest:
  case AttentionKernel::Unfused:
    return true;
  case AttentionKernel::Flash2:
    return c.flash2Efficiency > 0 && c.flash2GradEfficiency > 0;
  case AttentionKernel::Flash3:
    return c.flash3Efficiency > 0 && c.flash3GradEfficiency > 0;
  case AttentionKernel::Cudnn:
    return c.cudnnEfficiency > 0 && c.cudnnGradEfficiency > 0;
  }
  return false;
}

AttentionKernel newestKernel(const hardware::Accelerator &accelerator) {
  for (AttentionKernel kernel :
       {AttentionKernel::Flash3, AttentionKernel::Cudnn,
        AttentionKernel::Flash2})
    if (hasKernel(accelerator, kernel))
      return kernel;
  return AttentionKernel::Unfused;
}

RooflineCostModel::RooflineCostModel(const hardware::Cluster &cluster,
                                     const Options &options)
    : cluster_(cluster), options_(options) {}

ComputeCost RooflineCostModel::compute(program::InstructionKind kind,
                                       const program::Work &work) const {
  return KernelCosts(cluster_.accelerator, options_).cost(kind, work);
}

CollectiveCost
RooflineCostModel::communicate(program::InstructionKind kind,
                               const program::Message &message) const {
  if (program::classOf(kind) == program::InstructionClass::Host)
    return hostCost(cluster_, kind, message);
  return CollectiveCosts(cluster_).cost(kind, message);
}

std::int64_t RooflineCostModel::units() const {
  return cluster_.accelerator.units;
}

} // namespace planc::cost
