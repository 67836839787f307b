#include "runtime/sched/OverlapBuckets.h"
#include "runtime/sched/OverlapChains.h"
#include "runtime/sched/OverlapDispatch.h"
#include "runtime/sched/OverlapMoves.h"

#include <algorithm>
#include <limits>

namespace planc::sched {

namespace {

constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max();
/// Orders tried by the local search: this many nodes are visited, within
/// limits.
constexpr std::size_t kVisits = 600'000, kFewest = 48, kMost = 6000;
constexpr std::size_t kRounds = 6, kRoundsOfMany = 2, kMany = 2000;
/// Late acceptance: no worse than so many changes ago.
constexpr std::size_t kMemory = 20;
/// Changes without a new best before another part of the space is tried.
constexpr std::size_t kPatience = 150;

using Parts = std::vector<std::vector<OverlapPieceId>>;

class OverlapSearch {
public:
  OverlapSearch(const OverlapProblem &problem,
                const OverlapDecisions &decisions)
      : problem_(problem), decisions_(decisions), network_(problem),
        moves_(network_, decisions_) {}

  OverlapSchedule run(std::span<const OverlapSchedule> starts) {
    bound_ = overlapLowerBound(problem_).value;
    construct();
    for (const OverlapSchedule &start : starts)
      startFrom(start);
    improve();
    climb();
    coalesce();
    network_.run(best_);
    OverlapSchedule out = network_.schedule(best_);
    // Where tasks of no time lie inside others an order says less.
    for (const OverlapSchedule &start : starts)
      if (decisions_.orderLink && start.makespan < out.makespan &&
          keepsTo(orderOf(problem_, start)))
        out = start;
    return out;
  }

private:
  // --- Starts ---------------------------------------------------------------
  void construct();
  void startFrom(const std::optional<OverlapSchedule> &schedule) {
    if (schedule)
      consider(orderOf(problem_, *schedule));
  }
  Parts alone() const {
    Parts out;
    for (OverlapPieceId id : problem_.pieces.ids())
      out.push_back({id});
    return out;
  }
  DispatchRules rules() const {
    DispatchRules out;
    out.tasks = decisions_.moveTasks ? TaskRule::ByPriority : TaskRule::ById;
    out.link =
        decisions_.orderLink ? LinkRule::ByPriority : LinkRule::FirstCome;
    return out;
  }

  // --- What is kept ---------------------------------------------------------
  bool keepsTo(const OverlapOrder &order) const;
  bool isFirstCome() const;
  std::int64_t value(const OverlapOrder &order) {
    if (!network_.run(order) || (!decisions_.orderLink && !isFirstCome()))
      return kFar;
    return network_.makespan();
  }
  bool keep(const OverlapOrder &order, std::int64_t value) {
    if (value >= bestValue_)
      return false;
    best_ = order;
    bestValue_ = value;
    return true;
  }
  /// With its buckets, and with new ones for its times.
  bool consider(OverlapOrder order);
  bool optimal() const { return bestValue_ <= bound_; }
  bool isLarge() const {
    return network_.tasks() + problem_.pieces.size() >= kMany;
  }

  // --- Rounds ---------------------------------------------------------------
  Parts rebucket(const OverlapOrder &order);
  bool redispatch(Behind behind, TaskRule rule);
  bool hoist();
  void improve();

  // --- Local search ---------------------------------------------------------
  void climb();
  std::int64_t leave(OverlapOrder &order, Dice &dice);
  std::int64_t step(OverlapOrder &order, Dice &dice, Parts &saved,
                    bool &rebucketed);

  // --- Fewer messages -------------------------------------------------------
  void coalesce();
  std::int64_t readyOf(std::span<const OverlapPieceId> bucket) const;

  const OverlapProblem &problem_;
  const OverlapDecisions decisions_;
  OverlapNetwork network_;
  OverlapMoves moves_;
  OverlapOrder best_;
  std::int64_t bestValue_ = kFar, bound_ = 0;
};

void OverlapSearch::construct() {
  OverlapChains chains = chainsOf(problem_);
  DispatchRules rules = this->rules();
  for (TaskId id : problem_.problem.tasks.ids())
    rules.taskPriority.push_back(
        (problem_.problem.tasks[id].duration + chains.tail[id]).value);
  for (OverlapPieceId id : problem_.pieces.ids())
    rules.bucketPriority.push_back(network_.costOf({&id, 1}) +
                                   chains.arrived[id].value);
  DispatchRules byId = rules;
  byId.tasks = TaskRule::ById;
  if (auto order = dispatch(network_, byId, alone()))
    consider(std::move(*order));
  startFrom(overlapInProgramOrder(problem_));
  startFrom(overlapFramework(problem_));
  if (auto order = dispatch(network_, rules, alone()))
    consider(std::move(*order));
  if (bestValue_ < kFar)
    return;
  // By id nothing runs at all.
  rules.tasks = TaskRule::ByPriority;
  best_ = *dispatch(network_, rules, alone());
  network_.run(best_);
  bestValue_ = network_.makespan();
}

bool OverlapSearch::keepsTo(const OverlapOrder &order) const {
  if (!decisions_.mergePieces && order.buckets.size() != problem_.pieces.size())
    return false;
  return decisions_.moveTasks ||
         std::all_of(order.tasks.begin(), order.tasks.end(),
                     [](const std::vector<TaskId> &on) {
                       return std::is_sorted(on.begin(), on.end());
                     });
}

/// Of the order last run.
std::int64_t
OverlapSearch::readyOf(std::span<const OverlapPieceId> bucket) const {
  std::int64_t ready = 0;
  for (OverlapPieceId id : bucket) {
    const OverlapPiece &piece = problem_.pieces[id];
    ready = std::max(ready, piece.release.value);
    if (piece.after.isValid())
      ready = std::max(ready, network_.end(piece.after.index()));
  }
  return ready;
}

/// Of the order last run.
bool OverlapSearch::isFirstCome() const {
  std::int64_t before = 0;
  for (std::size_t b = 0; b < network_.buckets(); ++b) {
    std::int64_t ready = readyOf(network_.bucket(network_.tasks() + b));
    if (ready < before)
      return false;
    before = ready;
  }
  return true;
}

bool OverlapSearch::consider(OverlapOrder order) {
  if (!keepsTo(order))
    return false;
  std::int64_t own = value(order);
  if (own == kFar)
    return false;
  bool better = keep(order, own);
  if (!decisions_.mergePieces)
    return better;
  order.buckets = rebucket(order);
  return keep(order, value(order)) || better;
}

/// For the times of the order last run.
Parts OverlapSearch::rebucket(const OverlapOrder &) {
  network_.chainsBehind(Behind::Order);
  std::vector<LinkPiece> pieces;
  for (OverlapPieceId id : problem_.pieces.ids()) {
    const OverlapPiece &piece = problem_.pieces[id];
    LinkPiece next{id, piece.release.value, piece.tail.value};
    if (piece.after.isValid())
      next.ready = std::max(next.ready, network_.end(piece.after.index()));
    for (TaskId user : piece.users)
      next.tail = std::max(next.tail, network_.duration(user.index()) +
                                          network_.behind(user.index()));
    pieces.push_back(next);
  }
  return bucketsForLink(problem_, std::move(pieces),
                        decisions_.orderLink ? LinkOrder::Free
                                             : LinkOrder::ByReady);
}

bool OverlapSearch::redispatch(Behind behind, TaskRule rule) {
  if (!network_.run(best_) || optimal())
    return false;
  network_.chainsBehind(behind);
  DispatchRules rules = this->rules();
  if (decisions_.moveTasks)
    rules.tasks = rule;
  for (std::size_t task = 0; task < network_.tasks(); ++task)
    rules.taskPriority.push_back(network_.duration(task) +
                                 network_.behind(task));
  for (std::size_t b = 0; b < best_.buckets.size(); ++b)
    rules.bucketPriority.push_back(network_.costOf(best_.buckets[b]) +
                                   network_.behind(network_.tasks() + b));
  std::optional<OverlapOrder> order = dispatch(network_, rules, best_.buckets);
  return order && consider(std::move(*order));
}

/// What the last task of the longest block waits for goes before the others of
/// its end, for ends of lengths that grow by a factor.
bool OverlapSearch::hoist() {
  if (!decisions_.moveTasks)
    return false;
  bool better = false;
  std::size_t factor = isLarge() ? 4 : 2;
  for (std::size_t count = 2; count <= network_.tasks() && !optimal();
       count *= factor) {
    OverlapOrder order = best_;
    if (!network_.run(order))
      return better;
    moves_.trace(order);
    if (moves_.hoist(order, count))
      better |= consider(std::move(order));
  }
  return better;
}

void OverlapSearch::improve() {
  std::size_t rounds = isLarge() ? kRoundsOfMany : kRounds;
  for (std::size_t round = 0; round < rounds && !optimal(); ++round) {
    bool better = consider(best_);
    better |= redispatch(Behind::Order, TaskRule::ByPriority);
    better |= redispatch(Behind::Link, TaskRule::ByPriority);
    if (problem_.problem.resources > 1)
      better |= redispatch(Behind::Link, TaskRule::Patient);
    better |= hoist();
    if (!better)
      return;
  }
}

/// One change, and perhaps new buckets for what it gives.
std::int64_t OverlapSearch::step(OverlapOrder &order, Dice &dice, Parts &saved,
                                 bool &rebucketed) {
  rebucketed = false;
  std::int64_t found = value(order);
  if (found == kFar || !moves_.changedTasks() || !moves_.linkIsCritical() ||
      !decisions_.mergePieces || dice.below(3) != 0)
    return found;
  Parts parts = rebucket(order);
  saved = std::exchange(order.buckets, std::move(parts));
  std::int64_t again = value(order);
  if (again < found) {
    rebucketed = true;
    return again;
  }
  std::swap(order.buckets, saved);
  network_.run(order);
  return found;
}

/// Some changes whatever they cost, from the best known.
std::int64_t OverlapSearch::leave(OverlapOrder &order, Dice &dice) {
  order = best_;
  std::int64_t current = value(order);
  moves_.trace(order);
  std::size_t changes = 1 + dice.below(4);
  for (std::size_t tries = 0; tries < 4 * changes && changes > 0; ++tries) {
    bool applies = moves_.change(order, dice);
    std::int64_t next = applies ? value(order) : kFar;
    if (next == kFar) {
      moves_.undo(order);
      continue;
    }
    moves_.trace(order);
    current = next;
    --changes;
  }
  return current;
}

void OverlapSearch::climb() {
  OverlapOrder order = best_;
  std::int64_t current = value(order);
  if (current == kFar)
    return;
  moves_.trace(order);
  std::size_t nodes = 1 + network_.tasks() + problem_.pieces.size();
  std::size_t budget =
      std::clamp(kVisits / (isLarge() ? 2 * nodes : nodes), kFewest, kMost);
  std::vector<std::int64_t> late(
      std::clamp<std::size_t>(budget / 20, 1, kMemory), current);
  std::size_t patience = 0;
  Dice dice;
  Parts saved;
  for (std::size_t at = 0; at < budget && !optimal(); ++at) {
    if (++patience > kPatience) {
      patience = 0;
      current = leave(order, dice);
      std::fill(late.begin(), late.end(), current);
    }
    std::int64_t &before = late[at % late.size()];
    bool rebucketed = false;
    std::int64_t next = kFar;
    if (moves_.change(order, dice))
      next = step(order, dice, saved, rebucketed);
    if (next < kFar && (next <= current || next < before)) {
      current = next;
      if (keep(order, next))
        patience = 0;
      moves_.trace(order);
    } else {
      if (rebucketed)
        std::swap(order.buckets, saved);
      moves_.undo(order);
    }
    before = std::min(before, current);
  }
}

/// Buckets of a group share one where the makespan stays and each bucket keeps
/// at least half of the time by which it could have been later. What follows a
/// bucket is later by no more than that, so its half holds too.
void OverlapSearch::coalesce() {
  if (!decisions_.mergePieces || best_.buckets.empty() ||
      value(best_) != bestValue_)
    return;
  network_.chainsBehind(Behind::Order);
  std::vector<TimedBucket> buckets;
  for (std::size_t b = 0; b < best_.buckets.size(); ++b) {
    std::size_t node = network_.tasks() + b;
    std::int64_t end = network_.end(node);
    std::int64_t slack = bestValue_ - end - network_.behind(node);
    buckets.push_back({best_.buckets[b], readyOf(best_.buckets[b]),
                       end - network_.begin(node), end + slack / 2});
  }
  OverlapOrder fewer{best_.tasks, coalesced(problem_, std::move(buckets))};
  if (value(fewer) <= bestValue_) {
    bestValue_ = network_.makespan();
    best_ = std::move(fewer);
  }
}

} // namespace

OverlapSchedule scheduleOverlap(const OverlapProblem &problem,
                                std::span<const OverlapSchedule> starts,
                                const OverlapDecisions &decisions) {
  return OverlapSearch(problem, decisions).run(starts);
}

} // namespace planc::sched
