#include "runtime/sched/Algorithms.h"

#include <algorithm>

namespace planc::sched {

Schedule scheduleOneByOne(const Problem &problem) {
  Schedule out;
  out.begin.resize(problem.tasks.size());
  Duration at(0);
  for (TaskId id : topologicalOrder(problem)) {
    const Task &task = problem.tasks[id];
    at = std::max(at, task.release);
    for (const Dependence &dep : task.deps)
      at = std::max(at, out.begin[dep.on] + problem.tasks[dep.on].duration +
                            dep.lag);
    out.begin[id] = at;
    at += task.duration;
  }
  out.makespan = at;
  return out;
}

std::optional<Schedule> scheduleInProgramOrder(const Problem &problem) {
  // The order on a resource is one more dependence.
  Problem chained = problem;
  std::vector<TaskId> last(problem.resources);
  for (TaskId id : problem.tasks.ids()) {
    TaskId &before = last[problem.tasks[id].resource.index()];
    if (before.isValid())
      chained.tasks[id].deps.push_back({before, Duration(0)});
    before = id;
  }
  std::vector<TaskId> order = topologicalOrder(chained);
  if (order.size() != problem.tasks.size())
    return std::nullopt;
  Schedule out;
  out.begin.resize(problem.tasks.size());
  for (TaskId id : order) {
    Duration at = chained.tasks[id].release;
    for (const Dependence &dep : chained.tasks[id].deps)
      at = std::max(at, out.begin[dep.on] + problem.tasks[dep.on].duration +
                            dep.lag);
    out.begin[id] = at;
    out.makespan = std::max(out.makespan, at + problem.tasks[id].duration);
  }
  return out;
}

} // namespace planc::sched
