// Memory of a stage's ranks at their fullest moment (METRICS M8).
#pragma once

#include "compiler/lower/EmitProgram.h"
#include "runtime/program/MemoryCurve.h"

namespace planc::lower {

/// Follows the stage's order: a forward keeps what its units save, a backward
/// gives it back when it ends; where it is cut in two, what the gradients of
/// weights read stays until they ran. States are cut as the plan says; gathered
/// parameters are those of the layer at work and those fetched ahead, or all
/// where they are never let go.
program::Memory memoryOf(const EmitRequest &request, std::int64_t stage);

/// The same, run by run: what memoryOf() is the fullest moment of.
program::MemoryCurve memoryCurveOf(const EmitRequest &request,
                                   std::int64_t stage);

} // namespace planc::lower
