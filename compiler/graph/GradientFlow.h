// Analysis: which values a gradient reaches, across bodies.
#pragma once

#include "compiler/ops/Op.h"

namespace planc::graph {

struct GradientFlow {
  /// By forward value: a weight lies before it, so its gradient is wanted.
  std::vector<bool> wanted;
  /// By forward output: a later body sends its gradient.
  std::vector<bool> outputs;
};

/// A body run by several iterations has the union of what they need.
Table<ops::BodyId, GradientFlow> findGradientFlow(const ops::Model &model);

} // namespace planc::graph
