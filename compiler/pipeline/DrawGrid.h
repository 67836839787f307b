// The order of every stage over time, as papers draw it.
#pragma once

#include "compiler/pipeline/StageGraph.h"

namespace planc::pipeline {

/// Stages down, slots across, as if every forward took one slot and a whole
/// backward two (one for inputs, one for weights), and transfers none:
///
///     drawn with F 1, B 2: 11 slots, idle 2/11
///     stage 0 |F0 F1 F2 .  .  B0--- …
///
/// Capitals are a stage's first chunk, small letters its others or those of the
/// second copy of the model; `.` is a slot in which the stage waits. Lines end
/// after kGridWidth characters with `…`. Empty for an order that does not run.
std::string drawGrid(const StageGraph &graph);

inline constexpr std::size_t kGridWidth = 160;

} // namespace planc::pipeline
