// `emit --stage=schedule`.
#pragma once

#include "runtime/sim/IssueOrder.h"

#include <string>

namespace planc::driver {

/// For every class of ranks: its passes in order, then its buckets of gradients
/// and of parameters in the order they are issued, each with what it holds.
std::string printSchedule(const sim::IssueOrder &order,
                          const program::ProgramSet &programs);

} // namespace planc::driver
