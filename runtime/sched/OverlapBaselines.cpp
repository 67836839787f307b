#include "runtime/sched/OverlapChains.h"
#include "runtime/sched/OverlapDispatch.h"

#include <algorithm>
#include <tuple>

namespace planc::sched {

namespace {

/// Ids in an order that tasks of no time at the same moment can keep.
std::vector<TaskId> inDependence(const OverlapProblem &problem) {
  const Table<TaskId, Task> &tasks = problem.problem.tasks;
  std::vector<TaskId> ids;
  if (std::any_of(tasks.begin(), tasks.end(), [](const Task &task) {
        return task.duration == Duration(0);
      })) {
    for (TaskId id : topologicalOrder(withPieces(problem)))
      if (tasks.contains(id))
        ids.push_back(id);
    return ids;
  }
  for (TaskId id : tasks.ids())
    ids.push_back(id);
  return ids;
}

} // namespace

OverlapOrder orderOf(const OverlapProblem &problem,
                     const OverlapSchedule &schedule) {
  OverlapOrder out;
  out.tasks.resize(problem.problem.resources);
  const Table<TaskId, Task> &tasks = problem.problem.tasks;
  std::vector<TaskId> ids = inDependence(problem);
  // Among equal begins tasks of no time go first.
  std::stable_sort(ids.begin(), ids.end(), [&](TaskId a, TaskId b) {
    bool longA = tasks[a].duration > Duration(0);
    bool longB = tasks[b].duration > Duration(0);
    return std::tie(schedule.begin[a], longA) <
           std::tie(schedule.begin[b], longB);
  });
  for (TaskId id : ids)
    out.tasks[tasks[id].resource.index()].push_back(id);
  for (const OverlapBucket &bucket : schedule.buckets)
    out.buckets.push_back(bucket.pieces);
  return out;
}

namespace {

bool namesEachOnce(const OverlapProblem &problem, const OverlapOrder &order) {
  std::vector<char> tasks(problem.problem.tasks.size());
  std::vector<char> pieces(problem.pieces.size());
  std::size_t named = 0;
  if (order.tasks.size() != problem.problem.resources)
    return false;
  for (std::size_t r = 0; r < order.tasks.size(); ++r)
    for (TaskId id : order.tasks[r]) {
      if (!problem.problem.tasks.contains(id) || tasks[id.index()]++ ||
          problem.problem.tasks[id].resource.index() != r)
        return false;
      ++named;
    }
  for (const std::vector<OverlapPieceId> &bucket : order.buckets) {
    if (bucket.empty())
      return false;
    for (OverlapPieceId id : bucket) {
      if (!problem.pieces.contains(id) || pieces[id.index()]++ ||
          problem.pieces[id].group != problem.pieces[bucket[0]].group)
        return false;
      ++named;
    }
  }
  return named == tasks.size() + pieces.size();
}

} // namespace

std::optional<OverlapSchedule> overlapInOrder(const OverlapProblem &problem,
                                              const OverlapOrder &order) {
  OverlapNetwork network(problem);
  if (!namesEachOnce(problem, order) || !network.run(order))
    return std::nullopt;
  return network.schedule(order);
}

namespace {

/// For program order: by group, with users and without.
struct Sides {
  std::vector<std::vector<OverlapPieceId>> used, last;
};

Sides sidesOf(const OverlapProblem &problem) {
  std::size_t groups = problem.groups.size();
  std::vector<std::vector<OverlapPieceId>> used(groups), last(groups);
  std::vector<char> waits(groups);
  for (OverlapPieceId id : problem.pieces.ids()) {
    const OverlapPiece &piece = problem.pieces[id];
    std::size_t group = static_cast<std::size_t>(piece.group);
    (piece.users.empty() ? last : used)[group].push_back(id);
    waits[group] |= !piece.users.empty() && piece.after.isValid();
  }
  Sides out;
  for (std::size_t group = 0; group < groups; ++group) {
    if (!last[group].empty())
      out.last.push_back(last[group]);
    if (!waits[group] && !used[group].empty())
      out.used.push_back(used[group]);
    else
      for (OverlapPieceId id : used[group])
        out.used.push_back({id});
  }
  return out;
}

/// Where waiting for an arbitrary bucket is a deadlock, first come first
/// served is not.
std::optional<OverlapOrder>
byId(const OverlapNetwork &network, LinkRule link,
     std::vector<std::vector<OverlapPieceId>> parts) {
  DispatchRules rules;
  rules.link = link;
  return dispatch(network, rules, std::move(parts));
}

} // namespace

std::optional<OverlapSchedule>
overlapInProgramOrder(const OverlapProblem &problem) {
  OverlapNetwork network(problem);
  Sides sides = sidesOf(problem);
  std::size_t early = sides.used.size();
  std::vector<std::vector<OverlapPieceId>> parts = sides.used;
  parts.insert(parts.end(), sides.last.begin(), sides.last.end());
  std::optional<OverlapOrder> order =
      byId(network, LinkRule::FirstCome, std::move(parts));
  if (!order)
    return std::nullopt;
  // What nothing waits for goes behind everything.
  std::stable_partition(order->buckets.begin(), order->buckets.end(),
                        [&](const auto &bucket) {
                          return !problem.pieces[bucket.front()].users.empty();
                        });
  if (!network.run(*order))
    return std::nullopt;
  OverlapSchedule out = network.schedule(*order);
  Duration end(0);
  for (TaskId id : problem.problem.tasks.ids())
    end = std::max(end, out.begin[id] + problem.problem.tasks[id].duration);
  out.makespan = end;
  for (std::size_t b = 0; b < out.buckets.size(); ++b) {
    OverlapBucket &bucket = out.buckets[b];
    Duration length = bucket.end - bucket.begin;
    if (b >= early) {
      for (OverlapPieceId id : bucket.pieces)
        end = std::max(end, problem.pieces[id].release);
      bucket.begin = end;
      bucket.end = end = end + length;
    }
    for (OverlapPieceId id : bucket.pieces)
      out.makespan =
          std::max(out.makespan, bucket.end + problem.pieces[id].tail);
  }
  return out;
}

std::optional<OverlapSchedule> overlapFramework(const OverlapProblem &problem,
                                                const BucketCaps &caps) {
  OverlapNetwork network(problem);
  std::vector<std::vector<OverlapPieceId>> parts;
  for (std::size_t group = 0; group < problem.groups.size(); ++group) {
    std::vector<OverlapPieceId> ids;
    std::vector<Item> items;
    for (OverlapPieceId id : problem.pieces.ids())
      if (static_cast<std::size_t>(problem.pieces[id].group) == group) {
        ids.push_back(id);
        items.push_back({Duration(0), problem.pieces[id].bytes});
      }
    std::ptrdiff_t from = 0;
    for (std::size_t end : bucketsFixed(items, caps.cap, caps.first)) {
      auto to = static_cast<std::ptrdiff_t>(end);
      parts.emplace_back(ids.begin() + from, ids.begin() + to);
      from = to;
    }
  }
  std::optional<OverlapOrder> order =
      byId(network, LinkRule::FirstComeInGroups, std::move(parts));
  if (!order || !network.run(*order))
    return std::nullopt;
  return network.schedule(*order);
}

} // namespace planc::sched
