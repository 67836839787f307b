// Layers to stages.
#pragma once

#include "compiler/pipeline/StageGraph.h"

namespace planc::pipeline {

/// Contiguous cut of `costs` (one a unit, picoseconds) into `chunks` parts,
/// some perhaps empty: least longest part first, then least sum of squares,
/// then fewest units in earlier parts. Exact: the first by bisection, the
/// second by dynamic program over cuts no part of which is longer. Gives the
/// ends of the parts.
std::vector<std::size_t> balancedCut(const std::vector<Duration> &costs,
                                     std::size_t chunks);

struct StageRequest {
  const ops::Model *model = nullptr; ///< with its forward bodies
  const sema::Plan *plan = nullptr;
  /// Forward plus backward of each unit, for one micro-batch.
  std::vector<Duration> unitCosts;
};

/// Needs a plan that sema found legal (chunks ≤ units, micro-batches fit the
/// schedule). Leaves Q1…Q6 true.
StageGraph assignStages(const StageRequest &request);

} // namespace planc::pipeline
