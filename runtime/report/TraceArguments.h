// What trace readers expect to find beside a collective.
#pragma once

#include "runtime/program/ProgramSet.h"

#include <string>

namespace planc::report {

/// A JSON object with the keys that PyTorch's profiler (Kineto) writes for the
/// collectives it records: `Collective name`, `In msg nelems`, `Out msg
/// nelems`, `dtype`, `Group size`, `Process Group Name`, `Process Group
/// Description`, `Process Group Ranks`. Sizes are of one rank. Elements are
/// bytes, and `dtype` is `Byte`: a program knows how much travels, not as what.
/// The ranks are those of the group that `first` is in, more than 32 of them
/// shortened. Empty for what is no message between ranks.
std::string collectiveArguments(program::InstructionKind kind,
                                const program::Message &message,
                                std::int64_t first);

} // namespace planc::report
