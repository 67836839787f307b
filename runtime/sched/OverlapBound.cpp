#include "runtime/sched/Chains.h"
#include "runtime/sched/OverlapChains.h"

#include <algorithm>
#include <limits>

namespace planc::sched {

namespace {

constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max();

/// A job of two machines, one after the other.
struct Pair {
  std::int64_t first, second;
};

/// The least makespan of a flow shop of two machines, up to the last job that
/// has work on both (Johnson).
std::int64_t johnsonEnd(std::vector<Pair> jobs) {
  auto rising = [](const Pair &job) { return job.first < job.second; };
  auto middle = std::stable_partition(jobs.begin(), jobs.end(), rising);
  std::stable_sort(jobs.begin(), middle, [](const Pair &a, const Pair &b) {
    return a.first < b.first;
  });
  std::stable_sort(middle, jobs.end(), [](const Pair &a, const Pair &b) {
    return a.second > b.second;
  });
  std::int64_t first = 0, second = 0;
  for (const Pair &job : jobs) {
    first += job.first;
    if (job.second > 0)
      second = std::max(second, first) + job.second;
  }
  return second;
}

class Bound {
public:
  explicit Bound(const OverlapProblem &problem)
      : problem_(problem), chains_(chainsOf(problem)), leastLatency_(kFar) {
    for (const OverlapPiece &piece : problem.pieces)
      leastLatency_ = std::min(leastLatency_, group(piece).latency.value);
  }

  Duration find() {
    chains();
    loads();
    link();
    for (std::size_t r = 0; r < problem_.problem.resources; ++r) {
      flowShop(r, Way::TasksThenLink);
      flowShop(r, Way::LinkThenTasks);
    }
    return Duration(bound_);
  }

private:
  enum class Way { TasksThenLink, LinkThenTasks };

  const LinkCost &group(const OverlapPiece &piece) const {
    return problem_.groups[static_cast<std::size_t>(piece.group)];
  }
  /// Bytes alone, rounded down: no bucket takes less for them.
  std::int64_t flow(const OverlapPiece &piece) const {
    return static_cast<std::int64_t>(
        (Int128(piece.bytes.value) * group(piece).psPerGibibyte) >> 30);
  }
  void atLeast(std::int64_t time) { bound_ = std::max(bound_, time); }

  void chains() {
    for (TaskId id : problem_.problem.tasks.ids())
      atLeast((chains_.head[id] + problem_.problem.tasks[id].duration +
               chains_.tail[id])
                  .value);
    for (OverlapPieceId id : problem_.pieces.ids())
      atLeast((chains_.ready[id] +
               group(problem_.pieces[id]).of(problem_.pieces[id].bytes) +
               chains_.arrived[id])
                  .value);
  }

  void loads() {
    std::vector<std::vector<HeadTail>> jobs(problem_.problem.resources);
    for (TaskId id : problem_.problem.tasks.ids()) {
      const Task &task = problem_.problem.tasks[id];
      if (task.duration > Duration(0))
        jobs[task.resource.index()].push_back({chains_.head[id].value,
                                               task.duration.value,
                                               chains_.tail[id].value});
    }
    for (std::vector<HeadTail> &each : jobs)
      atLeast(preemptiveEnd(std::move(each)));
  }

  /// Pieces that are ready late, or must arrive early, in at least one bucket
  /// of each of their groups.
  void link() {
    std::vector<HeadTail> jobs;
    std::vector<OverlapPieceId> ids;
    for (OverlapPieceId id : problem_.pieces.ids()) {
      ids.push_back(id);
      jobs.push_back({chains_.ready[id].value, flow(problem_.pieces[id]),
                      chains_.arrived[id].value});
    }
    if (ids.empty())
      return;
    atLeast(preemptiveEnd(std::move(jobs)) + leastLatency_);
    sets(ids, chains_.ready, chains_.arrived);
    sets(ids, chains_.arrived, chains_.ready);
    buckets(ids);
  }

  /// The best buckets for ready times that are no later than the true ones, all
  /// groups as one with the least latency, of the pieces with tails ≥ x.
  void buckets(std::vector<OverlapPieceId> ids);

  /// For each x the pieces with `by` ≥ x.
  void sets(std::vector<OverlapPieceId> ids,
            const Table<OverlapPieceId, Duration> &by,
            const Table<OverlapPieceId, Duration> &other) {
    std::stable_sort(
        ids.begin(), ids.end(),
        [&](OverlapPieceId a, OverlapPieceId b) { return by[a] > by[b]; });
    std::vector<char> seen(problem_.groups.size());
    std::int64_t sum = 0, least = kFar;
    for (OverlapPieceId id : ids) {
      const OverlapPiece &piece = problem_.pieces[id];
      if (!std::exchange(seen[static_cast<std::size_t>(piece.group)], 1))
        sum += group(piece).latency.value;
      sum += flow(piece);
      least = std::min(least, other[id].value);
      atLeast(by[id].value + sum + least);
    }
  }

  /// Tasks of a resource whose begin cannot be before x and the pieces that
  /// follow them, and the other way about; for at most `kCuts` values of x.
  void flowShop(std::size_t resource, Way way);

  static constexpr std::size_t kCuts = 24;
  const OverlapProblem &problem_;
  OverlapChains chains_;
  std::int64_t leastLatency_;
  std::int64_t bound_ = 0;
};

void Bound::buckets(std::vector<OverlapPieceId> ids) {
  std::stable_sort(ids.begin(), ids.end(),
                   [&](OverlapPieceId a, OverlapPieceId b) {
                     return chains_.ready[a] < chains_.ready[b];
                   });
  std::vector<std::int64_t> tails;
  for (OverlapPieceId id : ids)
    tails.push_back(chains_.arrived[id].value);
  std::sort(tails.begin(), tails.end());
  tails.erase(std::unique(tails.begin(), tails.end()), tails.end());
  // A picosecond of flow as a byte.
  LinkCost cost{Duration(leastLatency_), std::int64_t(1) << 30};
  for (std::size_t at = 0; at < tails.size(); at += tails.size() / kCuts + 1) {
    std::vector<Item> items;
    for (OverlapPieceId id : ids)
      if (chains_.arrived[id].value >= tails[at])
        items.push_back({chains_.ready[id], Bytes(flow(problem_.pieces[id]))});
    atLeast(finishOf(items, bucketsOptimal(items, cost), cost).value +
            tails[at]);
  }
}

/// A task with its pieces, seen from the machine that comes first: nothing of
/// it begins before `head`, and `tail` follows the second.
struct Joint {
  std::int64_t head, first, second, tail;
};

void Bound::flowShop(std::size_t resource, Way way) {
  const Table<TaskId, Task> &tasks = problem_.problem.tasks;
  std::vector<Joint> joints;
  std::vector<std::int64_t> flows(tasks.size()), far(tasks.size(), kFar);
  for (OverlapPieceId id : problem_.pieces.ids()) {
    const OverlapPiece &piece = problem_.pieces[id];
    // A piece of several users is counted for the first.
    TaskId with = way == Way::TasksThenLink ? piece.after
                  : piece.users.empty()     ? TaskId()
                                            : piece.users.front();
    if (!with.isValid() || tasks[with].resource.index() != resource)
      continue;
    std::size_t at = with.index();
    flows[at] += flow(piece);
    far[at] =
        std::min(far[at], way == Way::TasksThenLink ? chains_.arrived[id].value
                                                    : chains_.ready[id].value);
  }
  for (TaskId id : tasks.ids()) {
    if (far[id.index()] == kFar)
      continue;
    std::int64_t own = tasks[id].duration.value, flow = flows[id.index()];
    if (way == Way::TasksThenLink)
      joints.push_back({chains_.head[id].value, own, flow, far[id.index()]});
    else
      joints.push_back({far[id.index()], flow, own, chains_.tail[id].value});
  }
  std::stable_sort(
      joints.begin(), joints.end(),
      [](const Joint &a, const Joint &b) { return a.head > b.head; });
  std::size_t step = joints.size() / kCuts + 1;
  for (std::size_t count = joints.size(); count > 0;
       count -= std::min(count, step)) {
    std::vector<Pair> jobs;
    std::int64_t tail = kFar;
    for (std::size_t i = 0; i < count; ++i) {
      jobs.push_back({joints[i].first, joints[i].second});
      tail = std::min(tail, joints[i].tail);
    }
    std::int64_t end = johnsonEnd(std::move(jobs));
    if (end > 0)
      atLeast(joints[count - 1].head + end + leastLatency_ + tail);
  }
}

} // namespace

Duration overlapLowerBound(const OverlapProblem &problem) {
  return Bound(problem).find();
}

} // namespace planc::sched
