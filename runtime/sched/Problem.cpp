#include "runtime/sched/Problem.h"

#include <fmt/format.h>

#include <algorithm>

namespace planc::sched {

namespace {

/// Who waits for whom, as one list with a stretch for each task.
class Successors {
public:
  explicit Successors(const Problem &problem)
      : at_(problem.tasks.size() + 2), waiting_(problem.tasks.size()) {
    for (TaskId id : problem.tasks.ids())
      for (const Dependence &dep : problem.tasks[id].deps) {
        ++waiting_[id.index()];
        ++at_[dep.on.index() + 2];
      }
    for (std::size_t i = 2; i < at_.size(); ++i)
      at_[i] += at_[i - 1];
    list_.resize(at_.back());
    for (TaskId id : problem.tasks.ids())
      for (const Dependence &dep : problem.tasks[id].deps)
        list_[at_[dep.on.index() + 1]++] = id;
  }

  bool isFree(TaskId id) const { return waiting_[id.index()] == 0; }
  /// Calls `free` with each task that waited for nothing else.
  template <typename Free> void ended(TaskId id, Free free) {
    for (std::size_t i = at_[id.index()]; i < at_[id.index() + 1]; ++i)
      if (--waiting_[list_[i].index()] == 0)
        free(list_[i]);
  }

private:
  std::vector<std::size_t> at_;
  std::vector<std::size_t> waiting_;
  std::vector<TaskId> list_;
};

} // namespace

std::vector<TaskId> topologicalOrder(const Problem &problem) {
  Successors successors(problem);
  auto later = [](TaskId a, TaskId b) { return b < a; };
  std::vector<TaskId> ready, out;
  for (TaskId id : problem.tasks.ids())
    if (successors.isFree(id))
      ready.push_back(id);
  std::make_heap(ready.begin(), ready.end(), later);
  while (!ready.empty()) {
    std::pop_heap(ready.begin(), ready.end(), later);
    TaskId id = ready.back();
    ready.pop_back();
    out.push_back(id);
    successors.ended(id, [&](TaskId next) {
      ready.push_back(next);
      std::push_heap(ready.begin(), ready.end(), later);
    });
  }
  return out;
}

std::vector<TaskId> anyOrder(const Problem &problem) {
  Successors successors(problem);
  std::vector<TaskId> out;
  out.reserve(problem.tasks.size());
  for (TaskId id : problem.tasks.ids())
    if (successors.isFree(id))
      out.push_back(id);
  for (std::size_t i = 0; i < out.size(); ++i)
    successors.ended(out[i], [&](TaskId next) { out.push_back(next); });
  return out;
}

// S1 resources and dependences exist; S2 nothing is negative; S3 the sum of all
// durations, lags and releases is within 2^62; S4 no cycle.
std::vector<std::string> check(const Problem &problem) {
  std::vector<std::string> broken;
  auto say = [&](int rule, TaskId id, std::string_view what) {
    broken.push_back(fmt::format("S{} task {}: {}", rule, id.index(), what));
  };
  Int128 sum = 0;
  bool exist = true;
  for (TaskId id : problem.tasks.ids()) {
    const Task &task = problem.tasks[id];
    if (task.resource.index() >= problem.resources)
      say(1, id, "uses a resource that does not exist");
    if (task.duration.value < 0 || task.release.value < 0)
      say(2, id, "has a negative time");
    sum += Int128(task.duration.value) + task.release.value;
    for (const Dependence &dep : task.deps) {
      if (!problem.tasks.contains(dep.on)) {
        say(1, id, "depends on a task that does not exist");
        exist = false;
      }
      if (dep.lag.value < 0)
        say(2, id, "has a negative lag");
      sum += dep.lag.value;
    }
  }
  if (sum > Int128(1) << 62)
    broken.push_back("S3: the times do not fit");
  if (exist && topologicalOrder(problem).size() != problem.tasks.size())
    broken.push_back("S4: tasks wait for each other");
  return broken;
}

// S5 every task has a begin, at its release or later; S6 dependences kept; S7
// no two tasks of a resource at once; S8 the makespan is the last end.
std::vector<std::string> verify(const Problem &problem,
                                const Schedule &schedule) {
  std::vector<std::string> broken;
  if (schedule.begin.size() != problem.tasks.size())
    return {"S5: another number of begins than tasks"};
  auto say = [&](int rule, TaskId id, std::string_view what) {
    broken.push_back(fmt::format("S{} task {}: {}", rule, id.index(), what));
  };
  auto end = [&](TaskId id) {
    return schedule.begin[id] + problem.tasks[id].duration;
  };
  Duration last(0);
  std::vector<std::vector<TaskId>> on(problem.resources);
  for (TaskId id : problem.tasks.ids()) {
    const Task &task = problem.tasks[id];
    if (schedule.begin[id] < task.release)
      say(5, id, "begins before its release");
    for (const Dependence &dep : task.deps)
      if (schedule.begin[id] < end(dep.on) + dep.lag)
        say(6, id, "begins before what it needs has ended");
    // A task of no time holds nothing.
    if (task.duration > Duration(0))
      on[task.resource.index()].push_back(id);
    last = std::max(last, end(id));
  }
  for (std::vector<TaskId> &tasks : on) {
    std::sort(tasks.begin(), tasks.end(), [&](TaskId a, TaskId b) {
      return schedule.begin[a] < schedule.begin[b];
    });
    for (std::size_t i = 1; i < tasks.size(); ++i)
      if (schedule.begin[tasks[i]] < end(tasks[i - 1]))
        say(7, tasks[i], "shares its resource");
  }
  if (last != schedule.makespan)
    broken.push_back("S8: the makespan is not the last end");
  return broken;
}

} // namespace planc::sched
