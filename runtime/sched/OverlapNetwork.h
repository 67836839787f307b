// A problem of tasks and pieces in flat arrays, and what an order of it takes:
// the inner loop of every search here.
#pragma once

#include "runtime/sched/Overlap.h"

#include <cstdint>

namespace planc::sched {

/// Lists of equal kind one after the other: those of i are [at[i], at[i + 1]).
template <class T> struct Ragged {
  std::vector<std::uint32_t> at;
  std::vector<T> values;
  std::span<const T> operator[](std::size_t i) const {
    return std::span(values).subspan(at[i], at[i + 1] - at[i]);
  }
};

/// Which orders chains go over, besides dependences.
enum class Behind { Link, Order };

/// Nodes are tasks 0…n − 1, then the buckets of an order n, n + 1, …
class OverlapNetwork {
public:
  struct Arc {
    std::uint32_t to;
    std::int64_t lag;
  };
  explicit OverlapNetwork(const OverlapProblem &problem);

  /// Begins and ends of every node, and the makespan, with everything as early
  /// as the order allows; false when it can never run.
  bool run(const OverlapOrder &order);

  /// The pieces of a bucket of the order last run.
  std::span<const OverlapPieceId> bucket(std::size_t node) const {
    return order_->buckets[node - tasks()];
  }

  /// After `run`: from the end of each node the longest chain behind it,
  /// over the order of the link, and of the resources.
  void chainsBehind(Behind behind);

  const OverlapProblem &problem() const { return problem_; }
  std::size_t tasks() const { return duration_.size(); }
  std::size_t buckets() const { return cost_.size(); }
  std::int64_t makespan() const { return makespan_; }
  std::int64_t begin(std::size_t node) const { return begin_[node]; }
  std::int64_t end(std::size_t node) const { return end_[node]; }
  std::int64_t behind(std::size_t node) const { return behind_[node]; }
  std::size_t bucketOf(OverlapPieceId id) const {
    return bucketOf_[id.index()];
  }

  std::span<const Arc> successors(std::size_t task) const {
    return successors_[task];
  }
  std::span<const Arc> predecessors(std::size_t task) const {
    return predecessors_[task];
  }
  /// Pieces ready when the task has ended, and those it waits for.
  std::span<const std::uint32_t> makes(std::size_t task) const {
    return makes_[task];
  }
  std::span<const std::uint32_t> needs(std::size_t task) const {
    return needs_[task];
  }
  std::uint32_t resource(std::size_t task) const { return resource_[task]; }
  std::int64_t duration(std::size_t task) const { return duration_[task]; }
  std::int64_t release(std::size_t task) const { return release_[task]; }
  std::int64_t costOf(std::span<const OverlapPieceId> pieces) const;

  OverlapSchedule schedule(const OverlapOrder &order) const;

private:
  void prepare(const OverlapOrder &order);
  void finish(std::uint32_t node);
  void reach(std::uint32_t node, std::int64_t time) {
    if (begin_[node] < time)
      begin_[node] = time;
    if (--waiting_[node] == 0)
      queue_.push_back(node);
  }
  void finishBucket(std::uint32_t node);
  std::int64_t chainBehindTask(std::uint32_t node) const;
  std::int64_t chainBehindBucket(std::uint32_t node) const;

  const OverlapProblem &problem_;
  std::vector<std::uint32_t> resource_;
  std::vector<std::int64_t> duration_, release_;
  Ragged<Arc> successors_, predecessors_;
  Ragged<std::uint32_t> makes_, needs_;
  std::vector<std::uint32_t> taskWaits_;
  // Of the order last run.
  const OverlapOrder *order_ = nullptr;
  std::vector<std::uint32_t> bucketOf_, next_, waiting_, queue_;
  std::vector<std::int64_t> begin_, end_, cost_, behind_;
  std::int64_t makespan_ = 0;
};

} // namespace planc::sched
