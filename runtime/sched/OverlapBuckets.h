// Buckets for pieces whose ready times are known: the dynamic program on a
// given order of service, and the orders worth giving to it.
#pragma once

#include "runtime/sched/Overlap.h"

namespace planc::sched {

struct LinkPiece {
  OverlapPieceId id;
  std::int64_t ready;
  std::int64_t tail; ///< must pass after its arrival
};

enum class LinkOrder { ByReady, Free };

/// Buckets in the order of the link, so that the last arrival and its tail are
/// early: the least of all consecutive buckets in ready order, and of a few
/// orders by tail where those are free and differ. One group with equal tails:
/// O(n log n).
std::vector<std::vector<OverlapPieceId>>
bucketsForLink(const OverlapProblem &problem, std::vector<LinkPiece> pieces,
               LinkOrder order);

/// For a given order of service: ends of consecutive buckets of one group each
/// whose last arrival and its tail are the earliest. For every limit on those,
/// the least finish of a prefix dominates, by D(j) = min over i of max(D(i),
/// ready of i…j) + cost(i…j); the limit is lowered until nothing is found, or
/// `rounds` times. O(rounds · n²), less where the link is often idle; past 128
/// pieces a bucket holds at most max(32, 16384 / n), and it is O(rounds · n).
struct OrderedBuckets {
  Buckets ends;
  std::int64_t value = 0; ///< the last arrival and its tail
};
OrderedBuckets bucketsInOrder(const OverlapProblem &problem,
                              std::span<const LinkPiece> pieces,
                              std::size_t rounds);

/// A bucket of a schedule, and by when it may end.
struct TimedBucket {
  std::vector<OverlapPieceId> pieces;
  std::int64_t ready, cost, latest;
};

/// Fewer messages: in the order of the link a bucket joins the next of its
/// group, past a few of other groups, where both then end by their latest.
std::vector<std::vector<OverlapPieceId>>
coalesced(const OverlapProblem &problem, std::vector<TimedBucket> buckets);

} // namespace planc::sched
