// Time of one collective or transfer on the levels its group spans
// (docs/cost.md C5 to C9, C11, C14).
#pragma once

#include "runtime/cost/CostModel.h"
#include "runtime/hardware/Placement.h"

namespace planc::cost {

/// Costs collectives of one cluster. Refers to what it is made from.
class CollectiveCosts {
public:
  explicit CollectiveCosts(const hardware::Cluster &cluster)
      : cluster_(cluster) {}

  /// The cheapest of the algorithms that can do it; of equal ones the first in
  /// the order of `Algorithm`.
  CollectiveCost cost(program::InstructionKind kind,
                      const program::Message &message) const;

  /// With that algorithm, whether or not it is the cheapest. Algorithm::None,
  /// when it cannot do it.
  CollectiveCost costWith(Algorithm algorithm, program::InstructionKind kind,
                          const program::Message &message) const;

private:
  struct Traffic;
  struct Request;

  Traffic ring(const Request &request) const;
  Traffic tree(Algorithm which, const Request &request) const;
  Traffic hierarchical(const Request &request) const;
  Traffic direct(const Request &request) const;
  double onceToEachNode(const Request &request) const;
  Traffic inNetwork(const Request &request) const;
  Traffic permute(const Request &request) const;
  Traffic pointToPoint(const Request &request) const;
  Traffic torus(const Request &request) const;
  /// Scatters or gathers in every dimension of the torus; adds to `traffic`.
  void rotate(const Request &request, Traffic &traffic) const;

  Traffic trafficOf(Algorithm algorithm, const Request &request) const;
  /// Bytes a second that a member puts on its links of `level`.
  double rate(const Request &request, std::size_t level,
              double efficiency) const;
  double latencySeconds(std::size_t level) const;
  /// Adds bytes that leave through `level`. What crosses a level past the
  /// innermost leaves through the same adapter as what crosses those between;
  /// a dimension of a torus has links of its own.
  void crossing(Traffic &traffic, std::size_t level, double bytes) const;
  CollectiveCost assemble(Traffic traffic, const Request &request) const;

  const hardware::Cluster &cluster_;
};

} // namespace planc::cost
