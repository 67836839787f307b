#include "runtime/sim/CompiledProgram.h"

#include "runtime/sim/PieceGroups.h"

#include <algorithm>
#include <tuple>

namespace planc::sim {

using program::PassKind;
using program::Piece;
using program::PieceId;
using program::RankClassId;
using program::RankProgram;
using program::Stream;
using program::Task;
using program::TaskId;
using program::TaskKind;

namespace {

/// What one class does in every order.
class ClassCompiler {
public:
  ClassCompiler(const program::ProgramSet &set, RankClassId id)
      : source_(set.classes[id]) {
    out_.source = &source_;
    out_.self[0] = {static_cast<std::uint32_t>(id.index()), Member::kBoth};
    out_.secondLegs = secondLegs(set, source_);
  }

  CompiledClass compile() {
    out_.tasks.reserve(source_.tasks.size());
    for (TaskId id : source_.tasks.ids()) {
      const Task &task = source_.tasks[id];
      auto index = static_cast<std::uint32_t>(id.index());
      CompiledTask compiled;
      compiled.kind = task.kind;
      compiled.stream = task.stream;
      compiled.pass = task.pass;
      compiled.waiting = static_cast<std::int32_t>(task.deps.size());
      if (task.kind == TaskKind::Run)
        noteRun(task, index, compiled);
      else if (task.kind != TaskKind::Recv && task.deps.empty())
        out_.afterStep.push_back(index);
      noteAwaited(task, compiled);
      out_.order[static_cast<int>(task.stream)].push_back(index);
      out_.tasks.push_back(compiled);
    }
    compileSuccessors();
    for (const Piece &piece : source_.reduces)
      if (piece.task.isValid())
        out_.firstPiece = std::min(
            out_.firstPiece, static_cast<std::uint32_t>(piece.task.index()));
    return std::move(out_);
  }

private:
  void noteRun(const Task &task, std::uint32_t index, CompiledTask &compiled) {
    compiled.form = static_cast<std::uint32_t>(task.block.index());
    compiled.block = task.block;
    out_.lastRun = index;
    if (task.pass != PassKind::Update)
      ++out_.pipelineRuns;
    else if (out_.firstUpdate == kNone)
      out_.firstUpdate = index;
  }

  void noteAwaited(const Task &task, CompiledTask &compiled) {
    compiled.awaitedAt = static_cast<std::uint32_t>(out_.awaited.size());
    for (TaskId dep : task.deps)
      if (source_.tasks[dep].kind != TaskKind::Run)
        out_.awaited.push_back(static_cast<std::uint32_t>(dep.index()));
    compiled.awaitedEnd = static_cast<std::uint32_t>(out_.awaited.size());
  }

  void compileSuccessors() {
    std::vector<std::uint32_t> at(source_.tasks.size() + 1);
    for (const Task &task : source_.tasks)
      for (TaskId dep : task.deps)
        ++at[dep.index() + 1];
    for (std::size_t i = 1; i < at.size(); ++i)
      at[i] += at[i - 1];
    for (std::size_t i = 0; i + 1 < at.size(); ++i) {
      out_.tasks[i].successorsAt = at[i];
      out_.tasks[i].successorsEnd = at[i + 1];
    }
    out_.successors.resize(at.back());
    for (TaskId id : source_.tasks.ids())
      for (TaskId dep : source_.tasks[id].deps)
        out_.successors[at[dep.index()]++] =
            static_cast<std::uint32_t>(id.index());
  }

  const RankProgram &source_;
  CompiledClass out_;
};

/// What one class does in one order besides.
class ClassIssuer {
public:
  ClassIssuer(const CompiledProgram &program, const Costs &costs,
              CompiledClass &out)
      : set_(*program.source), costs_(costs), overlap_(program.order->overlap),
        source_(*out.source), out_(out) {}

  void issue(const ClassIssue &issue) {
    for (const FormUse &use : issue.forms)
      out_.tasks[use.task.index()].form =
          static_cast<std::uint32_t>(set_.blocks.size() + use.order);
    compileReduces(issue.reduces);
    compileGathers(issue.gathers);
    for (CompiledTask &task : out_.tasks)
      if (task.hooks != kNone)
        sortHooks(out_.hooks[task.hooks]);
    countUses();
    countWaiting();
  }

private:
  TaskHooks &hooksOf(TaskId id) {
    CompiledTask &task = out_.tasks[id.index()];
    if (task.hooks == kNone) {
      task.hooks = static_cast<std::uint32_t>(out_.hooks.size());
      out_.hooks.emplace_back();
    }
    return out_.hooks[task.hooks];
  }

  CompiledBucket compileBucket(const timeline::Bucket &bucket,
                               const Table<PieceId, Piece> &pieces) const {
    CompiledBucket out;
    const Piece &piece = pieces[bucket.pieces.front()];
    out.cost = costs_.bucket(source_, piece, bucket.bytes);
    out.cost.latency = Duration(0);
    out.kind = piece.message.kind;
    return out;
  }

  void compileReduces(const std::vector<timeline::Bucket> &buckets) {
    for (const timeline::Bucket &bucket : buckets)
      out_.reduces.push_back(compileBucket(bucket, source_.reduces));
    out_.reducesAfterPipeline = !overlapsReductions(overlap_);
    for (std::uint32_t b = 0; b < buckets.size(); ++b) {
      CompiledBucket &compiled = out_.reduces[b];
      if (buckets[b].after != timeline::Bucket::kNone) {
        compiled.waiting = 1;
        compiled.follows = true;
        out_.reduces[buckets[b].after].followers.push_back(b);
      } else if (!overlapsReductions(overlap_)) {
        compiled.waiting = out_.pipelineRuns > 0;
      } else {
        for (PieceId id : buckets[b].pieces)
          hookPiece(source_.reduces[id], b);
        if (buckets[b].hold.isValid())
          hookRunEnd(buckets[b].hold, b);
      }
      // What does not overlap does not beside its like either.
      const bool second =
          overlapsReductions(overlap_) &&
          out_.secondLegs[buckets[b].pieces.front().index()] != 0;
      compiled.stream = kReductionStreams[second];
      out_.reduceOrder[second].push_back(b);
    }
  }

  void hookPiece(const Piece &piece, std::uint32_t bucket) {
    auto count = static_cast<std::uint32_t>(
        set_.blocks[source_.tasks[piece.task].block].instructions.size());
    hooksOf(piece.task)
        .pieces.push_back({std::min(piece.instruction, count), bucket});
    ++out_.reduces[bucket].waiting;
  }

  void hookRunEnd(TaskId task, std::uint32_t bucket) {
    Piece atEnd;
    atEnd.task = task;
    atEnd.instruction = kNone;
    hookPiece(atEnd, bucket);
  }

  void compileGathers(const std::vector<timeline::Bucket> &buckets) {
    for (std::uint32_t b = 0; b < buckets.size(); ++b) {
      out_.gathers.push_back(compileBucket(buckets[b], source_.gathers));
      for (PieceId id : buckets[b].pieces) {
        const Piece &piece = source_.gathers[id];
        hooksOf(piece.task).gathers.push_back(b);
        if (overlapsGathers(overlap_))
          for (const Piece::Use &use : piece.uses)
            hooksOf(use.task).uses.push_back({use.instruction, b});
      }
    }
  }

  static void sortHooks(TaskHooks &hooks) {
    std::sort(hooks.pieces.begin(), hooks.pieces.end());
    auto unique = [](auto &list) {
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
    };
    unique(hooks.uses);
    unique(hooks.gathers);
  }

  void countUses() {
    for (const TaskHooks &hooks : out_.hooks)
      for (std::uint32_t gather : hooks.gathers)
        ++out_.gathers[gather].waiting;
  }

  void countWaiting() {
    for (std::uint32_t i = 0; i < out_.tasks.size(); ++i) {
      CompiledTask &task = out_.tasks[i];
      const program::Message &message = source_.tasks[TaskId(i)].message;
      bool collective = task.kind == TaskKind::Collective;
      bool update = task.kind == TaskKind::Run && task.pass == PassKind::Update;
      bool norm =
          collective && message.kind == program::CommunicationKind::Norm;
      if (update || norm) {
        task.waiting += static_cast<std::int32_t>(out_.reduces.size());
        out_.afterReduces.push_back(i);
      }
      bool reduction =
          collective && message.kind == program::CommunicationKind::Gradients;
      if (out_.pipelineRuns > 0 &&
          (norm || (reduction && !overlapsReductions(overlap_)))) {
        ++task.waiting;
        out_.afterPipeline.push_back(i);
      }
    }
    if (out_.lastRun != kNone)
      for (std::uint32_t task : out_.afterStep)
        ++out_.tasks[task].later;
    else
      out_.afterStep.clear();
    holdFirstRun();
  }

  /// Without overlap the next step begins when its parameters are there.
  void holdFirstRun() {
    if (overlapsGathers(overlap_) || out_.lastRun == kNone)
      return;
    auto isRun = [](const CompiledTask &task) {
      return task.kind == TaskKind::Run;
    };
    auto first = std::find_if(out_.tasks.begin(), out_.tasks.end(), isRun);
    first->later += static_cast<std::int32_t>(out_.gathers.size());
    out_.afterGathers.push_back(
        static_cast<std::uint32_t>(first - out_.tasks.begin()));
  }

  const program::ProgramSet &set_;
  const Costs &costs_;
  Overlap overlap_;
  const RankProgram &source_;
  CompiledClass &out_;
};

/// One end of a transfer, or one member of a group.
struct End {
  std::uint32_t from, to;
  std::int64_t tag;
  std::uint32_t rankClass, task;
  auto key() const { return std::tuple(from, to, tag); }
};

std::vector<End> sortedEnds(std::vector<End> ends) {
  std::stable_sort(ends.begin(), ends.end(), [](const End &a, const End &b) {
    return a.key() < b.key();
  });
  return ends;
}

void matchTransfers(CompiledProgram &out, const Costs &costs) {
  std::vector<End> ends;
  for (std::uint32_t c = 0; c < out.classes.size(); ++c)
    for (TaskId id : out.classes[c].source->tasks.ids()) {
      const Task &task = out.classes[c].source->tasks[id];
      auto index = static_cast<std::uint32_t>(id.index());
      auto peer = static_cast<std::uint32_t>(task.peer.index());
      if (task.kind == TaskKind::Send)
        ends.push_back({c, peer, task.tag, c, index});
      if (task.kind == TaskKind::Recv)
        ends.push_back({peer, c, task.tag, c, index});
    }
  ends = sortedEnds(std::move(ends));
  for (std::size_t i = 0; i + 1 < ends.size(); i += 2) {
    const CompiledTask &one =
        out.classes[ends[i].rankClass].tasks[ends[i].task];
    bool first = one.kind == TaskKind::Send;
    const End &send = first ? ends[i] : ends[i + 1];
    const End &recv = first ? ends[i + 1] : ends[i];
    auto match = static_cast<std::uint32_t>(out.transfers.size());
    out.classes[send.rankClass].tasks[send.task].match = match;
    out.classes[recv.rankClass].tasks[recv.task].match = match;
    const OpCost &cost = costs.tasks[send.rankClass][send.task];
    if (out.transferCosts.empty() || out.transferCosts.back() != cost)
      out.transferCosts.push_back(cost);
    out.transfers.push_back(
        {send.rankClass,
         send.task,
         recv.rankClass,
         recv.task,
         static_cast<std::uint32_t>(out.transferCosts.size() - 1),
         {{send.rankClass, Member::kOut}, {recv.rankClass, Member::kIn}}});
  }
}

void matchGroups(CompiledProgram &out, const Costs &costs) {
  std::vector<End> ends;
  for (std::uint32_t c = 0; c < out.classes.size(); ++c)
    for (TaskId id : out.classes[c].source->tasks.ids()) {
      const Task &task = out.classes[c].source->tasks[id];
      auto index = static_cast<std::uint32_t>(id.index());
      if (task.kind != TaskKind::Collective)
        continue;
      // A collective without a tag is its class's own.
      if (task.tag >= 0)
        ends.push_back({0, 0, task.tag, c, index});
      else
        ends.push_back({c + 1, index, task.tag, c, index});
    }
  ends = sortedEnds(std::move(ends));
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (i == 0 || ends[i].key() != ends[i - 1].key())
      out.groups.emplace_back();
    Group &group = out.groups.back();
    const End &end = ends[i];
    group.members.push_back({end.rankClass, Member::kBoth});
    group.tasks.push_back(end.task);
    const OpCost &cost = costs.tasks[end.rankClass][end.task];
    if (group.tasks.size() == 1 || cost.duration > group.cost.duration)
      group.cost = cost;
    group.cost.latency = Duration(0);
    out.classes[end.rankClass].tasks[end.task].match =
        static_cast<std::uint32_t>(out.groups.size() - 1);
  }
}

bool hasNorm(const program::ProgramSet &set) {
  for (const RankProgram &rankClass : set.classes)
    for (const Task &task : rankClass.tasks)
      if (task.kind == TaskKind::Collective &&
          task.message.kind == program::CommunicationKind::Norm)
        return true;
  return false;
}

} // namespace

CompiledProgram compileProgram(const program::ProgramSet &set,
                               const Costs &costs) {
  CompiledProgram out;
  out.source = &set;
  for (program::BlockId id : set.blocks.ids())
    out.forms.push_back(
        compileBlock(set.blocks[id], costs.instructions[id.index()]));
  for (RankClassId id : set.classes.ids())
    out.classes.push_back(ClassCompiler(set, id).compile());
  matchTransfers(out, costs);
  matchGroups(out, costs);
  out.joins =
      set.stepEnd == program::ProgramSet::StepEnd::Joined && !hasNorm(set);
  return out;
}

CompiledProgram withOrder(const CompiledProgram &program, const Costs &costs,
                          const IssueOrder &order) {
  CompiledProgram out = program;
  out.order = &order;
  for (const BlockOrder &chosen : order.orders) {
    out.forms.push_back(out.forms[chosen.block.index()]);
    reorder(out.forms.back(), chosen.instructions);
  }
  for (RankClassId id : out.source->classes.ids())
    ClassIssuer(out, costs, out.classes[id.index()]).issue(order.classes[id]);
  return out;
}

} // namespace planc::sim
