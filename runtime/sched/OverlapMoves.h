// Small changes of an order that may shorten its critical path.
#pragma once

#include "runtime/sched/OverlapNetwork.h"

namespace planc::sched {

/// The same numbers on any machine (xorshift).
class Dice {
public:
  std::size_t below(std::size_t count) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<std::size_t>(state_ >> 11) % count;
  }

private:
  std::uint64_t state_ = 0x9e3779b97f4a7c15;
};

/// Neighbours on a resource or the link, each beginning when the one before it
/// ends, on the critical path: [first, last] of the order of `machine`. Only
/// what changes one of these, or a bucket on the path, can shorten it.
struct CriticalBlock {
  std::size_t machine; ///< the number of resources: the link
  std::size_t first, last;
};

class OverlapMoves {
public:
  OverlapMoves(const OverlapNetwork &network, const OverlapDecisions &decisions)
      : network_(network), decisions_(decisions) {}

  /// Finds the critical path of the order the network ran last.
  void trace(const OverlapOrder &order);

  /// Changes `order`, which was traced, somewhere on its critical path; false
  /// when what the dice chose does not apply.
  bool change(OverlapOrder &order, Dice &dice);
  void undo(OverlapOrder &order);

  /// Of the last `count` tasks of the longest block the ancestors of the last
  /// one first. False when nothing changes.
  bool hoist(OverlapOrder &order, std::size_t count);

  bool linkIsCritical() const { return linkIsCritical_; }
  /// Whether the last change was of tasks.
  bool changedTasks() const { return changed_ == Changed::Tasks; }

private:
  enum class Changed { Nothing, Tasks, Link };

  void index(const OverlapOrder &order);
  std::size_t lastNode() const;
  bool follow(std::size_t node, std::size_t &before) const;

  void save(const OverlapOrder &order, std::size_t machine, std::size_t first,
            std::size_t last);
  bool anywhere(const OverlapOrder &order, CriticalBlock &block,
                Dice &dice) const;
  bool moveTask(OverlapOrder &order, const CriticalBlock &block, Dice &dice);
  bool shift(OverlapOrder &order, std::size_t machine, std::size_t from,
             std::size_t to);
  bool partition(OverlapOrder &order, const CriticalBlock &block);
  std::vector<char> ancestors(std::size_t task) const;

  bool changeLink(OverlapOrder &order, const CriticalBlock &block, Dice &dice);
  bool split(OverlapOrder &order, std::size_t at, Dice &dice);
  bool merge(OverlapOrder &order, std::size_t at, Dice &dice);
  bool movePiece(OverlapOrder &order, std::size_t at, Dice &dice);
  bool moveBucket(OverlapOrder &order, const CriticalBlock &block, Dice &dice);

  const OverlapNetwork &network_;
  const OverlapDecisions &decisions_;
  std::vector<CriticalBlock> blocks_;
  bool linkIsCritical_ = false;
  std::vector<std::size_t> place_; ///< of each task on its resource
  std::vector<std::int64_t> ready_;
  std::vector<std::uint32_t> before_; ///< node before it on its machine
  // To undo.
  Changed changed_ = Changed::Nothing;
  std::size_t machine_ = 0, first_ = 0;
  std::vector<TaskId> savedTasks_;
  std::vector<std::vector<OverlapPieceId>> savedBuckets_;
};

} // namespace planc::sched
