// `planc explain FILE`.
#pragma once

#include "compiler/driver/Evaluate.h"
#include "runtime/report/Explanation.h"

namespace planc::driver {

/// Needs everything of `compilation`. What would hide an exposure is searched
/// for by evaluating again, one number of the cluster at a time, in steps of
/// two percent up to sixteen times as much (for latency, a sixteenth); a
/// bounded number of evaluations.
report::Explanation explain(const Compilation &compilation,
                            const Options &options);

/// 1.02^k in millionths, rounded up at each step.
std::int64_t millionthsAt(int k);

} // namespace planc::driver
