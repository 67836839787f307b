// Ways to run a layer under `recompute auto`, from keeping everything to making
// everything again.
#pragma once

#include "compiler/lower/LowerBody.h"
#include "runtime/cost/CostModel.h"

namespace planc::driver {

struct OptionsRequest {
  const shard::ShardedGraph *sharded = nullptr;
  ops::BodyId body;
  lower::Scatters scatters = lower::Scatters::InPass;
  const cost::CostModel *cost = nullptr;
};

/// Starts from nothing made again and adds, each time, the operator that frees
/// most memory for its time; then everything. Choices that keep no less than a
/// cheaper one are left out. Times are those of kernels, without waits for the
/// host.
std::vector<lower::RerunChoice> recomputeChoices(const OptionsRequest &request);

} // namespace planc::driver
