// The step under the orders a report compares.
#pragma once

#include "compiler/driver/Compilation.h"

namespace planc::driver {

/// Program order, the framework's, and the plan's own choice; of `bucket auto`
/// the best of the framework's and the exact bucket program's. Every order is
/// simulated.
Result<Runs> simulateOrders(const Compilation &compilation,
                            const Options &options);

} // namespace planc::driver
