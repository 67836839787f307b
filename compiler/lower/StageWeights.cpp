#include "compiler/lower/StageWeights.h"

#include "runtime/base/Checked.h"

#include <algorithm>
#include <set>

namespace planc::lower {

namespace {

/// Calls `visit(unit, weight)` for every use in the units of a stage, in order.
template <class Visit>
void forEachUse(const EmitRequest &request, std::int64_t stage, Visit visit) {
  const pipeline::StageGraph &stages = *request.stages;
  for (std::size_t c = 0; c < stages.chunks.size(); ++c) {
    if (!stages.holds(stage, static_cast<std::int64_t>(c)))
      continue;
    const pipeline::Chunk &chunk = stages.chunks[c];
    for (std::size_t u = chunk.begin; u < chunk.end; ++u)
      for (ops::BodyId body : stages.units[u].bodies)
        for (const ops::Value &value :
             request.graph->graph->bodies[body].forward.values)
          if (value.kind == ops::ValueKind::Weight)
            visit(u, value.weight);
  }
}

} // namespace

bool isShared(const EmitRequest &request, ops::WeightId weight) {
  return request.graph->graph->model.weights[weight].instances == 1;
}

std::vector<HeldWeight> weightsOf(const EmitRequest &request,
                                  std::int64_t stage) {
  std::vector<HeldWeight> held;
  std::set<std::pair<std::size_t, ops::WeightId>> seen;
  constexpr std::size_t kAnyUnit = ~std::size_t{0};
  forEachUse(request, stage, [&](std::size_t unit, ops::WeightId weight) {
    bool shared = isShared(request, weight);
    if (seen.insert({shared ? kAnyUnit : unit, weight}).second)
      held.push_back({weight, unit, shared});
  });
  return held;
}

bool isFrozen(const EmitRequest &request, ops::WeightId weight) {
  return request.graph->graph->model.weights[weight].isFrozen;
}

std::vector<std::int64_t> holdersOf(const EmitRequest &request,
                                    ops::WeightId weight) {
  std::vector<std::int64_t> holders;
  for (std::int64_t stage = 0; stage < request.stages->stages; ++stage) {
    bool holds = false;
    forEachUse(request, stage, [&](std::size_t, ops::WeightId used) {
      holds = holds || used == weight;
    });
    if (holds)
      holders.push_back(stage);
  }
  return holders;
}

std::size_t fetchedAhead(const sema::Plan &plan) {
  return static_cast<std::size_t>(plan.overlap.parameters ? plan.prefetch : 0);
}

std::int64_t cutElements(const sema::Mesh &mesh, std::int64_t elements,
                         const std::vector<sema::AxisId> &axes) {
  for (sema::AxisId axis : axes)
    elements = ceilDiv(elements, mesh.axes[axis].size);
  return elements;
}

} // namespace planc::lower
