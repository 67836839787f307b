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
    std::vector<Use> uses;
    for (const ChunkRuns &run : runs)
      addUses(run, uses);
    std::stable_sort(uses.begin(), uses.end(), [](const Use &a, const Use &b) {
      return std::pair(a.task, a.instruction) <
             std::pair(b.task, b.instruction);
    });
    // A shared weight's gradient is complete with its last use: found from the
    // end.
    std::set<ops::WeightId> done;
    for (std::size_t u = uses.size(); u-- > 0;)
      if (!isShared(request_, uses[u].weight) ||
          done.insert(uses[u].weight).second)
        addReduce(uses[u]);
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
                return a->firstForward.task < b->firstForward.task;
              });
    std::set<ops::WeightId> done;
    for (const ChunkRuns *run : byUse)
      for (const ChunkPass::Part &part : run->forward.parts)
        addGathersOf(*run, part, done);
  }

private:
  /// Where a weight's gradient of one unit is complete.
  struct Use {
    ops::WeightId weight;
    std::size_t unit = 0;
    TaskId task;
    std::uint32_t instruction = 0; ///< of the task's block
  };

  void addUses(const ChunkRuns &run, std::vector<Use> &uses) const {
    std::size_t first = uses.size();
    auto add = [&](const ChunkPass &pass, const PassRun &last,
                   const std::vector<LoweredBody::Gradient> &(*gradientsOf)(
                       const LoweredBody &)) {
      if (!last.isValid())
        return;
      for (const ChunkPass::Part &part : pass.parts)
        for (const LoweredBody::Gradient &gradient :
             gradientsOf(request_.bodies->of(part.unit, part.body))) {
          Use use{gradient.weight, part.unit, last.task,
                  last.placeOf(part.first + gradient.instruction)};
          // Backwards whole and cut in two: whichever comes last.
          auto known = std::find_if(
              uses.begin() + static_cast<std::ptrdiff_t>(first), uses.end(),
              [&](const Use &u) {
                return u.weight == use.weight && u.unit == use.unit;
              });
          if (known == uses.end())
            uses.push_back(use);
          else if (known->task < use.task)
            *known = use;
        }
    };
    using Body = const LoweredBody &;
    add(run.backward, run.lastBackward,
        [](Body b) -> const std::vector<LoweredBody::Gradient> & {
          return b.gradients;
        });
    add(run.input, run.lastInput,
        [](Body b) -> const std::vector<LoweredBody::Gradient> & {
          return b.split.inputGradients;
        });
    add(run.weight, run.lastWeight,
        [](Body b) -> const std::vector<LoweredBody::Gradient> & {
          return b.split.weightGradients;
        });
  }

  /// Collectives of one gradient, each on what the one before left.
  using Chain = std::vector<Piece>;

  void addReduce(const Use &use) {
    const ops::Weight &weight =
        request_.graph->graph->model.weights[use.weight];
    Chain chain;
    for (const shard::Step &step :
         request_.graph->weights[use.weight].reduces) {
      Piece piece = pieceOf(step, Piece::Kind::Reduce);
      piece.task = use.task;
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
    for (const PassRun &end : run.runEnds) {
      bool isSplit =
          program_.tasks[end.task].pass == program::PassKind::WeightGradient;
      const ChunkPass &pass = isSplit ? run.weight : run.backward;
      for (const ChunkPass::Part &part : pass.parts) {
        const LoweredBody &body = request_.bodies->of(part.unit, part.body);
        for (const LoweredBody::Scatter &scatter :
             isSplit ? body.split.scatters : body.scatters)
          addScatter(end, part, scatter);
      }
    }
  }

  void addScatter(const PassRun &end, const ChunkPass::Part &part,
                  const LoweredBody::Scatter &scatter) {
    Piece piece = pieceOf(*scatter.step, Piece::Kind::Reduce);
    piece.task = end.task;
    piece.instruction = end.placeOf(part.first + scatter.instruction);
    piece.layer = static_cast<std::int32_t>(part.unit);
    piece.name = request_.stages->units[part.unit].name;
    piece.origin = scatter.step->origin;
    if (!piece.message.sizes.empty())
      chains_.push_back({std::move(piece)});
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
      piece.uses.push_back(
          {run.firstForward.task, run.firstForward.placeOf(part.first)});
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
