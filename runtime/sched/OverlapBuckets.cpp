#include "runtime/sched/OverlapBuckets.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace planc::sched {

namespace {

constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max() / 2;

class OrderedProgram {
public:
  OrderedProgram(const OverlapProblem &problem,
                 std::span<const LinkPiece> pieces)
      : pieces_(pieces), finish_(pieces.size() + 1), from_(pieces.size() + 1) {
    for (const LinkPiece &piece : pieces) {
      const OverlapPiece &own = problem.pieces[piece.id];
      bytes_.push_back(own.bytes);
      costs_.push_back(&problem.groups[static_cast<std::size_t>(own.group)]);
    }
  }

  /// The least finish with every arrival and its tail within `limit`; false
  /// when there is none.
  bool run(std::int64_t limit, OrderedBuckets &out) {
    finish_[0] = 0;
    for (std::size_t j = 1; j <= pieces_.size(); ++j)
      last(j, limit);
    if (finish_.back() >= kFar)
      return false;
    out.ends.clear();
    out.value = 0;
    for (std::size_t j = pieces_.size(); j > 0; j = from_[j]) {
      out.ends.push_back(j);
      for (std::size_t i = from_[j]; i < j; ++i)
        out.value = std::max(out.value, finish_[j] + pieces_[i].tail);
    }
    std::reverse(out.ends.begin(), out.ends.end());
    return true;
  }

private:
  /// LinkCost::of, which fits by rule O3.
  static std::int64_t lengthOf(const LinkCost &cost, Bytes bytes) {
    constexpr Int128 kUp = (Int128(1) << 30) - 1;
    return cost.latency.value +
           static_cast<std::int64_t>(
               (Int128(bytes.value) * cost.psPerGibibyte + kUp) >> 30);
  }

  /// The last bucket of the first j pieces.
  void last(std::size_t j, std::int64_t limit) {
    std::int64_t best = kFar, ready = 0, tail = 0;
    Bytes bytes(0);
    const LinkCost *cost = costs_[j - 1];
    for (std::size_t i = j, least = j - std::min(j, most_);
         i-- > least && costs_[i] == cost;) {
      bytes += bytes_[i];
      ready = std::max(ready, pieces_[i].ready);
      tail = std::max(tail, pieces_[i].tail);
      std::int64_t length = lengthOf(*cost, bytes);
      // A longer bucket ends no earlier than this.
      if (ready + length >= best || ready + length + tail > limit)
        break;
      std::int64_t end = std::max(finish_[i], ready) + length;
      if (end >= best || end + tail > limit)
        continue;
      best = end;
      from_[j] = i;
      // The link was free: a longer bucket begins no earlier.
      if (finish_[i] <= ready)
        break;
    }
    finish_[j] = best;
  }

  std::span<const LinkPiece> pieces_;
  /// Pieces in a bucket: all, or where there are many as many as make the
  /// latency of a bucket small beside the rest.
  std::size_t most_ = std::max<std::size_t>(32, 16'384 / (pieces_.size() + 1));
  std::vector<Bytes> bytes_;
  std::vector<const LinkCost *> costs_;
  std::vector<std::int64_t> finish_;
  std::vector<std::size_t> from_;
};

using Parts = std::vector<std::vector<OverlapPieceId>>;

Parts partsOf(std::span<const LinkPiece> pieces, const Buckets &ends) {
  Parts out;
  std::size_t begin = 0;
  for (std::size_t end : ends) {
    std::vector<OverlapPieceId> &bucket = out.emplace_back();
    for (; begin < end; ++begin)
      bucket.push_back(pieces[begin].id);
  }
  return out;
}

void sortByReady(std::vector<LinkPiece> &pieces) {
  std::sort(pieces.begin(), pieces.end(),
            [](const LinkPiece &a, const LinkPiece &b) {
              return std::tie(a.ready, b.tail, a.id) <
                     std::tie(b.ready, a.tail, b.id);
            });
}

enum class Count { Bytes, LatencyToo };

/// Whenever the link is free the ready piece with the longest tail (Jackson).
std::vector<LinkPiece> byTail(const OverlapProblem &problem,
                              std::span<const LinkPiece> byReady, Count count) {
  auto later = [](const LinkPiece &a, const LinkPiece &b) {
    return std::tie(a.tail, b.ready, b.id) < std::tie(b.tail, a.ready, a.id);
  };
  std::vector<LinkPiece> out, heap;
  std::int64_t now = 0;
  std::size_t next = 0;
  while (out.size() < byReady.size()) {
    if (heap.empty())
      now = std::max(now, byReady[next].ready);
    for (; next < byReady.size() && byReady[next].ready <= now; ++next) {
      heap.push_back(byReady[next]);
      std::push_heap(heap.begin(), heap.end(), later);
    }
    std::pop_heap(heap.begin(), heap.end(), later);
    const OverlapPiece &piece = problem.pieces[heap.back().id];
    const LinkCost &cost =
        problem.groups[static_cast<std::size_t>(piece.group)];
    now += cost.of(piece.bytes).value;
    if (count == Count::Bytes)
      now -= cost.latency.value;
    out.push_back(heap.back());
    heap.pop_back();
  }
  return out;
}

/// Groups in turns: whenever the link is free all that is ready of the group
/// that has waited longest, so that runs of one group are long.
std::vector<LinkPiece> inTurns(const OverlapProblem &problem,
                               std::span<const LinkPiece> byReady) {
  std::vector<std::vector<LinkPiece>> waiting(problem.groups.size());
  std::vector<LinkPiece> out;
  std::int64_t now = 0;
  std::size_t next = 0;
  while (out.size() < byReady.size()) {
    if (out.size() == next)
      now = std::max(now, byReady[next].ready);
    for (; next < byReady.size() && byReady[next].ready <= now; ++next) {
      std::int32_t group = problem.pieces[byReady[next].id].group;
      waiting[static_cast<std::size_t>(group)].push_back(byReady[next]);
    }
    std::size_t chosen = waiting.size();
    for (std::size_t group = 0; group < waiting.size(); ++group)
      if (!waiting[group].empty() &&
          (chosen == waiting.size() ||
           waiting[group][0].ready < waiting[chosen][0].ready))
        chosen = group;
    Bytes bytes(0);
    for (const LinkPiece &piece : waiting[chosen])
      bytes += problem.pieces[piece.id].bytes;
    now += problem.groups[chosen].of(bytes).value;
    out.insert(out.end(), waiting[chosen].begin(), waiting[chosen].end());
    waiting[chosen].clear();
  }
  return out;
}

bool equalTailsAndGroups(const OverlapProblem &problem,
                         std::span<const LinkPiece> pieces) {
  return std::all_of(pieces.begin(), pieces.end(), [&](const LinkPiece &p) {
    return p.tail == pieces[0].tail &&
           problem.pieces[p.id].group == problem.pieces[pieces[0].id].group;
  });
}

Parts simple(const OverlapProblem &problem, std::span<const LinkPiece> pieces) {
  std::vector<Item> items;
  for (const LinkPiece &piece : pieces)
    items.push_back({Duration(piece.ready), problem.pieces[piece.id].bytes});
  std::size_t group =
      static_cast<std::size_t>(problem.pieces[pieces[0].id].group);
  return partsOf(pieces, bucketsOptimal(items, problem.groups[group]));
}

} // namespace

OrderedBuckets bucketsInOrder(const OverlapProblem &problem,
                              std::span<const LinkPiece> pieces,
                              std::size_t rounds) {
  OrderedProgram program(problem, pieces);
  OrderedBuckets out, next;
  program.run(kFar - 1, out);
  for (std::size_t round = 0; round < rounds; ++round) {
    if (!program.run(out.value - 1, next))
      break;
    std::swap(out, next);
  }
  return out;
}

std::vector<std::vector<OverlapPieceId>>
bucketsForLink(const OverlapProblem &problem, std::vector<LinkPiece> pieces,
               LinkOrder order) {
  if (pieces.empty())
    return {};
  sortByReady(pieces);
  if (equalTailsAndGroups(problem, pieces))
    return simple(problem, pieces);
  bool many = pieces.size() > 64;
  std::size_t rounds = many ? 1 : 64;
  std::vector<LinkPiece> service = pieces;
  OrderedBuckets best = bucketsInOrder(problem, pieces, rounds);
  auto consider = [&](std::vector<LinkPiece> other) {
    OrderedBuckets found = bucketsInOrder(problem, other, rounds);
    if (found.value >= best.value)
      return;
    best = std::move(found);
    service = std::move(other);
  };
  if (order == LinkOrder::Free) {
    consider(byTail(problem, pieces, Count::Bytes));
    if (!many)
      consider(byTail(problem, pieces, Count::LatencyToo));
    if (problem.groups.size() > 1)
      consider(inTurns(problem, pieces));
  }
  return partsOf(service, best.ends);
}

namespace {

class Coalescer {
public:
  Coalescer(const OverlapProblem &problem, std::vector<TimedBucket> buckets)
      : problem_(problem), buckets_(std::move(buckets)) {}

  Parts run() {
    Parts out;
    std::int64_t free = 0;
    for (std::size_t b = 0; b < buckets_.size(); ++b) {
      if (joins(b, free))
        continue;
      TimedBucket &bucket = buckets_[b];
      free = std::max(free, bucket.ready) + bucket.cost;
      out.push_back(std::move(bucket.pieces));
    }
    return out;
  }

private:
  static constexpr std::size_t kLooks = 16;

  /// Moves a bucket into the next of its group, if that ends in time.
  bool joins(std::size_t b, std::int64_t free) {
    TimedBucket &bucket = buckets_[b];
    std::int32_t group = problem_.pieces[bucket.pieces[0]].group;
    std::size_t most = std::min(buckets_.size(), b + 1 + kLooks);
    for (std::size_t k = b + 1; k < most; ++k) {
      TimedBucket &other = buckets_[k];
      if (problem_.pieces[other.pieces[0]].group != group) {
        free = std::max(free, other.ready) + other.cost;
        continue;
      }
      std::vector<OverlapPieceId> both = bucket.pieces;
      both.insert(both.end(), other.pieces.begin(), other.pieces.end());
      std::int64_t ready = std::max(bucket.ready, other.ready);
      std::int64_t cost = costOf(both);
      std::int64_t latest = std::min(bucket.latest, other.latest);
      if (std::max(free, ready) + cost > latest)
        return false;
      other = {std::move(both), ready, cost, latest};
      return true;
    }
    return false;
  }

  std::int64_t costOf(std::span<const OverlapPieceId> pieces) const {
    Bytes bytes(0);
    for (OverlapPieceId id : pieces)
      bytes += problem_.pieces[id].bytes;
    std::int32_t group = problem_.pieces[pieces[0]].group;
    return problem_.groups[static_cast<std::size_t>(group)].of(bytes).value;
  }

  const OverlapProblem &problem_;
  std::vector<TimedBucket> buckets_;
};

} // namespace

std::vector<std::vector<OverlapPieceId>>
coalesced(const OverlapProblem &problem, std::vector<TimedBucket> buckets) {
  return Coalescer(problem, std::move(buckets)).run();
}

} // namespace planc::sched
