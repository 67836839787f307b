// Gradients of weights that several stages hold: shared by layers of different
// stages, or of layers that stand in two copies of the model.
#pragma once

#include "compiler/lower/Pieces.h"

namespace planc::lower {

struct SharedRequest {
  const EmitRequest &request;
  std::int64_t stage = 0;
  const std::vector<ChunkRuns> &runs; ///< of the stage
  /// Tags from here on are free; weights and chunks take one each.
  std::int64_t firstTag = 0;
};

/// One all-reduce over its holders for every shared weight of the stage, on
/// what their reductions left (cut as gradients are kept); then one for each
/// chunk that stands in two copies. In an order that all holders have.
std::vector<program::Task> sharedGradients(const SharedRequest &request);

} // namespace planc::lower
