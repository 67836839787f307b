// `prefetch auto`: how many layers ahead parameters are gathered.
#pragma once

#include "compiler/driver/Compilation.h"

namespace planc::driver {

/// The smallest depth up to kDeepestPrefetch whose step, simulated once in the
/// buckets that the plan names, else the framework's, is within half a
/// thousandth of the shortest of those that fit in memory; 0 where none fits.
/// What is made again and the stages are those that the depth leaves room for.
/// The plan's own depth where it names one, or where nothing is fetched layer
/// by layer.
std::int64_t chosenPrefetch(const Compilation &c, const Options &options);
inline constexpr std::int64_t kDeepestPrefetch = 8;

/// Whether the plan leaves the depth to planc and it matters.
bool choosesPrefetch(const sema::Plan &plan);

} // namespace planc::driver
