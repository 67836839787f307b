// The step under the orders a report compares.
#pragma once

#include "compiler/driver/Compilation.h"

namespace planc::driver {

/// Program order, the framework's, and the plan's own choice; of `bucket auto`
/// the best of the framework's and the exact bucket program's. Every order is
/// simulated.
Result<Runs> simulateOrders(const program::ProgramSet &programs,
                            const cost::CostModel &cost, const sema::Plan &plan,
                            const Options &options);

/// No order of the same work takes less (METRICS M10): for every class its own
/// runs; where the step's end joins all classes, also what must run before its
/// first and after its last; and the time its reductions hold their link.
Duration stepBound(const program::ProgramSet &programs, const sim::Costs &costs,
                   const timeline::Timeline &timeline);

} // namespace planc::driver
