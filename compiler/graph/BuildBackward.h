// Pass: derives a body's backward from its forward, operator by operator.
//
// Needs kernels and formats of the forward; leaves the forward as it is and
// fills everything else of the body, kernels included. Operators of the
// backward stand in reverse order of the forward's, input gradient before
// weight gradient. Gradients of the operators of one forward kernel are one
// kernel a phase, and an elementwise value that stays inside a forward kernel
// is not saved but made again inside the kernel that wants it.
#pragma once

#include "compiler/graph/GradientFlow.h"
#include "compiler/graph/OpGraph.h"

namespace planc::graph {

struct BackwardRequest {
  const ops::Model *model = nullptr;
  const GraphOptions *options = nullptr;
  const GradientFlow *flow = nullptr;
  ops::ValueId loss; ///< valid in the body that makes it
};
void buildBackward(Body &body, const BackwardRequest &request);

} // namespace planc::graph
