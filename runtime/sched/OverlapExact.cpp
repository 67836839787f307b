#include "runtime/sched/OverlapChains.h"
#include "runtime/sched/OverlapNetwork.h"

#include <algorithm>

namespace planc::sched {

namespace {

/// Appends tasks and buckets in the order of their begins, each as early as it
/// can behind what its resource or the link already holds: sorted by their
/// begins, the tasks and buckets of an optimum are such a sequence.
class OverlapBranchAndBound {
public:
  OverlapBranchAndBound(const OverlapProblem &problem, OverlapSchedule start)
      : problem_(problem), chains_(chainsOf(problem)),
        tasks_(problem.problem.tasks.size()), pieces_(problem.pieces.size()),
        free_(problem.problem.resources), done_(tasks_),
        arrival_(pieces_, kNot), best_(std::move(start)) {
    current_.begin.resize(tasks_);
  }

  OverlapSchedule run() {
    branch(0, State{});
    return std::move(best_);
  }

private:
  static constexpr std::int64_t kNot = -1;
  struct State {
    std::int64_t last = 0; ///< begin of what was appended last
    std::int64_t link = 0;
    std::int64_t makespan = 0;
    std::size_t sent = 0;
  };

  void branch(std::size_t depth, const State &state) {
    if (depth == tasks_ && state.sent == pieces_) {
      if (state.makespan < best_.makespan.value) {
        best_ = current_;
        best_.makespan = Duration(state.makespan);
      }
      return;
    }
    if (hopeless(state))
      return;
    for (TaskId id : problem_.problem.tasks.ids())
      if (!done_[id.index()])
        appendTask(id, depth, state);
    if (state.sent < pieces_)
      for (std::uint32_t set = 1; set < 1u << pieces_; ++set)
        appendBucket(set, depth, state);
  }

  /// What a resource still has to do, from now.
  bool hopeless(const State &state) const {
    std::int64_t flow = 0;
    for (OverlapPieceId id : problem_.pieces.ids())
      if (arrival_[id.index()] == kNot) {
        const LinkCost &cost = costOf(id);
        flow += cost.of(problem_.pieces[id].bytes).value - cost.latency.value;
      }
    // One rounding a piece is not lost by merging.
    flow -= static_cast<std::int64_t>(pieces_ - state.sent);
    if (state.sent < pieces_ &&
        std::max(state.link, state.last) + flow >= best_.makespan.value)
      return true;
    for (std::size_t r = 0; r < free_.size(); ++r) {
      std::int64_t load = std::max(free_[r], state.last);
      for (TaskId id : problem_.problem.tasks.ids())
        if (!done_[id.index()] &&
            problem_.problem.tasks[id].resource.index() == r)
          load += problem_.problem.tasks[id].duration.value;
      if (load > std::max(free_[r], state.last) && load >= best_.makespan.value)
        return true;
    }
    return false;
  }

  void appendTask(TaskId id, std::size_t depth, const State &state) {
    const Task &task = problem_.problem.tasks[id];
    std::int64_t &free = free_[task.resource.index()];
    std::int64_t begin = std::max(task.release.value, free);
    for (const Dependence &dep : task.deps) {
      if (!done_[dep.on.index()])
        return;
      begin = std::max(begin, endOf(dep.on) + dep.lag.value);
    }
    for (OverlapPieceId piece : problem_.pieces.ids())
      for (TaskId user : problem_.pieces[piece].users)
        if (user == id) {
          if (arrival_[piece.index()] == kNot)
            return;
          begin = std::max(begin, arrival_[piece.index()]);
        }
    std::int64_t end = begin + task.duration.value;
    if (begin < state.last ||
        end + chains_.tail[id].value >= best_.makespan.value)
      return;
    std::int64_t before = free;
    free = end;
    done_[id.index()] = 1;
    current_.begin[id] = Duration(begin);
    State next = state;
    next.last = begin;
    next.makespan = std::max(next.makespan, end);
    branch(depth + 1, next);
    done_[id.index()] = 0;
    free = before;
  }

  void appendBucket(std::uint32_t set, std::size_t depth, const State &state) {
    OverlapBucket bucket;
    std::int64_t begin = state.link, tail = 0;
    for (OverlapPieceId id : problem_.pieces.ids()) {
      if (!(set >> id.index() & 1))
        continue;
      const OverlapPiece &piece = problem_.pieces[id];
      if (arrival_[id.index()] != kNot ||
          (piece.after.isValid() && !done_[piece.after.index()]) ||
          (!bucket.pieces.empty() && piece.group != bucket.group))
        return;
      bucket.group = piece.group;
      bucket.pieces.push_back(id);
      begin = std::max(begin, piece.release.value);
      if (piece.after.isValid())
        begin = std::max(begin, endOf(piece.after));
      tail = std::max(tail, chains_.arrived[id].value);
    }
    Bytes bytes(0);
    for (OverlapPieceId id : bucket.pieces)
      bytes += problem_.pieces[id].bytes;
    std::int64_t end = begin + costOf(bucket.pieces[0]).of(bytes).value;
    if (begin < state.last || end + tail >= best_.makespan.value)
      return;
    bucket.begin = Duration(begin);
    bucket.end = Duration(end);
    State next = state;
    next.last = begin;
    next.link = end;
    next.sent += bucket.pieces.size();
    for (OverlapPieceId id : bucket.pieces) {
      arrival_[id.index()] = end;
      next.makespan =
          std::max(next.makespan, end + problem_.pieces[id].tail.value);
    }
    current_.buckets.push_back(bucket);
    branch(depth, next);
    current_.buckets.pop_back();
    for (OverlapPieceId id : bucket.pieces)
      arrival_[id.index()] = kNot;
  }

  std::int64_t endOf(TaskId id) const {
    return (current_.begin[id] + problem_.problem.tasks[id].duration).value;
  }
  const LinkCost &costOf(OverlapPieceId id) const {
    return problem_.groups[static_cast<std::size_t>(problem_.pieces[id].group)];
  }

  const OverlapProblem &problem_;
  OverlapChains chains_;
  std::size_t tasks_, pieces_;
  std::vector<std::int64_t> free_;
  std::vector<char> done_;
  std::vector<std::int64_t> arrival_;
  OverlapSchedule current_, best_;
};

} // namespace

std::optional<OverlapSchedule>
scheduleOverlapExact(const OverlapProblem &problem) {
  if (problem.problem.tasks.size() + problem.pieces.size() > kExactOverlap)
    return std::nullopt;
  return OverlapBranchAndBound(problem, scheduleOverlap(problem)).run();
}

} // namespace planc::sched
