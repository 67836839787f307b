// Which runs follow which orders of their blocks.
#include "runtime/program/Liveness.h"
#include "runtime/sim/PieceGroups.h"
#include "runtime/sim/PieceTimes.h"
#include "runtime/sim/Reorder.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace planc::sim {

using program::BlockId;
using program::PassKind;
using program::Piece;
using program::PieceId;
using program::RankClassId;
using program::RankProgram;
using program::Task;
using program::TaskId;
using program::TaskKind;

namespace {

/// What `reorder` was asked, to ask once.
struct Question {
  BlockId block;
  std::vector<std::tuple<std::uint32_t, std::int64_t, std::int32_t>> reductions;
  std::vector<std::pair<std::int64_t, std::int64_t>> groups;
  Duration linkFree, rest;
  Bytes spare;
  auto operator<=>(const Question &) const = default;
};

class Reorderer {
public:
  Reorderer(const program::ProgramSet &set, const Costs &costs,
            const Table<RankClassId, Bytes> &spare,
            const timeline::Timeline &seen, const IssueOrder &order)
      : set_(set), costs_(costs), spare_(spare), seen_(seen), out_(order) {
    out_.orders.clear();
    if (!spare.empty())
      least_ = *std::min_element(spare.begin(), spare.end());
  }

  IssueOrder find() {
    for (RankClassId id : set_.classes.ids())
      reorderClass(id);
    return std::move(out_);
  }

private:
  static bool mayMove(const Task &task) {
    return task.kind == TaskKind::Run && task.withMicroBatch < 0 &&
           (task.pass == PassKind::Backward ||
            task.pass == PassKind::WeightGradient);
  }

  void reorderClass(RankClassId id) {
    const RankProgram &rankClass = set_.classes[id];
    const PieceTimes times(seen_, id);
    std::vector<std::vector<PieceId>> byTask(rankClass.tasks.size());
    std::vector<std::int32_t> groupOf(rankClass.reduces.size(), -1);
    std::vector<sched::LinkCost> groups;
    for (const std::vector<PieceId> &group : groupsOf(rankClass.reduces)) {
      for (PieceId piece : group) {
        groupOf[piece.index()] = static_cast<std::int32_t>(groups.size());
        byTask[rankClass.reduces[piece].task.index()].push_back(piece);
      }
      groups.push_back(lineThrough(costs_, rankClass, rankClass.reduces,
                                   group.front(),
                                   bytesOf(rankClass.reduces, group)));
    }
    std::vector<FormUse> forms;
    for (TaskId task : rankClass.tasks.ids()) {
      if (!mayMove(rankClass.tasks[task]))
        continue;
      Surroundings around;
      for (PieceId piece : byTask[task.index()])
        around.reductions.push_back({rankClass.reduces[piece].instruction,
                                     rankClass.reduces[piece].message.bytes,
                                     groupOf[piece.index()]});
      around.groups = groups;
      look(id, times.runOf(task), around);
      around.spare =
          around.reductions.empty() || spare_.empty() ? least_ : spare_[id];
      if (auto form = orderFor(rankClass.tasks[task].block, around))
        forms.push_back({task, *form});
    }
    out_.classes[id].forms = std::move(forms);
    out_.classes[id].extra = extraOf(out_.classes[id], out_.orders, set_);
  }

  /// What the link and the compute stream do around the run.
  void look(RankClassId id, const timeline::Run &run, Surroundings &around) {
    const timeline::ClassTimeline &of = seen_.classes[id];
    Duration last = run.end, busy = run.begin, load(0);
    for (const timeline::Run &other : of.runs)
      if (other.step == run.step &&
          set_.classes[id].tasks[other.task].pass != PassKind::Update)
        last = std::max(last, other.end);
    for (const timeline::Communication &one : of.communications)
      if (one.source == timeline::CommunicationSource::Reduce &&
          one.step == run.step && one.begin < run.begin)
        busy = std::max(busy, one.end);
    for (const Surroundings::Reduction &one : around.reductions)
      load += around.groups[static_cast<std::size_t>(one.group)].of(one.bytes);
    around.linkFree = busy - run.begin;
    around.rest = last - run.end;
    // Whatever the order, they end before the stage's last run does; or they
    // queue on the link until the run is over.
    if (load + around.linkFree <= around.rest ||
        around.linkFree >= run.end - run.begin)
      around = {};
  }

  std::optional<std::uint32_t> orderFor(BlockId block,
                                        const Surroundings &around) {
    Question question{block,           {},          {},
                      around.linkFree, around.rest, around.spare};
    for (const Surroundings::Reduction &one : around.reductions)
      question.reductions.emplace_back(one.instruction, one.bytes.value,
                                       one.group);
    for (const sched::LinkCost &one : around.groups)
      question.groups.emplace_back(one.latency.value, one.psPerGibibyte);
    auto [known, isNew] = known_.try_emplace(std::move(question));
    if (isNew) {
      BlockOrder order{block,
                       reorder(set_.blocks[block],
                               costs_.instructions[block.index()], around)};
      if (order.instructions != program::orderAsItStands(set_.blocks[block]))
        known->second = indexOf(std::move(order));
    }
    return known->second;
  }

  std::uint32_t indexOf(BlockOrder order) {
    auto at = std::find(out_.orders.begin(), out_.orders.end(), order);
    if (at == out_.orders.end())
      at = out_.orders.insert(at, std::move(order));
    return static_cast<std::uint32_t>(at - out_.orders.begin());
  }

  const program::ProgramSet &set_;
  const Costs &costs_;
  const Table<RankClassId, Bytes> &spare_;
  const timeline::Timeline &seen_;
  Bytes least_; ///< that any class has to spare
  IssueOrder out_;
  std::map<Question, std::optional<std::uint32_t>> known_;
};

} // namespace

IssueOrder reorderedIssue(const program::ProgramSet &set, const Costs &costs,
                          const Table<RankClassId, Bytes> &spare,
                          const timeline::Timeline &seen,
                          const IssueOrder &order) {
  return Reorderer(set, costs, spare, seen, order).find();
}

} // namespace planc::sim
