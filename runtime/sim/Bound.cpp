#include "runtime/sim/Bound.h"

#include "runtime/sched/Algorithms.h"
#include "runtime/sched/Chains.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace planc::sim {

using program::PassKind;
using program::Piece;
using program::RankClassId;
using program::RankProgram;
using program::Task;
using program::TaskId;
using program::TaskKind;

namespace {

struct BlockBound {
  Duration work;               ///< of kernels on the compute stream
  Duration least;              ///< of a run: work, or the longest chain
  std::vector<Duration> ready; ///< of an instruction, after the run's begin
};

BlockBound boundOf(const program::Block &block,
                   const std::vector<OpCost> &costs) {
  BlockBound out;
  for (std::size_t i = 0; i < block.instructions.size(); ++i) {
    const program::Instruction &instruction = block.instructions[i];
    Duration begin(0);
    for (std::uint32_t dep : instruction.deps)
      begin = std::max(begin, out.ready[dep]);
    out.ready.push_back(begin + costs[i].duration);
    out.least = std::max(out.least, out.ready.back());
    if (instruction.stream == program::Stream::Compute)
      out.work += costs[i].duration;
  }
  out.least = std::max(out.least, out.work);
  return out;
}

/// Whether the updates of all classes begin together.
bool allMeet(const program::ProgramSet &set) {
  std::size_t members = 0, norms = 0;
  std::int64_t tag = -1;
  bool oneTag = true;
  for (const RankProgram &rankClass : set.classes)
    for (const Task &task : rankClass.tasks)
      if (task.kind == TaskKind::Collective &&
          task.message.kind == program::CommunicationKind::Norm) {
        oneTag &= norms++ == 0 || task.tag == tag;
        tag = task.tag;
        ++members;
      }
  if (norms > 0)
    return oneTag && members == set.classes.size() &&
           (tag >= 0 || set.classes.size() == 1);
  return set.stepEnd == program::ProgramSet::StepEnd::Joined;
}

/// One step from meeting to meeting: every rank's update, then its runs.
class StepBound {
public:
  StepBound(const program::ProgramSet &set, const Costs &costs)
      : set_(set), costs_(costs) {
    for (program::BlockId id : set.blocks.ids())
      blocks_.push_back(
          boundOf(set.blocks[id], costs.instructions[id.index()]));
  }

  Duration find() {
    Duration bound(0);
    for (const RankProgram &rankClass : set_.classes)
      bound = std::max(bound, loadOf(rankClass));
    if (!allMeet(set_))
      return bound;
    for (RankClassId c : set_.classes.ids())
      addClass(c);
    for (RankClassId c : set_.classes.ids())
      linkTransfers(c);
    bound = std::max(bound, sched::lowerBound(problem_));
    sched::Chains chains = sched::chainsOf(problem_);
    for (RankClassId c : set_.classes.ids())
      bound = std::max(bound, reductionsEnd(c, chains));
    return bound;
  }

private:
  const BlockBound &blockOf(const Task &task) const {
    return blocks_[task.block.index()];
  }

  Duration loadOf(const RankProgram &rankClass) const {
    Duration load(0);
    for (const Task &task : rankClass.tasks)
      if (task.kind == TaskKind::Run)
        load += blockOf(task).work;
    return load;
  }

  sched::TaskId add(Duration duration, std::size_t resource) {
    sched::Task task;
    task.duration = duration;
    task.resource = sched::ResourceId(resource);
    return problem_.tasks.add(task);
  }

  void addClass(RankClassId c) {
    const RankProgram &rankClass = set_.classes[c];
    Duration update(0);
    for (const Task &task : rankClass.tasks)
      if (task.kind == TaskKind::Run && task.pass == PassKind::Update)
        update += blockOf(task).work;
    sched::TaskId first = add(update, problem_.resources++);
    std::size_t compute = problem_.resources++;
    std::vector<sched::TaskId> &nodes = nodes_.emplace_back();
    for (TaskId id : rankClass.tasks.ids()) {
      const Task &task = rankClass.tasks[id];
      bool run = task.kind == TaskKind::Run;
      // The update of this step begins at the next meeting.
      if (run && task.pass == PassKind::Update) {
        nodes.emplace_back();
        continue;
      }
      Duration own = task.kind == TaskKind::Collective
                         ? costs_.tasks[c.index()][id.index()].duration
                         : Duration(0);
      sched::TaskId node = run ? add(blockOf(task).least, compute)
                               : add(own, problem_.resources++);
      nodes.push_back(node);
      auto &deps = problem_.tasks[node].deps;
      if (run)
        deps.push_back({first, Duration(0)});
      for (TaskId dep : task.deps)
        if (nodes[dep.index()].isValid())
          deps.push_back({nodes[dep.index()], Duration(0)});
    }
  }

  void linkTransfers(RankClassId c) {
    std::map<std::pair<RankClassId, std::int64_t>, TaskId> sends;
    const RankProgram &rankClass = set_.classes[c];
    for (TaskId id : rankClass.tasks.ids())
      if (rankClass.tasks[id].kind == TaskKind::Send)
        sends[{rankClass.tasks[id].peer, rankClass.tasks[id].tag}] = id;
    for (RankClassId peer : set_.classes.ids())
      for (TaskId id : set_.classes[peer].tasks.ids()) {
        const Task &recv = set_.classes[peer].tasks[id];
        if (recv.kind != TaskKind::Recv || recv.peer != c)
          continue;
        TaskId send = sends.at({peer, recv.tag});
        problem_.tasks[nodes_[peer.index()][id.index()]].deps.push_back(
            {nodes_[c.index()][send.index()],
             costs_.tasks[c.index()][send.index()].duration});
      }
  }

  /// Every piece takes at least its own time once it is ready; all pieces of
  /// the class take the time of their groups once the first is.
  Duration reductionsEnd(RankClassId c, const sched::Chains &chains) const {
    const RankProgram &rankClass = set_.classes[c];
    using Group =
        std::tuple<program::InstructionKind, std::vector<std::int64_t>,
                   std::vector<std::int64_t>>;
    std::map<Group, std::pair<const Piece *, std::int64_t>> groups;
    Duration end(0), earliest(std::numeric_limits<std::int64_t>::max() / 4);
    for (const Piece &piece : rankClass.reduces) {
      sched::TaskId run = nodes_[c.index()][piece.task.index()];
      const BlockBound &block = blockOf(rankClass.tasks[piece.task]);
      Duration ready = run.isValid() ? chains.head[run] : Duration(0);
      ready += piece.instruction < block.ready.size()
                   ? block.ready[piece.instruction]
                   : block.least;
      earliest = std::min(earliest, ready);
      end = std::max(
          end,
          ready +
              costs_.bucket(rankClass, piece, piece.message.bytes).duration);
      auto &[like, bytes] = groups[{piece.collective, piece.message.sizes,
                                    piece.message.strides}];
      like = &piece;
      if (__builtin_add_overflow(bytes, piece.message.bytes.value, &bytes))
        bytes = std::numeric_limits<std::int64_t>::max();
    }
    Duration load(0);
    for (const auto &[group, sum] : groups)
      load += costs_.bucket(rankClass, *sum.first, Bytes(sum.second)).duration;
    return groups.empty() ? end : std::max(end, earliest + load);
  }

  const program::ProgramSet &set_;
  const Costs &costs_;
  std::vector<BlockBound> blocks_;
  sched::Problem problem_;
  std::vector<std::vector<sched::TaskId>> nodes_; ///< by class and task
};

} // namespace

Duration stepLowerBound(const program::ProgramSet &set, const Costs &costs) {
  return StepBound(set, costs).find();
}

} // namespace planc::sim
