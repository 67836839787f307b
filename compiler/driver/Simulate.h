// The step under the orders a report compares.
#pragma once

#include "compiler/driver/Compilation.h"

namespace planc::driver {

sim::Options simulationOptions(const Options &options);

/// The plan's own choice, of `bucket auto` the best of the framework's and the
/// exact bucket program's, and with asides program order and the framework's
/// beside it. Every order is simulated. The costs are of the compilation's
/// programs, on its machine or on another.
Result<Runs> simulateOrders(const Compilation &compilation, sim::Costs costs,
                            const Options &options);

/// The step in the buckets that the plan names, else the framework's: one
/// simulation.
Result<Duration> frameworkStep(const program::ProgramSet &programs,
                               const cost::CostModel &cost,
                               const sema::Plan &plan, const Options &options);

} // namespace planc::driver
