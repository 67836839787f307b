// What the driver asks of the cost model before there is a program.
#pragma once

#include "compiler/lower/LowerBody.h"
#include "compiler/sema/Module.h"
#include "runtime/cost/RooflineCostModel.h"

#include <functional>

namespace planc::driver {

cost::Options costOptionsOf(const sema::Plan &plan);

/// Every body of the model in a form for each choice of what is made again.
/// `all` and `attention` are of layers; operators that are named by path count
/// wherever they stand. `cost` chooses among forms of one body that communicate
/// the same.
struct LowerRequest {
  const shard::ShardedGraph *sharded = nullptr;
  const sema::Module *module = nullptr;
  const cost::CostModel *cost = nullptr;
};
lower::LoweredModel lowerModel(const LowerRequest &request,
                               std::vector<lower::RerunChoice> choices);

/// Instructions of one pass, one after the other.
Duration costOf(const std::vector<program::Instruction> &instructions,
                const cost::CostModel &cost);

/// What an instruction takes on its own. `cost` outlives the function.
std::function<Duration(const program::Instruction &)>
instructionTimes(const cost::CostModel &cost);

/// Forward and backward of each unit, one micro-batch, instruction after
/// instruction: what stages are balanced by.
std::vector<Duration> unitCostsOf(const ops::Model &model,
                                  const lower::LoweredModel &bodies,
                                  const cost::CostModel &cost);

} // namespace planc::driver
