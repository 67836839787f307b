#include "runtime/sim/Reorder.h"

#include "runtime/program/Liveness.h"

#include <algorithm>

namespace planc::sim {

using program::Block;
using program::Instruction;
using program::kStreamCount;
using sched::TaskId;

namespace {

bool isMovable(const Instruction &instruction) {
  return instruction.phase == program::Phase::WeightGradient;
}

/// What deferring an instruction keeps: results that it reads, and its share of
/// what its stretch lets go.
std::vector<Bytes> keptByDeferring(const Block &block) {
  const std::vector<Instruction> &all = block.instructions;
  std::vector<Bytes> kept(all.size());
  std::size_t first = 0;
  std::int64_t movable = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    movable += isMovable(all[i]);
    for (std::uint32_t dep : all[i].deps)
      kept[i] += all[dep].makes;
    if (all[i].frees == Bytes(0))
      continue;
    for (; first <= i; ++first)
      if (isMovable(all[first]))
        kept[first] += Bytes(all[i].frees.value / movable);
    movable = 0;
  }
  return kept;
}

/// For each weight gradient the last instruction it may run beside, so that all
/// deferred together keep no more than `part` sixteenths of what the block has
/// to spare at each of its instructions. The last ones choose first: what ends
/// a block has the least left to run under.
std::vector<std::uint32_t> deadlines(const Block &block, Bytes more,
                                     std::int64_t part) {
  const std::vector<Instruction> &all = block.instructions;
  std::vector<Bytes> spare =
      program::heldAlong(block, program::orderAsItStands(block));
  const Bytes peak =
      more + (spare.empty() ? Bytes(0)
                            : *std::max_element(spare.begin(), spare.end()));
  for (Bytes &bytes : spare)
    bytes = Bytes((peak - bytes).value / 16 * part);
  const std::vector<Bytes> kept = keptByDeferring(block);
  std::vector<std::uint32_t> out(all.size());
  for (std::size_t i = all.size(); i-- > 0;) {
    std::size_t last = i;
    while (isMovable(all[i]) && last + 1 < all.size() &&
           spare[last + 1] >= kept[i])
      spare[++last] -= kept[i];
    out[i] = static_cast<std::uint32_t>(last);
  }
  return out;
}

class ReorderProblem {
public:
  ReorderProblem(const Block &block, std::span<const OpCost> costs,
                 const Surroundings &around)
      : block_(block) {
    out_.problem.resources = kStreamCount + 2;
    for (std::size_t i = 0; i < block.instructions.size(); ++i)
      addInstruction(block.instructions[i], costs[i].duration);
    const TaskId end = addLast(kStreamCount, Duration(0));
    for (const Surroundings::Reduction &one : around.reductions) {
      sched::OverlapPiece piece;
      piece.after =
          one.instruction < costs.size() ? TaskId(one.instruction) : end;
      piece.release = around.linkFree;
      piece.bytes = one.bytes;
      piece.group = one.group;
      out_.pieces.add(piece);
    }
    out_.groups = around.groups;
    addLast(kStreamCount + 1, around.rest);
  }

  /// With weight gradients wherever they can go.
  const sched::OverlapProblem &free() const { return out_; }
  /// With weight gradients held to their deadlines.
  sched::OverlapProblem within(const std::vector<std::uint32_t> &last) const {
    sched::OverlapProblem out = out_;
    const std::vector<Instruction> &all = block_.instructions;
    // A kernel waits for those whose time has come.
    for (std::uint32_t i = 0; i < all.size(); ++i) {
      if (!isMovable(all[i]))
        continue;
      std::uint32_t next = last[i] + 1;
      while (next < all.size() &&
             (isMovable(all[next]) || all[next].stream != all[i].stream))
        ++next;
      if (next < all.size())
        out.problem.tasks[TaskId(next)].deps.push_back(
            {TaskId(i), Duration(0)});
    }
    return out;
  }

  std::vector<std::uint32_t> orderOf(const sched::OverlapSchedule &s) const {
    std::vector<std::uint32_t> order = program::orderAsItStands(block_);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) {
                       return s.begin[TaskId(a)] < s.begin[TaskId(b)];
                     });
    return order;
  }

private:
  void addInstruction(const Instruction &instruction, Duration duration) {
    const auto stream = static_cast<std::size_t>(instruction.stream);
    sched::Task task;
    task.resource = sched::ResourceId(stream);
    task.duration = duration;
    for (std::uint32_t dep : instruction.deps)
      task.deps.push_back({TaskId(dep), Duration(0)});
    if (!isMovable(instruction) && last_[stream].isValid())
      task.deps.push_back({last_[stream], Duration(0)});
    const TaskId id = out_.problem.tasks.add(std::move(task));
    if (!isMovable(instruction))
      last_[stream] = id;
  }

  /// After everything before it.
  TaskId addLast(std::size_t resource, Duration duration) {
    sched::Task task;
    task.resource = sched::ResourceId(resource);
    task.duration = duration;
    for (TaskId id : out_.problem.tasks.ids())
      task.deps.push_back({id, Duration(0)});
    return out_.problem.tasks.add(std::move(task));
  }

  const Block &block_;
  sched::OverlapProblem out_;
  TaskId last_[kStreamCount];
};

/// Orders for more and more of the memory there is to spare.
class BestOrder {
public:
  BestOrder(const Block &block, std::span<const OpCost> costs,
            const Surroundings &around)
      : block_(block), spare_(around.spare), problem_(block, costs, around) {}

  /// The one that holds least of those close to the soonest.
  std::vector<std::uint32_t> find(std::vector<std::uint32_t> stands) {
    if (!sched::check(problem_.free()).empty())
      return stands; // times that do not fit
    stands_ = program::peakOf(block_, stands);
    const Duration bound = sched::overlapLowerBound(problem_.free());
    for (std::int64_t part : {0, 2, 16}) {
      tryWith(Bytes(spare_.value / 16 * part));
      if (!found_.empty() && isClose(found_.back().makespan, bound))
        break;
    }
    const auto sooner = [](const Found &a, const Found &b) {
      return a.makespan < b.makespan;
    };
    const auto best = std::min_element(found_.begin(), found_.end(), sooner);
    for (Found &one : found_)
      if (isClose(one.makespan, best->makespan))
        return std::move(one.order);
    return stands;
  }

private:
  /// Within half a thousandth.
  static bool isClose(Duration makespan, Duration best) {
    return (makespan - best).value <= best.value / 2000;
  }
  struct Found {
    Duration makespan;
    std::vector<std::uint32_t> order;
  };

  /// What deadlines promise is a bound on one estimate of memory; the order
  /// itself decides.
  void tryWith(Bytes spare) {
    for (std::int64_t part : {16, 8, 4, 2}) {
      const sched::OverlapProblem within =
          problem_.within(deadlines(block_, spare, part));
      if (!sched::check(within).empty())
        return; // a deadline makes a cycle
      const sched::OverlapSchedule schedule = sched::scheduleOverlap(within);
      std::vector<std::uint32_t> order = problem_.orderOf(schedule);
      if (program::peakOf(block_, order) > stands_ + spare)
        continue;
      found_.push_back({schedule.makespan, std::move(order)});
      return;
    }
  }

  const Block &block_;
  Bytes spare_, stands_;
  ReorderProblem problem_;
  std::vector<Found> found_;
};

} // namespace

std::vector<std::uint32_t> reorder(const Block &block,
                                   std::span<const OpCost> costs,
                                   const Surroundings &around) {
  const std::vector<std::uint32_t> stands = program::orderAsItStands(block);
  const bool moves = std::any_of(block.instructions.begin(),
                                 block.instructions.end(), isMovable);
  if (!moves)
    return stands;
  return BestOrder(block, costs, around).find(stands);
}

} // namespace planc::sim
