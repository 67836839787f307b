#include "runtime/sched/Algorithms.h"
#include "runtime/sched/Chains.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace planc::sched {

namespace {

/// Serves resources in time order: of the ready tasks of a free resource the
/// one with the longest chain behind it.
class ListScheduler {
public:
  explicit ListScheduler(const Problem &problem)
      : problem_(problem), tail_(chainsOf(problem).tail),
        waiting_(problem.tasks.size()), arrival_(problem.tasks.size()),
        successors_(problem.tasks.size()), ready_(problem.resources),
        free_(problem.resources) {
    for (TaskId id : problem.tasks.ids()) {
      arrival_[id.index()] = problem.tasks[id].release;
      waiting_[id.index()] = problem.tasks[id].deps.size();
      for (const Dependence &dep : problem.tasks[id].deps)
        successors_[dep.on.index()].push_back({id, dep.lag});
    }
  }

  Schedule run() {
    out_.begin.resize(problem_.tasks.size());
    for (TaskId id : problem_.tasks.ids())
      if (waiting_[id.index()] == 0)
        events_.insert({arrival_[id.index()], id});
    while (!events_.empty()) {
      Duration now = events_.begin()->first;
      while (!events_.empty() && events_.begin()->first == now) {
        TaskId id = events_.begin()->second;
        events_.erase(events_.begin());
        // An invalid id only wakes a resource that became free.
        if (id.isValid())
          ready_[problem_.tasks[id].resource.index()].insert(
              {Duration(-1) * (problem_.tasks[id].duration + tail_[id]).value,
               id});
      }
      for (std::size_t r = 0; r < ready_.size(); ++r)
        serve(r, now);
    }
    return std::move(out_);
  }

private:
  void serve(std::size_t resource, Duration now) {
    while (!ready_[resource].empty() && free_[resource] <= now) {
      TaskId id = ready_[resource].begin()->second;
      ready_[resource].erase(ready_[resource].begin());
      Duration end = now + problem_.tasks[id].duration;
      out_.begin[id] = now;
      out_.makespan = std::max(out_.makespan, end);
      free_[resource] = end;
      events_.insert({end, TaskId()});
      for (const auto &[next, lag] : successors_[id.index()]) {
        Duration &arrival = arrival_[next.index()];
        arrival = std::max(arrival, end + lag);
        if (--waiting_[next.index()] == 0)
          events_.insert({arrival, next});
      }
    }
  }

  const Problem &problem_;
  Table<TaskId, Duration> tail_;
  std::vector<std::size_t> waiting_;
  std::vector<Duration> arrival_;
  std::vector<std::vector<std::pair<TaskId, Duration>>> successors_;
  std::vector<std::set<std::pair<Duration, TaskId>>> ready_;
  std::vector<Duration> free_;
  std::set<std::pair<Duration, TaskId>> events_;
  Schedule out_;
};

} // namespace

Schedule scheduleCriticalPath(const Problem &problem) {
  return ListScheduler(problem).run();
}

} // namespace planc::sched
