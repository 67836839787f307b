// When the last reduction can end.
#include "runtime/base/Checked.h"
#include "runtime/sim/PieceGroups.h"
#include "runtime/sim/StepBound.h"

#include <algorithm>

namespace planc::sim {

using program::PassKind;
using program::Piece;
using program::RankClassId;
using program::RankProgram;
using program::Task;
using program::TaskId;
using program::TaskKind;

namespace {

/// What one link has to take.
struct LinkLoad {
  std::vector<std::pair<Duration, Duration>> pieces; ///< ready, load

  /// Sorts the pieces.
  Duration end() {
    std::sort(pieces.begin(), pieces.end());
    Duration load(0), end(0);
    for (std::size_t i = pieces.size(); i-- > 0;) {
      load += pieces[i].second;
      end = std::max(end, pieces[i].first + load);
    }
    return end;
  }
};

} // namespace

LinkUse useOf(const OpCost &cost, Duration length) {
  constexpr std::int64_t kRounded = 10; // millionths
  LinkUse out;
  for (std::size_t level = 0; level < kLevels; ++level)
    out.levels[level] = Duration(static_cast<std::int64_t>(
        Int128(length.value) *
        std::max<std::int64_t>(0, cost.links[level] - kRounded) /
        cost::kWhole));
  return out;
}

PieceLoads::PieceLoads(const Costs &costs, const RankProgram &rankClass,
                       const Table<program::PieceId, Piece> &pieces) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  for (const Piece &piece : pieces) {
    Sum &sum = groups_[keyOf(piece)];
    const std::int64_t bytes = piece.message.bytes.value;
    if (sum.like == nullptr || bytes < sum.smallest)
      sum.smallest = bytes;
    sum.like = &piece;
    sum.bytes = checkedAdd(sum.bytes, bytes).value_or(kMost);
  }
  for (auto &[key, sum] : groups_) {
    sum.cost = costs.bucket(rankClass, *sum.like, Bytes(sum.bytes));
    for (std::int64_t size = std::max<std::int64_t>(1, sum.smallest);
         size < sum.bytes; size = checkedMul(size, 2).value_or(kMost)) {
      const OpCost cost = costs.bucket(rankClass, *sum.like, Bytes(size));
      sum.rungs.push_back({size, sim::useOf(cost, cost.duration)});
    }
    sum.rungs.push_back({std::max<std::int64_t>(1, sum.bytes),
                         sim::useOf(sum.cost, sum.cost.duration)});
  }
}

Duration PieceLoads::shareOf(const Piece &piece) const {
  const Sum &sum = groups_.at(keyOf(piece));
  return Duration(static_cast<std::int64_t>(
      Int128(sum.cost.duration.value) * piece.message.bytes.value /
      std::max<std::int64_t>(1, sum.bytes)));
}

LinkUse PieceLoads::useOf(const Piece &piece, const OpCost &alone) const {
  LinkUse out = sim::useOf(alone, alone.duration);
  const std::int64_t bytes = piece.message.bytes.value;
  for (const Rung &rung : groups_.at(keyOf(piece)).rungs) {
    if (rung.bytes < bytes)
      continue;
    for (std::size_t level = 0; level < kLevels; ++level) {
      const Duration share(static_cast<std::int64_t>(
          Int128(rung.use.levels[level].value) * bytes / rung.bytes));
      out.levels[level] = std::min(out.levels[level], share);
    }
  }
  return out;
}

std::vector<Duration>
StepBound::beforeCompletion(RankClassId c, const sched::Chains &chains) const {
  const RankProgram &rankClass = set_.classes[c];
  struct Kind {
    Duration work, first = Duration(std::numeric_limits<std::int64_t>::max());
    void add(Duration run, Duration head) {
      work += run;
      first = std::min(first, head);
    }
  };
  std::vector<Duration> out(rankClass.tasks.size());
  std::map<std::tuple<std::int32_t, PassKind>, Kind> passes;
  std::map<std::int32_t, Kind> chunks;
  for (TaskId id : rankClass.tasks.ids()) {
    const Task &task = rankClass.tasks[id];
    const sched::TaskId node = nodes_[c.index()][id.index()];
    if (task.kind != TaskKind::Run || !node.isValid())
      continue;
    Kind &pass = passes[{task.chunk, task.pass}];
    Kind &chunk = chunks[task.chunk];
    for (const Kind *kind : {&pass, &chunk})
      if (kind->work > Duration(0))
        out[id.index()] = std::max(out[id.index()], kind->first + kind->work);
    pass.add(blockOf(task).least, chains.head[node]);
    chunk.add(blockOf(task).least, chains.head[node]);
  }
  return out;
}

Duration StepBound::reductionsEnd(RankClassId c,
                                  const sched::Chains &chains) const {
  const RankProgram &rankClass = set_.classes[c];
  const PieceLoads loads(costs_, rankClass, rankClass.reduces);
  const std::vector<Duration> runsBefore = beforeCompletion(c, chains);
  Duration end(0);
  LinkLoad links[2];
  std::vector<Carried> carried;
  const std::vector<char> &second = program_.classes[c.index()].secondLegs;
  std::vector<char> follows(rankClass.reduces.size());
  for (const Piece &piece : rankClass.reduces)
    if (piece.then.isValid())
      follows[piece.then.index()] = 1;
  for (program::PieceId id : rankClass.reduces.ids()) {
    const Piece &piece = rankClass.reduces[id];
    if (follows[id.index()])
      continue;
    const sched::TaskId run = nodes_[c.index()][piece.task.index()];
    const BlockBound &block = blockOf(rankClass.tasks[piece.task]);
    Duration ready = run.isValid() ? chains.head[run] : Duration(0);
    ready = std::max(ready, runsBefore[piece.task.index()]);
    ready += piece.instruction < block.ready.size()
                 ? block.ready[piece.instruction]
                 : block.least;
    for (program::PieceId leg = id; leg.isValid();
         leg = rankClass.reduces[leg].then) {
      const Piece &part = rankClass.reduces[leg];
      LinkLoad &link = links[second[leg.index()] != 0];
      link.pieces.push_back({ready, loads.shareOf(part)});
      const OpCost alone = costs_.bucket(rankClass, part, part.message.bytes);
      carried.push_back({ready, loads.useOf(part, alone)});
      ready += alone.duration;
    }
    end = std::max(end, ready);
  }
  // Collectives of the same stream that the update waits for.
  for (const Task &update : rankClass.tasks)
    if (update.kind == TaskKind::Run && update.pass == PassKind::Update)
      for (TaskId dep : update.deps)
        if (const Task &task = rankClass.tasks[dep];
            task.kind == TaskKind::Collective &&
            task.stream == program::Stream::Gradients) {
          const Duration ready = chains.head[nodes_[c.index()][dep.index()]];
          const OpCost &cost = costs_.tasks[c.index()][dep.index()];
          links[0].pieces.push_back({ready, cost.duration});
          carried.push_back({ready, useOf(cost, cost.duration)});
        }
  for (LinkLoad &link : links)
    end = std::max(end, link.end());
  if (meet_ && contention_ == Contention::On && !carried.empty())
    end = std::max(end, linksEnd(c, chains, std::move(carried)));
  return end;
}

Duration StepBound::linksEnd(RankClassId c, const sched::Chains &chains,
                             std::vector<Carried> pieces) const {
  const RankProgram &rankClass = set_.classes[c];
  const Duration first =
      std::min_element(
          pieces.begin(), pieces.end(),
          [](const Carried &a, const Carried &b) { return a.ready < b.ready; })
          ->ready;
  std::vector<Carried> directions[2] = {pieces, std::move(pieces)};
  // Those before any of these tasks begin early.
  std::size_t from = rankClass.tasks.size();
  for (const Piece &piece : rankClass.reduces)
    if (piece.task.isValid())
      from = std::min<std::size_t>(from, piece.task.index());
  for (; from < rankClass.tasks.size(); ++from) {
    const TaskId id(from);
    const TaskKind kind = rankClass.tasks[id].kind;
    const bool inward = kind == TaskKind::Recv;
    if (!inward && kind != TaskKind::Send)
      continue;
    const Transfer &transfer =
        program_.transfers[program_.classes[c.index()].tasks[id.index()].match];
    const sched::TaskId send = nodes_[transfer.from][transfer.send];
    const Duration ready = chains.head[send];
    if (ready < first)
      continue;
    const OpCost &cost = costs_.tasks[transfer.from][transfer.send];
    directions[inward].push_back(
        {ready, useOf(cost, cost.duration - cost.latency)});
  }
  Duration end(0);
  for (std::vector<Carried> &all : directions) {
    std::sort(all.begin(), all.end(), [](const Carried &a, const Carried &b) {
      return a.ready > b.ready;
    });
    LinkUse use;
    for (const Carried &each : all) {
      use.add(each.use);
      end = std::max(end, each.ready + use.most());
    }
  }
  return end;
}

} // namespace planc::sim
