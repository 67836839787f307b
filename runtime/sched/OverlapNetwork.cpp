#include "runtime/sched/OverlapNetwork.h"

#include <algorithm>

namespace planc::sched {

namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

/// `pairs` of (list, value), in order within a list.
template <class T>
Ragged<T> ragged(std::size_t lists,
                 const std::vector<std::pair<std::uint32_t, T>> &pairs) {
  Ragged<T> out;
  out.at.assign(lists + 1, 0);
  for (const auto &[list, value] : pairs)
    ++out.at[list + 1];
  for (std::size_t i = 0; i < lists; ++i)
    out.at[i + 1] += out.at[i];
  out.values.resize(pairs.size());
  std::vector<std::uint32_t> fill(out.at.begin(), out.at.end() - 1);
  for (const auto &[list, value] : pairs)
    out.values[fill[list]++] = value;
  return out;
}

} // namespace

OverlapNetwork::OverlapNetwork(const OverlapProblem &problem)
    : problem_(problem) {
  const Table<TaskId, Task> &tasks = problem.problem.tasks;
  std::vector<std::pair<std::uint32_t, Arc>> out, in;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> makes, needs;
  for (TaskId id : tasks.ids()) {
    const Task &task = tasks[id];
    resource_.push_back(task.resource.index());
    duration_.push_back(task.duration.value);
    release_.push_back(task.release.value);
    for (const Dependence &dep : task.deps) {
      out.push_back({dep.on.index(), {id.index(), dep.lag.value}});
      in.push_back({id.index(), {dep.on.index(), dep.lag.value}});
    }
  }
  for (OverlapPieceId id : problem.pieces.ids()) {
    const OverlapPiece &piece = problem.pieces[id];
    if (piece.after.isValid())
      makes.push_back({piece.after.index(), id.index()});
    for (TaskId user : piece.users)
      needs.push_back({user.index(), id.index()});
  }
  successors_ = ragged(tasks.size(), out);
  predecessors_ = ragged(tasks.size(), in);
  makes_ = ragged(tasks.size(), makes);
  needs_ = ragged(tasks.size(), needs);
  for (std::size_t task = 0; task < tasks.size(); ++task)
    taskWaits_.push_back(static_cast<std::uint32_t>(predecessors_[task].size() +
                                                    needs_[task].size()));
}

std::int64_t
OverlapNetwork::costOf(std::span<const OverlapPieceId> pieces) const {
  Bytes bytes(0);
  for (OverlapPieceId id : pieces)
    bytes += problem_.pieces[id].bytes;
  std::int32_t group = problem_.pieces[pieces.front()].group;
  return problem_.groups[static_cast<std::size_t>(group)].of(bytes).value;
}

void OverlapNetwork::prepare(const OverlapOrder &order) {
  std::size_t n = tasks(), nodes = n + order.buckets.size();
  order_ = &order;
  queue_.clear();
  queue_.reserve(nodes);
  waiting_ = taskWaits_;
  waiting_.resize(nodes, 0);
  begin_ = release_;
  begin_.resize(nodes, 0);
  end_.resize(nodes);
  next_.assign(nodes, kNone);
  bucketOf_.resize(problem_.pieces.size());
  cost_.resize(order.buckets.size());
  for (const std::vector<TaskId> &on : order.tasks)
    for (std::size_t i = 1; i < on.size(); ++i) {
      next_[on[i - 1].index()] = on[i].index();
      ++waiting_[on[i].index()];
    }
  for (std::size_t b = 0; b < order.buckets.size(); ++b) {
    std::size_t node = n + b;
    if (b > 0) {
      next_[node - 1] = static_cast<std::uint32_t>(node);
      ++waiting_[node];
    }
    for (OverlapPieceId id : order.buckets[b]) {
      const OverlapPiece &piece = problem_.pieces[id];
      bucketOf_[id.index()] = static_cast<std::uint32_t>(node);
      begin_[node] = std::max(begin_[node], piece.release.value);
      waiting_[node] += piece.after.isValid();
    }
    cost_[b] = costOf(order.buckets[b]);
  }
}

void OverlapNetwork::finishBucket(std::uint32_t node) {
  std::int64_t end = begin_[node] + cost_[node - tasks()];
  end_[node] = end;
  for (OverlapPieceId id : order_->buckets[node - tasks()]) {
    const OverlapPiece &piece = problem_.pieces[id];
    makespan_ = std::max(makespan_, end + piece.tail.value);
    for (TaskId user : piece.users)
      reach(user.index(), end);
  }
}

void OverlapNetwork::finish(std::uint32_t node) {
  if (node >= tasks()) {
    finishBucket(node);
  } else {
    std::int64_t end = begin_[node] + duration_[node];
    end_[node] = end;
    makespan_ = std::max(makespan_, end);
    for (const Arc &arc : successors_[node])
      reach(arc.to, end + arc.lag);
    for (std::uint32_t piece : makes_[node])
      reach(bucketOf_[piece], end);
  }
  if (next_[node] != kNone)
    reach(next_[node], end_[node]);
}

bool OverlapNetwork::run(const OverlapOrder &order) {
  prepare(order);
  makespan_ = 0;
  std::uint32_t nodes = static_cast<std::uint32_t>(begin_.size());
  for (std::uint32_t node = 0; node < nodes; ++node)
    if (waiting_[node] == 0)
      queue_.push_back(node);
  for (std::size_t at = 0; at < queue_.size(); ++at)
    finish(queue_[at]);
  return queue_.size() == nodes;
}

std::int64_t OverlapNetwork::chainBehindTask(std::uint32_t node) const {
  std::int64_t out = 0;
  for (const Arc &arc : successors_[node])
    out = std::max(out, arc.lag + duration_[arc.to] + behind_[arc.to]);
  for (std::uint32_t piece : makes_[node]) {
    std::uint32_t bucket = bucketOf_[piece];
    out = std::max(out, cost_[bucket - tasks()] + behind_[bucket]);
  }
  return out;
}

std::int64_t OverlapNetwork::chainBehindBucket(std::uint32_t node) const {
  std::int64_t out = 0;
  for (OverlapPieceId id : order_->buckets[node - tasks()]) {
    out = std::max(out, problem_.pieces[id].tail.value);
    for (TaskId user : problem_.pieces[id].users)
      out = std::max(out, duration_[user.index()] + behind_[user.index()]);
  }
  return out;
}

void OverlapNetwork::chainsBehind(Behind behind) {
  behind_.assign(begin_.size(), 0);
  for (auto at = queue_.rbegin(); at != queue_.rend(); ++at) {
    std::uint32_t node = *at;
    std::int64_t out =
        node >= tasks() ? chainBehindBucket(node) : chainBehindTask(node);
    if (std::uint32_t next = next_[node];
        next != kNone && (behind == Behind::Order || node >= tasks()))
      out =
          std::max(out, behind_[next] + (next >= tasks() ? cost_[next - tasks()]
                                                         : duration_[next]));
    behind_[node] = out;
  }
}

OverlapSchedule OverlapNetwork::schedule(const OverlapOrder &order) const {
  OverlapSchedule out;
  out.begin.resize(tasks());
  for (TaskId id : out.begin.ids())
    out.begin[id] = Duration(begin_[id.index()]);
  for (std::size_t b = 0; b < order.buckets.size(); ++b)
    out.buckets.push_back({problem_.pieces[order.buckets[b].front()].group,
                           order.buckets[b], Duration(begin_[tasks() + b]),
                           Duration(end_[tasks() + b])});
  out.makespan = Duration(makespan_);
  return out;
}

} // namespace planc::sched
