#include "runtime/sched/Algorithms.h"
#include "runtime/sched/Chains.h"

#include <algorithm>

namespace planc::sched {

namespace {

/// Appends tasks in every order that dependences allow, each as early as it
/// can behind its resource: these schedules hold an optimum, since the order
/// of begins of an optimum is one of them.
class BranchAndBound {
public:
  explicit BranchAndBound(const Problem &problem)
      : problem_(problem), tail_(chainsOf(problem).tail),
        free_(problem.resources), best_(scheduleCriticalPath(problem)) {
    current_.begin.resize(problem.tasks.size());
    done_.assign(problem.tasks.size(), 0);
  }

  Schedule run() {
    branch(0, Duration(0));
    return std::move(best_);
  }

private:
  void branch(std::size_t depth, Duration makespan) {
    if (depth == done_.size()) {
      if (makespan < best_.makespan) {
        best_.begin = current_.begin;
        best_.makespan = makespan;
      }
      return;
    }
    for (TaskId id : problem_.tasks.ids()) {
      Duration begin(0);
      if (done_[id.index()] || !earliest(id, begin))
        continue;
      const Task &task = problem_.tasks[id];
      Duration end = begin + task.duration;
      if (end + tail_[id] >= best_.makespan)
        continue;
      Duration &free = free_[task.resource.index()];
      Duration before = free;
      free = end;
      done_[id.index()] = 1;
      current_.begin[id] = begin;
      branch(depth + 1, std::max(makespan, end));
      done_[id.index()] = 0;
      free = before;
    }
  }

  bool earliest(TaskId id, Duration &begin) const {
    const Task &task = problem_.tasks[id];
    begin = std::max(task.release, free_[task.resource.index()]);
    for (const Dependence &dep : task.deps) {
      if (!done_[dep.on.index()])
        return false;
      begin = std::max(begin, current_.begin[dep.on] +
                                  problem_.tasks[dep.on].duration + dep.lag);
    }
    return true;
  }

  const Problem &problem_;
  Table<TaskId, Duration> tail_;
  std::vector<Duration> free_;
  std::vector<char> done_;
  Schedule current_, best_;
};

} // namespace

std::optional<Schedule> scheduleExact(const Problem &problem) {
  if (problem.tasks.size() > kExactTasks)
    return std::nullopt;
  return BranchAndBound(problem).run();
}

} // namespace planc::sched
