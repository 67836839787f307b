#include "runtime/cost/RooflineCostModel.h"

#include "runtime/cost/CollectiveCost.h"
#include "runtime/cost/HostCost.h"
#include "runtime/cost/KernelCost.h"

namespace planc::cost {

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
