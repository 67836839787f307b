#include "compiler/pipeline/Schedules.h"

#include <algorithm>

namespace planc::pipeline {

using program::PassKind;

namespace {

Pass makePass(PassKind kind, std::int64_t microBatch, std::int64_t chunk) {
  return {kind, static_cast<std::int32_t>(microBatch),
          static_cast<std::int32_t>(chunk)};
}

/// `warmUp` forwards, then (forward, backward) pairs, then the backwards left.
std::vector<Pass> warmUpThenPairs(const std::vector<Pass> &forwards,
                                  const std::vector<Pass> &backwards,
                                  std::size_t warmUp) {
  std::vector<Pass> order;
  order.reserve(forwards.size() + backwards.size());
  order.insert(order.end(), forwards.begin(),
               forwards.begin() + static_cast<std::ptrdiff_t>(warmUp));
  for (std::size_t k = 0; k < backwards.size(); ++k) {
    if (warmUp + k < forwards.size())
      order.push_back(forwards[warmUp + k]);
    order.push_back(backwards[k]);
  }
  return order;
}

} // namespace

std::vector<std::vector<Pass>> gPipe(const ScheduleShape &shape) {
  std::vector<std::vector<Pass>> orders;
  for (std::int64_t stage = 0; stage < shape.stages; ++stage) {
    std::vector<Pass> order;
    for (PassKind kind : {PassKind::Forward, PassKind::Backward})
      for (std::int64_t i = 0; i < shape.microBatches; ++i)
        order.push_back(makePass(kind, i, stage));
    orders.push_back(std::move(order));
  }
  return orders;
}

std::vector<std::vector<Pass>> oneFOneB(const ScheduleShape &shape) {
  std::vector<std::vector<Pass>> orders;
  for (std::int64_t stage = 0; stage < shape.stages; ++stage) {
    std::vector<Pass> forwards, backwards;
    for (std::int64_t i = 0; i < shape.microBatches; ++i) {
      forwards.push_back(makePass(PassKind::Forward, i, stage));
      backwards.push_back(makePass(PassKind::Backward, i, stage));
    }
    std::int64_t warmUp =
        std::min(shape.microBatches, shape.stages - 1 - stage);
    orders.push_back(
        warmUpThenPairs(forwards, backwards, static_cast<std::size_t>(warmUp)));
  }
  return orders;
}

std::vector<std::vector<Pass>> interleaved1F1B(const ScheduleShape &shape) {
  const std::int64_t p = shape.stages, v = shape.virtualStages,
                     m = shape.microBatches;
  const std::int64_t group = shape.group ? shape.group : p;
  std::vector<std::vector<Pass>> orders;
  for (std::int64_t stage = 0; stage < p; ++stage) {
    std::vector<Pass> forwards, backwards;
    for (std::int64_t begin = 0; begin < m; begin += group)
      for (std::int64_t local = 0; local < v; ++local)
        for (std::int64_t i = begin; i < std::min(m, begin + group); ++i) {
          forwards.push_back(makePass(PassKind::Forward, i, local * p + stage));
          backwards.push_back(
              makePass(PassKind::Backward, i, (v - 1 - local) * p + stage));
        }
    std::int64_t warmUp =
        std::min(m * v, 2 * (p - 1 - stage) + (v - 1) * group);
    orders.push_back(
        warmUpThenPairs(forwards, backwards, static_cast<std::size_t>(warmUp)));
  }
  return orders;
}

std::vector<std::vector<Pass>> scheduleTable(sema::Schedule schedule,
                                             const ScheduleShape &shape) {
  switch (schedule) {
  case sema::Schedule::GPipe:
    return gPipe(shape);
  case sema::Schedule::OneFOneB:
    return oneFOneB(shape);
  case sema::Schedule::Interleaved1F1B:
    return interleaved1F1B(shape);
  }
  return {};
}

BubbleFormula bubbleFormula(sema::Schedule schedule,
                            const ScheduleShape &shape) {
  std::int64_t perStage =
      schedule == sema::Schedule::Interleaved1F1B ? shape.virtualStages : 1;
  return {shape.stages - 1, perStage * shape.microBatches + shape.stages - 1};
}

} // namespace planc::pipeline
