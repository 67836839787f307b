#include "compiler/lower/Pieces.h"

#include "compiler/lower/StageWeights.h"

#include <algorithm>
#include <map>
#include <set>

namespace planc::lower {

using program::InstructionKind;
using program::Piece;
using program::PieceId;
using program::TaskId;

namespace {

class PieceBuilder {
public:
  PieceBuilder(const EmitRequest &request, program::RankProgram &program)
      : request_(request), program_(program) {}

  void addReduces(const std::vector<ChunkRuns> &runs) {
    for (const ChunkRuns &run : runs)
      addScatters(run);
    // A shared weight's gradient is complete with its last use: found from the
    // end.
    std::set<ops::WeightId> done;
    for (std::size_t r = runs.size(); r-- > 0;) {
      std::vector<Use> uses = usesOf(runs[r]);
      for (std::size_t u = uses.size(); u-- > 0;)
        if (!isShared(request_, uses[u].weight) ||
            done.insert(uses[u].weight).second)
          addReduce(runs[r], uses[u]);
    }
    std::stable_sort(chains_.begin(), chains_.end(),
                     [](const Chain &a, const Chain &b) {
                       return std::pair(a.front().task, a.front().instruction) <
                              std::pair(b.front().task, b.front().instruction);
                     });
    for (Chain &chain : chains_)
      addChain(std::move(chain));
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
           request_.bodies->of(part.unit, part.body).gradients)
        uses.push_back(
            {gradient.weight, part.first + gradient.instruction, part.unit});
    return uses;
  }

  /// Collectives of one gradient, each on what the one before left.
  using Chain = std::vector<Piece>;

  void addReduce(const ChunkRuns &run, const Use &use) {
    const ops::Weight &weight =
        request_.graph->graph->model.weights[use.weight];
    Chain chain;
    for (const shard::Step &step :
         request_.graph->weights[use.weight].reduces) {
      Piece piece = pieceOf(step, Piece::Kind::Reduce);
      piece.task = run.lastBackward;
      piece.instruction = use.instruction;
      piece.layer = static_cast<std::int32_t>(use.unit);
      piece.name = weight.name;
      piece.origin = weight.origin;
      if (!piece.message.sizes.empty())
        chain.push_back(std::move(piece));
    }
    if (!chain.empty())
      chains_.push_back(std::move(chain));
  }

  void addScatters(const ChunkRuns &run) {
    for (const ChunkPass::Part &part : run.backward.parts)
      for (const LoweredBody::Scatter &scatter :
           request_.bodies->of(part.unit, part.body).scatters)
        for (TaskId task : run.runEnds) {
          Piece piece = pieceOf(*scatter.step, Piece::Kind::Reduce);
          piece.task = task;
          piece.instruction = part.first + scatter.instruction;
          piece.layer = static_cast<std::int32_t>(part.unit);
          piece.name = request_.stages->units[part.unit].name;
          piece.origin = scatter.step->origin;
          if (!piece.message.sizes.empty())
            chains_.push_back({std::move(piece)});
        }
  }

  void addChain(Chain chain) {
    PieceId before;
    for (Piece &piece : chain) {
      PieceId added = program_.reduces.add(std::move(piece));
      if (before.isValid())
        program_.reduces[before].then = added;
      before = added;
    }
  }

  static Piece pieceOf(const shard::Step &step, Piece::Kind kind) {
    Piece piece;
    piece.kind = kind;
    piece.collective = collectiveKind(step.kind);
    piece.message.kind = step.communication;
    piece.message.bytes = step.bytes;
    setGroup(piece.message, step);
    piece.clause = step.clause;
    return piece;
  }

  /// One piece for each group of accelerators, of all the unit's weights that
  /// are gathered over it.
  void addGathersOf(const ChunkRuns &run, const ChunkPass::Part &part,
                    std::set<ops::WeightId> &done) {
    std::map<std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>,
             Piece>
        groups;
    const ops::Body &body = request_.graph->graph->bodies[part.body].forward;
    for (const ops::Value &value : body.values) {
      if (value.kind != ops::ValueKind::Weight)
        continue;
      if (isShared(request_, value.weight) && !done.insert(value.weight).second)
        continue;
      for (const shard::Step &step :
           request_.graph->weights[value.weight].gathers) {
        Piece piece = pieceOf(step, Piece::Kind::Gather);
        if (piece.message.sizes.empty())
          continue;
        auto key = std::pair(piece.message.sizes, piece.message.strides);
        auto [entry, isNew] = groups.try_emplace(key, piece);
        if (!isNew)
          entry->second.message.bytes += piece.message.bytes;
      }
    }
    for (auto &[key, piece] : groups) {
      piece.uses.push_back({run.firstForward, part.first});
      piece.layer = static_cast<std::int32_t>(part.unit);
      piece.name = request_.stages->units[part.unit].name;
      piece.origin = body.origin;
      program_.gathers.add(std::move(piece));
    }
  }

  const EmitRequest &request_;
  program::RankProgram &program_;
  std::vector<Chain> chains_;
};

} // namespace

void addPieces(const EmitRequest &request, const std::vector<ChunkRuns> &runs,
               program::RankProgram &program) {
  PieceBuilder builder(request, program);
  builder.addReduces(runs);
  builder.addGathers(runs);
}

} // namespace planc::lower
