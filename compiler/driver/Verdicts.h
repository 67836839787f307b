// What a report says that is not right, told beside the plan's text.
#pragma once

#include "compiler/driver/Compilation.h"

namespace planc::driver {

/// What does not fit, what was expected and does not hold, what is wasted in a
/// pipeline and by recomputation. The report is there; gives Ok,
/// ExpectationFailed or Infeasible.
Outcome reportVerdicts(const Compilation &compilation, const Options &options,
                       diag::Emitter &emitter);

} // namespace planc::driver
