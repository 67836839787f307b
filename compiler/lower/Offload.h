// What of a stage lies in the host's memory, and the copies that follow.
#pragma once

#include "compiler/lower/EmitProgram.h"

namespace planc::lower {

/// Bytes that a unit's pass leaves on the host after its forward and fetches
/// before its backward: all that it keeps. What a stage without a pipeline
/// runs last stays where it is, since its backward follows at once.
Bytes offloadedBy(const EmitRequest &request, std::size_t unit,
                  ops::BodyId body);

/// Bytes of a body's parameters that each pass fetches from the host, as they
/// are stored on one rank.
Bytes fetchedBy(const EmitRequest &request, ops::BodyId body);

/// A copy to or from the host, or the update there.
program::Instruction hostCopy(const EmitRequest &request,
                              program::InstructionKind kind, Bytes bytes);

} // namespace planc::lower
