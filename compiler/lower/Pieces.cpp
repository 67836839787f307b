#include "compiler/lower/Pieces.h"

#include "compiler/lower/StageWeights.h"

#include <algorithm>
#include <map>
#include <set>

namespace planc::lower {

using program::InstructionKind;
using program::Piece;
using program::PieceId;

namespace {

bool contains(const std::vector<sema::AxisId> &axes, sema::AxisId axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

/// The two groups a gradient goes through: scattered over the first, summed
/// over the second; either may be empty.
struct Route {
  std::vector<sema::AxisId> scatter, sum;
};

Route routeOf(const shard::WeightState &state) {
  Route route;
  for (sema::AxisId axis : state.partial)
    if (!contains(state.gradientState, axis))
      (contains(state.optimizerState, axis) ? route.scatter : route.sum)
          .push_back(axis);
  return route;
}

class PieceBuilder {
public:
  PieceBuilder(const EmitRequest &request, program::RankProgram &program)
      : request_(request), program_(program), mesh_(request.plan->mesh) {}

  void addReduces(const std::vector<ChunkRuns> &runs) {
    std::set<ops::WeightId> pending = sharedWeights(runs);
    // A shared weight's gradient is complete with its last use: found from the
    // end.
    std::vector<std::pair<const ChunkRuns *, Use>> uses;
    for (const ChunkRuns &run : runs)
      for (const Use &use : usesOf(run))
        uses.push_back({&run, use});
    std::vector<bool> keep(uses.size(), true);
    for (std::size_t i = uses.size(); i-- > 0;) {
      ops::WeightId weight = uses[i].second.weight;
      if (isShared(request_, weight))
        keep[i] = pending.erase(weight) > 0;
    }
    for (std::size_t i = 0; i < uses.size(); ++i)
      if (keep[i])
        addReduce(*uses[i].first, uses[i].second);
  }

  void addGathers(const std::vector<ChunkRuns> &runs) {
    std::vector<const ChunkRuns *> byUse;
    for (const ChunkRuns &run : runs)
      byUse.push_back(&run);
    std::sort(byUse.begin(), byUse.end(),
              [](const ChunkRuns *a, const ChunkRuns *b) {
                return a->firstForward < b->firstForward;
              });
    std::set<ops::WeightId> done;
    for (const ChunkRuns *run : byUse)
      for (const ChunkPass::Part &part : run->forward.parts)
        addGathersOf(*run, part, done);
  }

private:
  struct Use {
    ops::WeightId weight;
    std::uint32_t instruction = 0; ///< in the chunk's backward block
    std::size_t unit = 0;
  };

  std::vector<Use> usesOf(const ChunkRuns &run) const {
    std::vector<Use> uses;
    for (const ChunkPass::Part &part : run.backward.parts)
      for (const LoweredBody::Gradient &gradient :
           (*request_.bodies)[part.body].gradients)
        uses.push_back(
            {gradient.weight, part.first + gradient.instruction, part.unit});
    return uses;
  }

  std::set<ops::WeightId>
  sharedWeights(const std::vector<ChunkRuns> &runs) const {
    std::set<ops::WeightId> shared;
    for (const ChunkRuns &run : runs)
      for (const Use &use : usesOf(run))
        if (isShared(request_, use.weight))
          shared.insert(use.weight);
    return shared;
  }

  void addReduce(const ChunkRuns &run, const Use &use) {
    const shard::WeightState &state = request_.graph->weights[use.weight];
    Route route = routeOf(state);
    std::int64_t elements =
        cutElements(mesh_, state.localElements, state.gradientState);
    Piece piece;
    piece.kind = Piece::Kind::Reduce;
    piece.task = run.lastBackward;
    piece.instruction = use.instruction;
    piece.layer = static_cast<std::int32_t>(use.unit);
    const ops::Weight &weight =
        request_.graph->graph->model.weights[use.weight];
    piece.name = weight.name;
    piece.origin = weight.origin;
    if (route.scatter.empty() && !route.sum.empty()) {
      piece.clause = clauseOf(route.sum);
      program_.reduces.add(
          reduceOver(piece, InstructionKind::AllReduce, route.sum, elements));
    }
    if (route.scatter.empty())
      return;
    piece.clause = request_.plan->optimizerState.clause;
    PieceId first = program_.reduces.add(reduceOver(
        piece, InstructionKind::ReduceScatter, route.scatter, elements));
    if (route.sum.empty())
      return;
    piece.clause = clauseOf(route.sum);
    PieceId second = program_.reduces.add(
        reduceOver(piece, InstructionKind::AllReduce, route.sum,
                   cutElements(mesh_, elements, route.scatter)));
    program_.reduces[first].then = second;
  }

  Piece reduceOver(Piece piece, InstructionKind collective,
                   const std::vector<sema::AxisId> &axes,
                   std::int64_t elements) const {
    piece.collective = collective;
    piece.message.kind = program::CommunicationKind::Gradients;
    piece.message.bytes =
        Bytes(elements * bytesOf(request_.plan->precision.gradients));
    setGroup(piece.message, mesh_, axes);
    return piece;
  }

  OriginId clauseOf(const std::vector<sema::AxisId> &axes) const {
    return request_.plan->lists[axes.front()].clause;
  }

  /// One piece for each group of axes, of all the unit's weights that are cut
  /// over it.
  void addGathersOf(const ChunkRuns &run, const ChunkPass::Part &part,
                    std::set<ops::WeightId> &done) {
    std::map<std::vector<sema::AxisId>, std::int64_t> groups;
    for (const ops::Value &value :
         request_.graph->graph->bodies[part.body].forward.values) {
      if (value.kind != ops::ValueKind::Weight)
        continue;
      if (isShared(request_, value.weight) && !done.insert(value.weight).second)
        continue;
      const shard::WeightState &state = request_.graph->weights[value.weight];
      std::vector<sema::AxisId> axes;
      for (sema::AxisId axis : state.optimizerState)
        if (!contains(state.parameterState, axis))
          axes.push_back(axis);
      if (!axes.empty())
        groups[axes] += state.localElements;
    }
    for (const auto &[axes, elements] : groups) {
      Piece piece;
      piece.kind = Piece::Kind::Gather;
      piece.collective = InstructionKind::AllGather;
      piece.message.kind = program::CommunicationKind::Parameters;
      piece.message.bytes =
          Bytes(elements * bytesOf(request_.plan->precision.parameters));
      setGroup(piece.message, mesh_, axes);
      piece.uses.push_back({run.firstForward, part.first});
      piece.layer = static_cast<std::int32_t>(part.unit);
      piece.name = request_.stages->units[part.unit].name;
      piece.origin = request_.graph->graph->bodies[part.body].forward.origin;
      piece.clause = request_.plan->optimizerState.clause;
      program_.gathers.add(std::move(piece));
    }
  }

  const EmitRequest &request_;
  program::RankProgram &program_;
  const sema::Mesh &mesh_;
};

} // namespace

void addPieces(const EmitRequest &request, const std::vector<ChunkRuns> &runs,
               program::RankProgram &program) {
  PieceBuilder builder(request, program);
  builder.addReduces(runs);
  builder.addGathers(runs);
}

} // namespace planc::lower
