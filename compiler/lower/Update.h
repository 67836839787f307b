// The optimizer's update of a stage, as a block.
#pragma once

#include "compiler/lower/EmitProgram.h"

namespace planc::lower {

/// One kernel over all states of a rank: gradients are read for their norm,
/// then once more beside the states, which are read and written; parameters are
/// written, gradients zeroed. Before it Muon's products: five Newton–Schulz
/// iterations X ← aX + (bA + cA²)X with A = XXᵀ, in bf16, each matrix by one of
/// the ranks that share its states (K. Jordan, 2024; Megatron-Core's layer-wise
/// distributed optimizer).
program::Block updateBlock(const EmitRequest &request, std::int64_t stage);

} // namespace planc::lower
