// Pass: number formats of values, and which kernels are separate launches.
#pragma once

#include "compiler/graph/OpGraph.h"

namespace planc::graph {

/// Of activations, and of what kernels read of weights.
Precision activationFormat(const GraphOptions &options);

/// Sets every value's precision and every operator's `unfused` and `compute`.
/// Unfused attention gets the results it keeps in place of the log-sum-exp.
/// Needs a forward that inferShapes accepts; leaves the order of operators.
void chooseFormats(ops::Model &model, const GraphOptions &options);

} // namespace planc::graph
