// From stages to rank programs: one program a class of equal ranks.
#pragma once

#include "compiler/lower/LowerBody.h"
#include "compiler/pipeline/StageGraph.h"
#include "runtime/program/ProgramSet.h"

#include <functional>

namespace planc::lower {

struct EmitRequest {
  const shard::ShardedGraph *graph = nullptr;
  const pipeline::StageGraph *stages = nullptr;
  const sema::Plan *plan = nullptr;
  const LoweredModel *bodies = nullptr;
  std::int64_t accelerators = 1;
  std::string name;
  /// What an instruction takes on its own: passes that run together are merged
  /// by it. Without, they run one after the other.
  std::function<Duration(const program::Instruction &)> duration;
};

/// What one rank sends of a slot across a cut.
Bytes slotBytes(const EmitRequest &request, ops::SlotId slot);

/// Ranks that differ only along axes other than the pipeline's run the same
/// program, so there is one class a stage. Adds what follows from stages and
/// nothing else: send and receive for every slot that crosses a cut, and the
/// all-reduce of the gradient of a weight held by several stages, or by two
/// copies of the model. Gradients and
/// gathered parameters are left as mergeable pieces; bucket boundaries are
/// runtime/sched's.
program::ProgramSet emitProgram(const EmitRequest &request);

} // namespace planc::lower
