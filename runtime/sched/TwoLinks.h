// Buckets that pass two links one after the other, as a reduction within a node
// and then between nodes, where the second leg of one runs beside the first of
// the next: a flow shop of two machines whose jobs are the buckets.
#pragma once

#include "runtime/sched/Algorithms.h"

namespace planc::sched {

/// What each leg of a bucket of S bytes costs; a second leg on a part of the
/// bytes has a smaller psPerGibibyte.
struct TwoLinks {
  LinkCost first, second;
};

/// When the last bucket has passed both.
Duration finishOf(std::span<const Item> items, const Buckets &buckets,
                  const TwoLinks &links);

/// Least finish over all partitions into consecutive buckets, sent in order.
/// For a prefix of the items only those pairs (finish of the first link, finish
/// of the second) matter that no other pair is below in both. Exact; O(n² ·
/// pairs), and the pairs of a prefix are at most as many as its partitions with
/// different ends, in practice a handful. Ties: the earlier finish of the first
/// link, then fewer buckets.
Buckets bucketsOptimal(std::span<const Item> items, const TwoLinks &links);

/// No partition ends before: all bytes from some item on pass the first link
/// and one item the second, or one the first and all the second; or some item
/// passes both alone.
Duration bucketLowerBound(std::span<const Item> items, const TwoLinks &links);

} // namespace planc::sched
