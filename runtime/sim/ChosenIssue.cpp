// Buckets for the times of a timeline.
#include "runtime/sim/PieceGroups.h"
#include "runtime/sim/PieceTimes.h"

#include <algorithm>
#include <limits>

namespace planc::sim {

using program::Piece;
using program::PieceId;
using program::RankClassId;
using program::RankProgram;
using sched::Buckets;
using timeline::Bucket;

namespace {

Buckets cutReduces(std::span<const Duration> ready, const Pieces &pieces,
                   const std::vector<PieceId> &group, const auto &cost) {
  std::vector<sched::Item> items = itemsOf(pieces, group);
  for (std::size_t i = 0; i < group.size(); ++i)
    items[i].ready = ready[group[i].index()];
  return sched::bucketsOptimal(items, cost);
}

/// Each group's boundaries are the best where it has the link to itself. Where
/// several share one, buckets wait for those of others; what of a group is
/// ready by the time one of its buckets begins goes with it, a message less.
class WaitingBuckets {
public:
  WaitingBuckets(const program::ProgramSet &set, const Costs &costs,
                 const RankProgram &rankClass, std::span<const Duration> ready)
      : costs_(costs), rankClass_(rankClass), ready_(ready),
        second_(secondLegs(set, rankClass)) {}

  void join(Heads &heads) const {
    Duration free[2];
    for (std::size_t b = 0; b < heads.size(); ++b) {
      std::vector<PieceId> &bucket = heads[b];
      Duration &link = free[second_[bucket.front().index()] != 0];
      const Duration begin = std::max(link, readyOf(bucket));
      for (std::size_t next = b + 1;
           next < heads.size() && readyOf(heads[next]) <= begin;)
        if (mayMerge(rankClass_.reduces, bucket.front(), heads[next].front())) {
          bucket.insert(bucket.end(), heads[next].begin(), heads[next].end());
          heads.erase(heads.begin() + static_cast<std::ptrdiff_t>(next));
        } else {
          ++next;
        }
      link = begin + costs_
                         .bucket(rankClass_, rankClass_.reduces[bucket.front()],
                                 bytesOf(rankClass_.reduces, bucket))
                         .duration;
    }
  }

private:
  /// Pieces are in this order.
  Duration readyOf(const std::vector<PieceId> &bucket) const {
    return ready_[bucket.back().index()];
  }

  const Costs &costs_;
  const RankProgram &rankClass_;
  std::span<const Duration> ready_;
  std::vector<char> second_;
};

bool hasTwoLegs(const Pieces &pieces, PieceId first) {
  const PieceId second = pieces[first].then;
  return second.isValid() && !pieces[second].then.isValid();
}

/// Time reversed: a bucket that must be there before its first use is one that
/// may not start before its last release.
Buckets cutGathers(const PieceTimes &times, const Pieces &pieces,
                   const std::vector<PieceId> &group,
                   const sched::LinkCost &cost) {
  std::vector<sched::Item> items = itemsOf(pieces, group);
  Duration horizon(std::numeric_limits<std::int64_t>::max() / 2);
  Duration earliest = horizon;
  for (std::size_t i = group.size(); i-- > 0;) {
    earliest = std::min(earliest, times.firstUse(pieces[group[i]]));
    items[i].ready = earliest;
  }
  Duration last = items.back().ready;
  for (sched::Item &item : items)
    item.ready = last - item.ready;
  std::reverse(items.begin(), items.end());
  Buckets reversed = sched::bucketsOptimal(items, cost);
  Buckets out;
  for (std::size_t b = reversed.size(); b-- > 0;)
    out.push_back(items.size() - (b > 0 ? reversed[b - 1] : 0));
  return out;
}

} // namespace

IssueOrder chosenIssue(const program::ProgramSet &set, const Costs &costs,
                       const timeline::Timeline &seen, const IssueOrder &order,
                       Cutting cutting) {
  IssueOrder out;
  out.overlap = cutting.overlap;
  out.orders = order.orders;
  for (RankClassId id : set.classes.ids()) {
    const PieceTimes times(seen, id);
    const RankProgram &rankClass = set.classes[id];
    const auto costOf = [&](const Pieces &pieces,
                            const std::vector<PieceId> &group) {
      return lineThrough(costs, rankClass, pieces, group.front(),
                         bytesOf(pieces, group));
    };
    std::vector<Duration> ready;
    for (const Piece &piece : rankClass.reduces)
      ready.push_back(piece.task.isValid() &&
                              overlapsReductions(cutting.overlap)
                          ? times.ready(piece)
                          : Duration(0));
    const auto cut = [&](const std::vector<PieceId> &group) {
      if (cutting.legs == Legs::TwoLinks &&
          hasTwoLegs(rankClass.reduces, group.front()))
        return cutReduces(ready, rankClass.reduces, group,
                          linesThrough(costs, rankClass, rankClass.reduces,
                                       group.front(),
                                       bytesOf(rankClass.reduces, group)));
      return cutReduces(ready, rankClass.reduces, group,
                        costOf(rankClass.reduces, group));
    };
    // Boundaries for two links let legs run side by side, and stay.
    const WaitingBuckets waiting(set, costs, rankClass, ready);
    Join join;
    if (cutting.legs == Legs::OneLink)
      join = [&](Heads &heads) { waiting.join(heads); };
    std::vector<Bucket> reduces = cutAll(rankClass.reduces, ready, cut, join);
    std::vector<Bucket> gathers =
        cutAll(rankClass.gathers, {}, [&](const auto &group) {
          return cutGathers(times, rankClass.gathers, group,
                            costOf(rankClass.gathers, group));
        });
    out.classes.add({std::move(reduces), std::move(gathers),
                     order.classes[id].forms, order.classes[id].extra});
  }
  return out;
}

} // namespace planc::sim
