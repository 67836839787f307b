#include "compiler/schedules/Legality.h"

#include "compiler/schedules/Orders.h"
#include "compiler/schedules/Schedules.h"

#include <algorithm>

namespace planc::schedules {

namespace {

bool anyShape(const Shape &) { return true; }

bool groupIsInside(const Shape &shape) {
  return shape.group <= shape.microBatches;
}

/// Would groups of n run without a rank waiting for ever, and without a bubble
/// that the closed form does not have? Megatron-LM's rule
/// (microbatch_group_size_per_vp_stage).
bool groupsAreFull(const Shape &shape) {
  const std::int64_t n = groupOf(shape), m = shape.microBatches;
  if (shape.virtualStages == 1)
    return shape.group <= m;
  return n >= shape.stages && n <= m && (m % n == 0 || m % n >= shape.stages);
}

bool fitsDualPipe(const Shape &shape) {
  return shape.stages % 2 == 0 && shape.microBatches % 2 == 0 &&
         shape.microBatches >= 2 * shape.stages;
}

bool fitsDualPipeV(const Shape &shape) {
  return shape.microBatches >= 2 * shape.stages;
}

bool fitsChimera(const Shape &shape) {
  return shape.stages % 2 == 0 && shape.microBatches % 2 == 0;
}

/// A search no longer than this is worth a better message.
constexpr std::int64_t kMostTried = 4096;
constexpr std::size_t kMostGroups = 6;

} // namespace

const Rule always{anyShape, ""};
const Rule groupInside{groupIsInside,
                       "groups of no more than all micro-batches"};
const Rule groupsFill{
    groupsAreFull,
    "groups of at least as many micro-batches as stages, the last one too"};
const Rule dualPipeFits{fitsDualPipe,
                        "an even number of stages, and an even number of "
                        "micro-batches of at least twice as many"};
const Rule dualPipeVFits{fitsDualPipeV,
                         "at least twice as many micro-batches as stages"};
const Rule chimeraFits{
    fitsChimera, "an even number of stages and of micro-batches, half of them "
                 "for each direction"};

Nearest nearestLegal(const ScheduleInfo &info, const Shape &shape) {
  Nearest nearest;
  for (std::int64_t step : {-1, +1}) {
    Shape other = shape;
    for (std::int64_t tried = 0; tried < kMostTried; ++tried) {
      other.microBatches += step;
      if (other.microBatches < 1)
        break;
      if (!info.fits(other))
        continue;
      nearest.microBatches.push_back(other.microBatches);
      break;
    }
  }
  if (!(info.takes & kGroup))
    return nearest;
  Shape other = shape;
  for (other.group = 1;
       other.group <= std::min(shape.microBatches, kMostTried) &&
       nearest.groups.size() < kMostGroups;
       ++other.group)
    if (other.group >= shape.stages && info.fits(other))
      nearest.groups.push_back(other.group);
  return nearest;
}

} // namespace planc::schedules
