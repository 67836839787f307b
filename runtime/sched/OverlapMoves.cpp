#include "runtime/sched/OverlapMoves.h"

#include <algorithm>
#include <limits>

namespace planc::sched {

namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

std::ptrdiff_t offset(std::size_t at) {
  return static_cast<std::ptrdiff_t>(at);
}

/// What stands at `from` then stands at `to`.
template <class T>
void moveTo(std::vector<T> &on, std::size_t from, std::size_t to) {
  const auto at = on.begin();
  if (to < from)
    std::rotate(at + offset(to), at + offset(from), at + offset(from) + 1);
  else
    std::rotate(at + offset(from), at + offset(from) + 1, at + offset(to) + 1);
}

} // namespace

// --- The critical path ------------------------------------------------------

void OverlapMoves::index(const OverlapOrder &order) {
  std::size_t n = network_.tasks();
  place_.resize(n);
  before_.assign(n + order.buckets.size(), kNone);
  for (const std::vector<TaskId> &on : order.tasks)
    for (std::size_t i = 0; i < on.size(); ++i) {
      place_[on[i].index()] = i;
      if (i > 0)
        before_[on[i].index()] = on[i - 1].index();
    }
  for (std::size_t b = 1; b < order.buckets.size(); ++b)
    before_[n + b] = static_cast<std::uint32_t>(n + b - 1);
  const Table<OverlapPieceId, OverlapPiece> &pieces = network_.problem().pieces;
  ready_.resize(pieces.size());
  for (OverlapPieceId id : pieces.ids()) {
    ready_[id.index()] = pieces[id].release.value;
    if (TaskId after = pieces[id].after; after.isValid())
      ready_[id.index()] =
          std::max(ready_[id.index()], network_.end(after.index()));
  }
}

std::size_t OverlapMoves::lastNode() const {
  const Table<OverlapPieceId, OverlapPiece> &pieces = network_.problem().pieces;
  for (OverlapPieceId id : pieces.ids()) {
    std::size_t bucket = network_.bucketOf(id);
    if (network_.end(bucket) + pieces[id].tail.value == network_.makespan())
      return bucket;
  }
  std::size_t task = 0;
  while (network_.end(task) != network_.makespan())
    ++task;
  return task;
}

/// Over a dependence or a piece.
bool OverlapMoves::follow(std::size_t node, std::size_t &before) const {
  std::int64_t begin = network_.begin(node);
  if (node < network_.tasks()) {
    for (const OverlapNetwork::Arc &arc : network_.predecessors(node))
      if (network_.end(before = arc.to) + arc.lag == begin)
        return true;
    for (std::uint32_t piece : network_.needs(node))
      if (network_.end(before = network_.bucketOf(OverlapPieceId(piece))) ==
          begin)
        return true;
    return false;
  }
  const Table<OverlapPieceId, OverlapPiece> &pieces = network_.problem().pieces;
  for (OverlapPieceId id : network_.bucket(node))
    if (TaskId after = pieces[id].after;
        after.isValid() && network_.end(before = after.index()) == begin)
      return true;
  return false;
}

void OverlapMoves::trace(const OverlapOrder &order) {
  index(order);
  blocks_.clear();
  linkIsCritical_ = false;
  std::size_t n = network_.tasks(), link = order.tasks.size();
  if (n + order.buckets.size() == 0)
    return;
  std::size_t node = lastNode();
  for (bool more = true; more;) {
    bool bucket = node >= n;
    std::size_t at = bucket ? node - n : place_[node];
    CriticalBlock block{bucket ? link : network_.resource(node), at, at};
    linkIsCritical_ |= bucket;
    while (before_[node] != kNone &&
           network_.end(before_[node]) == network_.begin(node)) {
      node = before_[node];
      --block.first;
    }
    blocks_.push_back(block);
    std::size_t before = 0;
    more = follow(node, before);
    node = before;
  }
}

// --- Changes ----------------------------------------------------------------

bool OverlapMoves::change(OverlapOrder &order, Dice &dice) {
  changed_ = Changed::Nothing;
  if (blocks_.empty())
    return false;
  CriticalBlock block = blocks_[dice.below(blocks_.size())];
  if (dice.below(4) == 0 && !anywhere(order, block, dice))
    return false;
  if (block.machine == order.tasks.size()) {
    savedBuckets_ = order.buckets;
    changed_ = Changed::Link;
    return changeLink(order, block, dice);
  }
  return decisions_.moveTasks && moveTask(order, block, dice);
}

/// A few neighbours on any machine instead: what stands off the path may have
/// to go before it.
bool OverlapMoves::anywhere(const OverlapOrder &order, CriticalBlock &block,
                            Dice &dice) const {
  block.machine = dice.below(order.tasks.size() + 1);
  std::size_t size = block.machine == order.tasks.size()
                         ? order.buckets.size()
                         : order.tasks[block.machine].size();
  if (size == 0)
    return false;
  block.first = dice.below(size);
  block.last = std::min(size - 1, block.first + dice.below(4));
  return true;
}

void OverlapMoves::undo(OverlapOrder &order) {
  if (changed_ == Changed::Tasks)
    std::copy(savedTasks_.begin(), savedTasks_.end(),
              order.tasks[machine_].begin() + offset(first_));
  else if (changed_ == Changed::Link)
    std::swap(order.buckets, savedBuckets_);
  changed_ = Changed::Nothing;
}

void OverlapMoves::save(const OverlapOrder &order, std::size_t machine,
                        std::size_t first, std::size_t last) {
  const std::vector<TaskId> &on = order.tasks[machine];
  machine_ = machine;
  first_ = first;
  savedTasks_.assign(on.begin() + offset(first), on.begin() + offset(last) + 1);
  changed_ = Changed::Tasks;
}

/// Moves a task as far as direct dependences allow.
bool OverlapMoves::shift(OverlapOrder &order, std::size_t machine,
                         std::size_t from, std::size_t to) {
  std::vector<TaskId> &on = order.tasks[machine];
  std::size_t task = on[from].index();
  if (to < from)
    for (const OverlapNetwork::Arc &arc : network_.predecessors(task)) {
      if (network_.resource(arc.to) == machine)
        to = std::max(to, place_[arc.to] + 1);
    }
  else
    for (const OverlapNetwork::Arc &arc : network_.successors(task))
      if (network_.resource(arc.to) == machine)
        to = std::min(to, place_[arc.to] - 1);
  if (to == from)
    return false;
  save(order, machine, std::min(from, to), std::max(from, to));
  moveTo(on, from, to);
  return true;
}

bool OverlapMoves::moveTask(OverlapOrder &order, const CriticalBlock &block,
                            Dice &dice) {
  std::size_t machine = block.machine, size = order.tasks[machine].size();
  std::size_t length = block.last - block.first + 1;
  std::size_t any = block.first + dice.below(length);
  switch (dice.below(8)) {
  case 0:
    return shift(order, machine, block.last, block.first);
  case 1:
    return shift(order, machine, block.first, block.last);
  case 2:
    return shift(order, machine, any, block.first);
  case 3:
    return shift(order, machine, any, block.last);
  case 4:
    return shift(order, machine, any, block.first + dice.below(length));
  case 5: // into what is idle before, or behind what is not on the path
    return shift(order, machine, any,
                 block.first - std::min(block.first, 1 + dice.below(2)));
  case 6:
    return shift(order, machine, any,
                 std::min(size - 1, block.last + 1 + dice.below(2)));
  default:
    break;
  }
  std::size_t count = 2;
  while (count < length && dice.below(3) != 0)
    count *= 2;
  count = std::min(count, length);
  return partition(order, {machine, block.last - (count - 1), block.last});
}

std::vector<char> OverlapMoves::ancestors(std::size_t task) const {
  std::vector<char> seen(network_.tasks());
  std::vector<std::size_t> open = {task};
  seen[task] = 1;
  while (!open.empty()) {
    std::size_t at = open.back();
    open.pop_back();
    for (const OverlapNetwork::Arc &arc : network_.predecessors(at))
      if (!std::exchange(seen[arc.to], 1))
        open.push_back(arc.to);
    for (std::uint32_t piece : network_.needs(at)) {
      TaskId after = network_.problem().pieces[OverlapPieceId(piece)].after;
      if (after.isValid() && !std::exchange(seen[after.index()], 1))
        open.push_back(after.index());
    }
  }
  return seen;
}

bool OverlapMoves::partition(OverlapOrder &order, const CriticalBlock &block) {
  std::vector<TaskId> &on = order.tasks[block.machine];
  auto begin = on.begin() + offset(block.first);
  auto end = on.begin() + offset(block.last) + 1;
  std::vector<char> first = ancestors((end - 1)->index());
  auto isFirst = [&](TaskId id) { return first[id.index()] != 0; };
  if (std::is_partitioned(begin, end, isFirst))
    return false;
  save(order, block.machine, block.first, block.last);
  std::stable_partition(begin, end, isFirst);
  return true;
}

bool OverlapMoves::hoist(OverlapOrder &order, std::size_t count) {
  if (blocks_.empty())
    return false;
  CriticalBlock block = blocks_[0];
  bool found = false;
  for (const CriticalBlock &each : blocks_)
    if (each.machine < order.tasks.size() &&
        (!found || each.last - each.first > block.last - block.first)) {
      block = each;
      found = true;
    }
  if (!found || block.last - block.first + 1 < count)
    return false;
  block.first = block.last + 1 - count;
  return partition(order, block);
}

// --- Changes of the link ----------------------------------------------------

bool OverlapMoves::changeLink(OverlapOrder &order, const CriticalBlock &block,
                              Dice &dice) {
  std::size_t length = block.last - block.first + 1;
  std::size_t any = block.first + dice.below(length);
  std::size_t kind = dice.below(8);
  if (kind < 2 && decisions_.orderLink)
    return moveBucket(order, block, dice);
  if (!decisions_.mergePieces)
    return decisions_.orderLink && moveBucket(order, block, dice);
  if (kind < 4)
    return split(order, dice.below(2) ? block.first : any, dice);
  if (kind < 6)
    return merge(order, any, dice);
  return movePiece(order, dice.below(2) ? block.first : any, dice);
}

bool OverlapMoves::moveBucket(OverlapOrder &order, const CriticalBlock &block,
                              Dice &dice) {
  std::vector<std::vector<OverlapPieceId>> &on = order.buckets;
  std::size_t length = block.last - block.first + 1;
  std::size_t from = block.first + dice.below(length), to = from;
  switch (dice.below(4)) {
  case 0:
    to = block.first - std::min(block.first, dice.below(2));
    break;
  case 1:
    to = std::min(on.size() - 1, block.last + dice.below(2));
    break;
  case 2:
    to = block.first + dice.below(length);
    break;
  default:
    to = std::min(on.size() - 1, from + 1);
    break;
  }
  if (from == to)
    return false;
  moveTo(on, from, to);
  return true;
}

/// What is ready early goes by itself, before.
bool OverlapMoves::split(OverlapOrder &order, std::size_t at, Dice &dice) {
  std::vector<OverlapPieceId> early = order.buckets[at], late;
  if (early.size() < 2)
    return false;
  std::sort(early.begin(), early.end(),
            [&](OverlapPieceId a, OverlapPieceId b) {
              return std::pair(ready_[a.index()], a) <
                     std::pair(ready_[b.index()], b);
            });
  std::size_t cut = 1 + dice.below(early.size() - 1);
  late.assign(early.begin() + offset(cut), early.end());
  early.resize(cut);
  order.buckets[at] = std::move(early);
  order.buckets.insert(order.buckets.begin() + offset(at) + 1, std::move(late));
  return true;
}

namespace {

enum class Side { Before, Behind };

std::int32_t groupOf(const OverlapProblem &problem,
                     const std::vector<OverlapPieceId> &bucket) {
  return problem.pieces[bucket.front()].group;
}

/// The next bucket of the group behind `at`, or before it.
std::size_t neighbour(const OverlapProblem &problem, const OverlapOrder &order,
                      std::size_t at, Side side) {
  std::int32_t group = groupOf(problem, order.buckets[at]);
  std::size_t step = side == Side::Behind ? 1 : std::size_t(0) - 1;
  // One before the first is past the last.
  for (std::size_t i = at + step; i < order.buckets.size(); i += step)
    if (groupOf(problem, order.buckets[i]) == group)
      return i;
  return at;
}

} // namespace

bool OverlapMoves::merge(OverlapOrder &order, std::size_t at, Dice &dice) {
  std::size_t other = neighbour(network_.problem(), order, at,
                                dice.below(2) ? Side::Before : Side::Behind);
  if (other == at)
    return false;
  std::size_t into = dice.below(2) ? at : other, gone = at + other - into;
  std::vector<OverlapPieceId> &target = order.buckets[into];
  target.insert(target.end(), order.buckets[gone].begin(),
                order.buckets[gone].end());
  order.buckets.erase(order.buckets.begin() + offset(gone));
  return true;
}

bool OverlapMoves::movePiece(OverlapOrder &order, std::size_t at, Dice &dice) {
  std::vector<OverlapPieceId> &from = order.buckets[at];
  if (from.size() < 2)
    return false;
  std::size_t which = dice.below(from.size());
  if (dice.below(2))
    which = static_cast<std::size_t>(
        std::max_element(from.begin(), from.end(),
                         [&](OverlapPieceId a, OverlapPieceId b) {
                           return ready_[a.index()] < ready_[b.index()];
                         }) -
        from.begin());
  OverlapPieceId id = from[which];
  Side side = dice.below(3) ? Side::Behind : Side::Before;
  std::size_t to = neighbour(network_.problem(), order, at, side);
  from.erase(from.begin() + offset(which));
  if (to == at)
    order.buckets.insert(order.buckets.begin() + offset(at) +
                             (side == Side::Behind),
                         std::vector<OverlapPieceId>{id});
  else
    order.buckets[to].push_back(id);
  return true;
}

} // namespace planc::sched
