// Pieces that several generators are made of.
#pragma once

#include "compiler/schedules/Pass.h"

namespace planc::schedules {

inline Pass makePass(PassKind kind, std::int64_t microBatch,
                     std::int64_t chunk) {
  Pass pass;
  pass.kind = kind;
  pass.microBatch = static_cast<std::int32_t>(microBatch);
  pass.chunk = static_cast<std::int32_t>(chunk);
  return pass;
}

/// Micro-batches of a group of an interleaved schedule.
inline std::int64_t groupOf(const Shape &shape) {
  return shape.group ? shape.group : shape.stages;
}

/// All passes of one kind that rank r runs, as interleaved schedules visit
/// them: groups of micro-batches, chunk by chunk inside a group; forwards from
/// the first chunk, others from the last.
Order chunkVisits(PassKind kind, const Shape &shape, std::int64_t r);

} // namespace planc::schedules
