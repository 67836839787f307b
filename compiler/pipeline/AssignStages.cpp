#include "compiler/pipeline/AssignStages.h"

#include <algorithm>
#include <limits>
#include <set>

namespace planc::pipeline {

namespace {

/// Parts a greedy cut needs when none may be longer than `cap`; all units must
/// be no longer than `cap`.
std::size_t partsNeeded(const std::vector<Duration> &costs, Int128 cap) {
  std::size_t parts = 1;
  Int128 sum = 0;
  for (Duration cost : costs) {
    if (sum + cost.value > cap) {
      ++parts;
      sum = 0;
    }
    sum += cost.value;
  }
  return parts;
}

/// Length of the longest part of the best cut.
Int128 leastLongestPart(const std::vector<Duration> &costs,
                        std::size_t chunks) {
  Int128 low = 0, high = 0;
  for (Duration cost : costs) {
    low = std::max<Int128>(low, cost.value);
    high += cost.value;
  }
  while (low < high) {
    Int128 middle = low + (high - low) / 2;
    if (partsNeeded(costs, middle) <= chunks)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/// Least sum of squared lengths over cuts with no part longer than `cap`.
/// best[c][u]: the first u units in c parts; cut[c][u]: where the last part
/// begins.
class SquaresProgram {
public:
  SquaresProgram(const std::vector<Duration> &costs, std::size_t chunks,
                 Int128 cap)
      : units_(costs.size()), cap_(cap), prefix_(units_ + 1, 0),
        best_(units_ + 1, kNone), cut_(chunks + 1) {
    for (std::size_t u = 0; u < units_; ++u)
      prefix_[u + 1] = prefix_[u] + costs[u].value;
    best_[0] = 0;
    for (std::size_t c = 1; c <= chunks; ++c)
      addPart(c);
  }

  std::vector<std::size_t> ends() const {
    std::vector<std::size_t> ends(cut_.size() - 1);
    std::size_t at = units_;
    for (std::size_t c = cut_.size() - 1; c > 0; --c) {
      ends[c - 1] = at;
      at = cut_[c][at];
    }
    return ends;
  }

private:
  static constexpr Int128 kNone = ~(Int128(1) << 127);

  void addPart(std::size_t c) {
    std::vector<Int128> next(units_ + 1, kNone);
    cut_[c].assign(units_ + 1, 0);
    for (std::size_t end = 0; end <= units_; ++end)
      for (std::size_t begin = end + 1; begin-- > 0;) {
        // Scaled so that squares of days still fit.
        Int128 length = prefix_[end] - prefix_[begin];
        if (length > cap_)
          break;
        if (best_[begin] == kNone)
          continue;
        Int128 scaled = length >> 10;
        Int128 total = best_[begin] + scaled * scaled;
        if (total < next[end] || (total == next[end] && begin < cut_[c][end])) {
          next[end] = total;
          cut_[c][end] = begin;
        }
      }
    best_ = std::move(next);
  }

  std::size_t units_;
  Int128 cap_;
  std::vector<Int128> prefix_, best_;
  std::vector<std::vector<std::size_t>> cut_;
};

std::vector<std::size_t> givenCut(const std::vector<Unit> &units,
                                  const std::vector<std::int64_t> &layers) {
  // Counts are of layers; what stands before goes with the first chunk, what
  // stands after with the last.
  std::vector<std::size_t> ends;
  std::size_t at = 0;
  for (std::int64_t count : layers) {
    while (at < units.size() && !units[at].isLayer && ends.empty())
      ++at;
    std::int64_t taken = 0;
    while (at < units.size() && taken < count) {
      taken += units[at].isLayer;
      ++at;
    }
    ends.push_back(at);
  }
  if (!ends.empty())
    ends.back() = units.size();
  return ends;
}

/// Slots that a chunk before `begin` writes (or the model is given) and
/// something at or after `begin` reads.
std::vector<ops::SlotId> aliveAt(const ops::Model &model,
                                 const std::vector<Unit> &units,
                                 std::size_t begin) {
  std::set<ops::SlotId> written, alive;
  for (std::size_t u = 0; u < begin; ++u)
    for (ops::BodyId body : units[u].bodies)
      for (const ops::Port &port : model.bodies[body].outputs)
        written.insert(port.slot);
  std::set<ops::SlotId> overwritten;
  for (std::size_t u = begin; u < units.size(); ++u)
    for (ops::BodyId body : units[u].bodies) {
      for (const ops::Port &port : model.bodies[body].inputs)
        if (written.count(port.slot) && !overwritten.count(port.slot) &&
            !model.slots[port.slot].given)
          alive.insert(port.slot);
      for (const ops::Port &port : model.bodies[body].outputs)
        overwritten.insert(port.slot);
    }
  return {alive.begin(), alive.end()};
}

void addOrders(const sema::Plan &plan, StageGraph &graph) {
  sema::Pipeline one; // without a pipeline: 1F1B of one stage
  const sema::Pipeline &pipeline = plan.pipeline ? *plan.pipeline : one;
  const schedules::Shape shape = pipeline.shape(graph.microBatches);
  if (pipeline.schedule == sema::Schedule::Own) {
    graph.orders = pipeline.order;
    graph.holders = schedules::holdersOf(graph.orders, shape);
    return;
  }
  const schedules::ScheduleInfo &info = schedules::infoOf(pipeline.schedule);
  graph.orders = info.orders(shape);
  graph.holders = schedules::holdersOf(info.placement, shape);
}

} // namespace

std::vector<Unit> unitsOf(const ops::Model &model) {
  std::vector<Unit> units;
  std::vector<ops::BodyId> pending;
  for (const ops::Segment &segment : model.segments) {
    if (!segment.isRepeat) {
      pending.insert(pending.end(), segment.iterations.begin(),
                     segment.iterations.end());
      continue;
    }
    bool anyLayer = std::any_of(units.begin(), units.end(),
                                [](const Unit &u) { return u.isLayer; });
    if (!anyLayer && !pending.empty())
      units.push_back({std::exchange(pending, {}), false, "before"});
    for (std::size_t i = 0; i < segment.iterations.size(); ++i) {
      Unit unit{std::exchange(pending, {}), true,
                segment.name + "[" + std::to_string(i) + "]"};
      unit.bodies.push_back(segment.iterations[i]);
      units.push_back(std::move(unit));
    }
  }
  if (!pending.empty())
    units.push_back({std::move(pending), false, "after"});
  return units;
}

std::vector<std::size_t> balancedCut(const std::vector<Duration> &costs,
                                     std::size_t chunks) {
  Int128 cap = leastLongestPart(costs, chunks);
  return SquaresProgram(costs, chunks, cap).ends();
}

StageGraph assignStages(const StageRequest &request) {
  const sema::Plan &plan = *request.plan;
  StageGraph graph;
  graph.units = unitsOf(*request.model);
  graph.microBatches = plan.batch.microBatches;
  if (plan.pipeline) {
    graph.stages = plan.pipeline->stages;
    graph.virtualStages = plan.pipeline->virtualStages;
  }
  auto chunks = static_cast<std::size_t>(graph.stages * graph.virtualStages);
  std::vector<std::size_t> ends =
      plan.pipeline && !plan.pipeline->layers.empty()
          ? givenCut(graph.units, plan.pipeline->layers)
          : balancedCut(request.unitCosts, chunks);
  std::size_t begin = 0;
  for (std::size_t c = 0; c < chunks; ++c) {
    graph.chunks.push_back({begin, ends[c]});
    graph.crossing.push_back(c == 0
                                 ? std::vector<ops::SlotId>()
                                 : aliveAt(*request.model, graph.units, begin));
    begin = ends[c];
  }
  addOrders(plan, graph);
  return graph;
}

} // namespace planc::pipeline
