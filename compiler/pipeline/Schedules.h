// Pipeline schedules as tables: who runs what in which order.
#pragma once

#include "compiler/pipeline/StageGraph.h"

namespace planc::pipeline {

struct ScheduleShape {
  std::int64_t stages = 1, virtualStages = 1, microBatches = 1;
  std::int64_t group = 0; ///< micro-batches of a group, interleaved; 0: stages
};

/// All forwards, then all backwards (Huang et al., 1811.06965).
std::vector<std::vector<Pass>> gPipe(const ScheduleShape &shape);

/// Stage r: stages − 1 − r forwards, then pairs, then the rest
/// (PipeDream-flush; Narayanan et al., 2104.04473).
std::vector<std::vector<Pass>> oneFOneB(const ScheduleShape &shape);

/// Chunk c on stage c mod stages. Groups of `group` micro-batches, chunk by
/// chunk inside a group; stage r warms up with min(m·v, 2(p − 1 − r) + (v −
/// 1)·group) forwards, then pairs (2104.04473, 2.2; the free group size is
/// Llama 3's, 2407.21783, 3.3.2).
std::vector<std::vector<Pass>> interleaved1F1B(const ScheduleShape &shape);

std::vector<std::vector<Pass>> scheduleTable(sema::Schedule schedule,
                                             const ScheduleShape &shape);

/// The closed-form bubble of the schedule with equal chunks and free transfers,
/// as a fraction numerator/denominator of the pipeline span (METRICS M6).
struct BubbleFormula {
  std::int64_t numerator = 0, denominator = 1;
};
BubbleFormula bubbleFormula(sema::Schedule schedule,
                            const ScheduleShape &shape);

} // namespace planc::pipeline
