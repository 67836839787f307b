#include "runtime/sched/Algorithms.h"
#include "runtime/sched/Chains.h"

#include <algorithm>
#include <bitset>
#include <limits>

namespace planc::sched {

namespace {

/// How far back ancestors are looked for, in ids.
constexpr std::size_t kWindow = 64;
using Window = std::bitset<kWindow>; // bit k: the task k + 1 ids before

struct Timed {
  Duration time, length;
  std::size_t resource;
};

/// The latest that `tasks`, each behind its time, can leave a machine: of those
/// not before any moment, the sum.
Duration lastOf(std::vector<Timed> &tasks, std::vector<Duration> &load) {
  std::sort(tasks.begin(), tasks.end(),
            [](const Timed &a, const Timed &b) { return b.time < a.time; });
  Duration last(0);
  for (const Timed &task : tasks) {
    load[task.resource] += task.length;
    last = std::max(last, task.time + load[task.resource]);
  }
  for (const Timed &task : tasks)
    load[task.resource] = Duration(0);
  return last;
}

/// Heads of tasks in the order of `deps`, each list of smaller numbers.
std::vector<Duration> loadedHeads(
    const std::vector<Timed> &tasks,
    const std::vector<std::vector<std::pair<std::size_t, Duration>>> &deps,
    std::size_t resources) {
  std::vector<Duration> heads(tasks.size()), load(resources);
  std::vector<Window> ancestors(tasks.size());
  std::vector<Timed> near;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    heads[i] = tasks[i].time;
    for (const auto &[dep, lag] : deps[i]) {
      heads[i] = std::max(heads[i], heads[dep] + tasks[dep].length + lag);
      if (const std::size_t back = i - dep; back <= kWindow) {
        ancestors[i] |= ancestors[dep] << back;
        ancestors[i].set(back - 1);
      }
    }
    near.clear();
    for (std::size_t k = 0; k < std::min(kWindow, i); ++k)
      if (ancestors[i][k])
        near.push_back({heads[i - 1 - k], tasks[i - 1 - k].length,
                        tasks[i - 1 - k].resource});
    heads[i] = std::max(heads[i], lastOf(near, load));
  }
  return heads;
}

} // namespace

std::int64_t preemptiveEnd(std::vector<HeadTail> jobs) {
  std::stable_sort(
      jobs.begin(), jobs.end(),
      [](const HeadTail &a, const HeadTail &b) { return a.head < b.head; });
  struct Left {
    std::int64_t tail, length;
    bool operator<(const Left &o) const { return tail < o.tail; }
  };
  std::vector<Left> ready;
  std::int64_t now = 0, end = 0;
  for (std::size_t next = 0; next < jobs.size() || !ready.empty();) {
    if (ready.empty())
      now = std::max(now, jobs[next].head);
    for (; next < jobs.size() && jobs[next].head <= now; ++next) {
      ready.push_back({jobs[next].tail, jobs[next].length});
      std::push_heap(ready.begin(), ready.end());
    }
    std::pop_heap(ready.begin(), ready.end());
    Left &first = ready.back();
    std::int64_t until = next < jobs.size()
                             ? jobs[next].head
                             : std::numeric_limits<std::int64_t>::max();
    std::int64_t run = std::min(first.length, until - now);
    now += run;
    first.length -= run;
    if (first.length > 0) {
      std::push_heap(ready.begin(), ready.end());
      continue;
    }
    end = std::max(end, now + first.tail);
    ready.pop_back();
  }
  return end;
}

Chains chainsOf(const Problem &problem) {
  return chainsOf(problem, anyOrder(problem));
}

Chains chainsOf(const Problem &problem, const std::vector<TaskId> &order) {
  Chains out;
  out.head.resize(problem.tasks.size());
  out.tail.resize(problem.tasks.size());
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

Chains loadedChainsOf(const Problem &problem) {
  const std::size_t count = problem.tasks.size();
  using Deps = std::vector<std::vector<std::pair<std::size_t, Duration>>>;
  std::vector<Timed> forward, reversed;
  Deps deps(count), followers(count);
  for (TaskId id : problem.tasks.ids()) {
    const Task &task = problem.tasks[id];
    forward.push_back({task.release, task.duration, task.resource.index()});
    for (const Dependence &dep : task.deps) {
      deps[id.index()].push_back({dep.on.index(), dep.lag});
      followers[count - 1 - dep.on.index()].push_back(
          {count - 1 - id.index(), dep.lag});
    }
  }
  reversed.assign(forward.rbegin(), forward.rend());
  for (Timed &task : reversed)
    task.time = Duration(0);
  const std::vector<Duration> heads =
                                  loadedHeads(forward, deps, problem.resources),
                              tails = loadedHeads(reversed, followers,
                                                  problem.resources);
  Chains out;
  out.head.resize(count);
  out.tail.resize(count);
  for (TaskId id : problem.tasks.ids()) {
    out.head[id] = heads[id.index()];
    out.tail[id] = tails[count - 1 - id.index()];
  }
  return out;
}

Duration sweptBound(const Problem &problem, const Chains &chains) {
  std::vector<std::vector<HeadTail>> jobs(problem.resources);
  std::int64_t bound = 0;
  for (TaskId id : problem.tasks.ids()) {
    const Task &task = problem.tasks[id];
    const HeadTail job = {chains.head[id].value, task.duration.value,
                          chains.tail[id].value};
    bound = std::max(bound, job.head + job.length + job.tail);
    if (job.length > 0)
      jobs[task.resource.index()].push_back(job);
  }
  for (std::vector<HeadTail> &each : jobs)
    bound = std::max(bound, preemptiveEnd(std::move(each)));
  return Duration(bound);
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
