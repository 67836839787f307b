// Stages and recomputation together: what a stage makes again decides what its
// layers cost, and what layers cost decides the stages.
#pragma once

#include "compiler/driver/Compilation.h"
#include "compiler/driver/Costs.h"

namespace planc::driver {

struct Refined {
  lower::LoweredModel bodies;
  pipeline::StageGraph stages;
};

/// Assigns stages by cost, chooses what each stage makes again, assigns once
/// more; of the two the one whose longest stage is shorter, where both fit.
/// `auto` gives every layer what makes its stage fit at the least time made
/// again; where nothing fits, what keeps least.
Refined refine(const LowerRequest &request);

/// The most a layer's memory falls by what the plan makes again, in millionths
/// of what it keeps without; nothing where the plan names nothing of a layer.
std::optional<std::int64_t> recomputeSaves(const LowerRequest &request);

/// By stage: what its layers make again and how many, where layers differ or
/// planc chose (`all for 2 layers; none for 6 layers`); else empty.
std::vector<std::string> recomputeByStage(const lower::LoweredModel &bodies,
                                          const pipeline::StageGraph &stages);

/// The same, a line a stage.
std::string recomputeText(const lower::LoweredModel &bodies,
                          const pipeline::StageGraph &stages);

} // namespace planc::driver
