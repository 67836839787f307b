#include "runtime/sched/OverlapChains.h"

#include <fmt/format.h>

#include <algorithm>

namespace planc::sched {

namespace {

constexpr Int128 kMostTime = Int128(1) << 60;

void say(std::vector<std::string> &broken, int rule, OverlapPieceId id,
         std::string_view what) {
  broken.push_back(fmt::format("O{} piece {}: {}", rule, id.index(), what));
}

Int128 timesOf(const OverlapProblem &problem) {
  Int128 sum = 0;
  for (const Task &task : problem.problem.tasks) {
    sum += Int128(task.duration.value) + task.release.value;
    for (const Dependence &dep : task.deps)
      sum += dep.lag.value;
  }
  for (const OverlapPiece &piece : problem.pieces)
    sum += Int128(piece.release.value) + piece.tail.value +
           problem.groups[static_cast<std::size_t>(piece.group)]
               .of(piece.bytes)
               .value;
  return sum;
}

} // namespace

std::vector<std::string> check(const OverlapProblem &problem) {
  std::vector<std::string> broken = check(problem.problem);
  if (!broken.empty())
    return broken;
  for (const LinkCost &cost : problem.groups)
    if (cost.latency.value < 0 || cost.psPerGibibyte < 0)
      broken.push_back("O2: a group has a negative cost");
  Int128 bytes = 0;
  for (OverlapPieceId id : problem.pieces.ids()) {
    const OverlapPiece &piece = problem.pieces[id];
    if (piece.group < 0 ||
        static_cast<std::size_t>(piece.group) >= problem.groups.size())
      say(broken, 1, id, "is of a group that does not exist");
    if (piece.after.isValid() && !problem.problem.tasks.contains(piece.after))
      say(broken, 1, id, "waits for a task that does not exist");
    for (TaskId user : piece.users)
      if (!problem.problem.tasks.contains(user))
        say(broken, 1, id, "has a user that does not exist");
    if (piece.release.value < 0 || piece.bytes.value < 0 ||
        piece.tail.value < 0)
      say(broken, 2, id, "has a negative time or size");
    bytes += piece.bytes.value;
  }
  if (!broken.empty())
    return broken;
  if (timesOf(problem) > kMostTime || bytes > kMostTime)
    broken.push_back("O3: the times do not fit");
  Problem chained = withPieces(problem);
  if (topologicalOrder(chained).size() != chained.tasks.size())
    broken.push_back("O4: tasks and pieces wait for each other");
  return broken;
}

namespace {

/// O5: what is wrong with the partition.
std::vector<std::string> partition(const OverlapProblem &problem,
                                   const OverlapSchedule &schedule) {
  std::vector<std::string> broken;
  Table<OverlapPieceId, int> times(problem.pieces.size());
  for (const OverlapBucket &bucket : schedule.buckets) {
    if (bucket.pieces.empty())
      broken.push_back("O5: a bucket without pieces");
    for (OverlapPieceId id : bucket.pieces) {
      if (!problem.pieces.contains(id)) {
        broken.push_back("O5: a piece that does not exist");
        continue;
      }
      ++times[id];
      if (problem.pieces[id].group != bucket.group)
        say(broken, 5, id, "is in a bucket of another group");
    }
  }
  for (OverlapPieceId id : problem.pieces.ids())
    if (times[id] != 1)
      say(broken, 5, id, fmt::format("is in {} buckets", times[id]));
  return broken;
}

} // namespace

std::vector<std::string> verify(const OverlapProblem &problem,
                                const OverlapSchedule &schedule) {
  const Table<TaskId, Task> &tasks = problem.problem.tasks;
  if (schedule.begin.size() != tasks.size())
    return {"S5: another number of begins than tasks"};
  Schedule alone{schedule.begin, Duration(0)};
  Duration last(0);
  auto end = [&](TaskId id) { return schedule.begin[id] + tasks[id].duration; };
  for (TaskId id : tasks.ids())
    alone.makespan = std::max(alone.makespan, end(id));
  std::vector<std::string> broken = verify(problem.problem, alone);
  std::vector<std::string> parts = partition(problem, schedule);
  broken.insert(broken.end(), parts.begin(), parts.end());
  if (!broken.empty())
    return broken;
  last = alone.makespan;
  Duration free(0);
  for (const OverlapBucket &bucket : schedule.buckets) {
    Bytes bytes(0);
    for (OverlapPieceId id : bucket.pieces) {
      const OverlapPiece &piece = problem.pieces[id];
      bytes += piece.bytes;
      if (bucket.begin < piece.release ||
          (piece.after.isValid() && bucket.begin < end(piece.after)))
        say(broken, 6, id, "is sent before it is ready");
      for (TaskId user : piece.users)
        if (schedule.begin[user] < bucket.end)
          say(broken, 8, id, "has not arrived when its user begins");
      last = std::max(last, bucket.end + piece.tail);
    }
    OverlapPieceId first = bucket.pieces.front();
    if (bucket.begin < free)
      say(broken, 7, first, "shares the link");
    if (bucket.end - bucket.begin !=
        problem.groups[static_cast<std::size_t>(bucket.group)].of(bytes))
      say(broken, 7, first, "is in a bucket that lasts another time");
    free = bucket.end;
  }
  if (last != schedule.makespan)
    broken.push_back("O9: the makespan is not the last end");
  return broken;
}

} // namespace planc::sched
