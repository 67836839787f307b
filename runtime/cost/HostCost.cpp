#include "runtime/cost/HostCost.h"

#include <algorithm>
#include <cmath>

namespace planc::cost {

namespace {

PartsPerMillion shareOf(double part, double whole) {
  if (whole <= 0)
    return 0;
  return std::clamp<PartsPerMillion>(
      static_cast<PartsPerMillion>(
          std::ceil(part / whole * static_cast<double>(kWhole))),
      0, kWhole);
}

} // namespace

CollectiveCost hostCost(const hardware::Cluster &cluster,
                        program::InstructionKind kind,
                        const program::Message &message) {
  const hardware::Host &host = cluster.host;
  CollectiveCost cost;
  cost.levels.resize(cluster.levels.size() + 1);
  if (message.bytes.value <= 0 || host.link.value <= 0)
    return cost;
  const bool isCopy = kind != program::InstructionKind::HostUpdate;
  const double ownShare =
      host.bandwidth.toDouble() / static_cast<double>(cluster.perHost());
  const double rate =
      isCopy ? std::min(host.link.toDouble(), ownShare) : ownShare;
  cost.algorithm = Algorithm::PointToPoint;
  cost.latency = isCopy ? host.latency : Duration(0);
  cost.total =
      cost.latency + durationFromSeconds(message.bytes.toDouble() / rate);
  cost.levels.back() = {message.bytes, shareOf(rate, ownShare)};
  if (isCopy) {
    cost.memoryTraffic = message.bytes;
    cost.memoryShare = shareOf(rate, cluster.accelerator.bandwidth.toDouble());
  }
  return cost;
}

} // namespace planc::cost
