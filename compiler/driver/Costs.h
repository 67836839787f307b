// What the driver asks of the cost model before there is a program.
#pragma once

#include "compiler/lower/LowerBody.h"
#include "compiler/sema/Plan.h"
#include "runtime/cost/RooflineCostModel.h"

namespace planc::driver {

cost::Options costOptionsOf(const sema::Plan &plan);

/// Every body of the model under the plan's recomputation. Only layers are
/// recomputed; what stands before and after them is kept.
Table<ops::BodyId, lower::LoweredBody>
lowerBodies(const shard::ShardedGraph &sharded, const sema::Plan &plan);

/// Forward and backward of each unit, one micro-batch, instruction after
/// instruction: what stages are balanced by.
std::vector<Duration>
unitCostsOf(const ops::Model &model,
            const Table<ops::BodyId, lower::LoweredBody> &bodies,
            const cost::CostModel &cost);

} // namespace planc::driver
