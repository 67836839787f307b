// The compiled programs on another machine: what a change of one of its numbers
// does to the step.
#pragma once

#include "compiler/driver/Compilation.h"

#include <cstdint>
#include <string>
#include <vector>

namespace planc::driver {

/// One number of a cluster that a step can depend on.
struct Resource {
  enum class Kind : std::uint8_t {
    Arithmetic,      ///< every peak of the accelerator
    MemoryBandwidth, ///< the accelerator's
    Bandwidth,       ///< of one level's links
    Latency,         ///< of one level's links
    HostLink,
  } kind = Kind::Arithmetic;
  std::size_t level = 0; ///< Bandwidth, Latency
};

/// All that the cluster states, the innermost level first.
std::vector<Resource> resourcesOf(const hardware::Cluster &cluster);
/// `bandwidth of fabric`.
std::string nameOf(const hardware::Cluster &cluster, Resource resource);
/// `51.5 GB/s`, `2.1 us`: what the cluster has of it, as a plan says it; of
/// arithmetic, the first peak.
std::string amountOf(const hardware::Cluster &cluster, Resource resource);

/// The cluster with `millionths` / 1,000,000 as much of the resource; no less
/// than one of its smallest unit, no more than 64 bits hold.
hardware::Cluster withShare(const hardware::Cluster &cluster, Resource resource,
                            std::int64_t millionths);

struct Evaluation {
  Duration stepTime;
  report::Waterfall waits; ///< of the chosen order; causes of waiting only
};

/// Answers by costs made again, orders chosen again and virtual time. Stages,
/// recomputation, memory and what passes wait for the host stay as they were
/// compiled.
class Evaluator {
public:
  /// `compilation` has its runs, and outlives this.
  Evaluator(const Compilation &compilation, const Options &options)
      : compilation_(compilation), options_(options) {}

  /// Nothing where the machine changes no cost of the programs.
  Result<std::optional<Evaluation>> on(const hardware::Cluster &cluster) const;

private:
  const Compilation &compilation_;
  const Options &options_;
};

/// The chosen order without sums in switches (METRICS M12), and the levels
/// whose sums it uses; nothing where the step does not change by a thousandth.
Result<std::optional<report::WithoutReduction>>
withoutReduction(const Compilation &compilation, const Options &options);

} // namespace planc::driver
