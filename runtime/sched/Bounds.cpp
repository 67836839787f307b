#include "runtime/sched/Algorithms.h"
#include "runtime/sched/Chains.h"

#include <algorithm>

namespace planc::sched {

Chains chainsOf(const Problem &problem) {
  Chains out;
  out.head.resize(problem.tasks.size());
  out.tail.resize(problem.tasks.size());
  const std::vector<TaskId> order = anyOrder(problem);
  for (TaskId id : order) {
    Duration &head = out.head[id];
    head = problem.tasks[id].release;
    for (const Dependence &dep : problem.tasks[id].deps)
      head = std::max(head, out.head[dep.on] + problem.tasks[dep.on].duration +
                                dep.lag);
  }
  for (auto at = order.rbegin(); at != order.rend(); ++at)
    for (const Dependence &dep : problem.tasks[*at].deps)
      out.tail[dep.on] =
          std::max(out.tail[dep.on],
                   dep.lag + problem.tasks[*at].duration + out.tail[*at]);
  return out;
}

Duration lowerBound(const Problem &problem) {
  return lowerBound(problem, chainsOf(problem));
}

Duration lowerBound(const Problem &problem, const Chains &chains) {
  struct Load {
    Duration work, head, tail;
    bool used = false;
  };
  std::vector<Load> loads(problem.resources);
  Duration bound(0);
  for (TaskId id : problem.tasks.ids()) {
    const Task &task = problem.tasks[id];
    bound = std::max(bound, chains.head[id] + task.duration + chains.tail[id]);
    if (task.duration == Duration(0))
      continue;
    Load &load = loads[task.resource.index()];
    load.head =
        load.used ? std::min(load.head, chains.head[id]) : chains.head[id];
    load.tail =
        load.used ? std::min(load.tail, chains.tail[id]) : chains.tail[id];
    load.work += task.duration;
    load.used = true;
  }
  for (const Load &load : loads)
    bound = std::max(bound, load.head + load.work + load.tail);
  return bound;
}

} // namespace planc::sched
