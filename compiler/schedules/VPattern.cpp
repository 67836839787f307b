// V-Half and V-Min: a pattern of six slots a micro-batch that repeats, then the
// passes of the beginning and the end moved together under the same memory
// (Qi et al., 2405.15362, 4).
#include "compiler/schedules/Generators.h"
#include "compiler/schedules/Orders.h"

#include <algorithm>
#include <array>
#include <deque>

namespace planc::schedules {

namespace {

/// Passes of a micro-batch on a rank: forward through its first and its second
/// chunk, back through the second and the first; weight gradients, counted over
/// both chunks.
enum What : std::uint8_t { Forward0, Forward1, Input1, Input0, Weight, kWhats };

/// Do weight gradients have slots of their own, or take what is free?
enum class Weights : std::uint8_t { Placed, Free };

/// The slot of every pass of one rank: [what][micro-batch], weights in the
/// order they run in. Each list ascends.
using RankSlots = std::array<std::vector<std::int64_t>, kWhats>;

struct Entry {
  std::int64_t slot;
  std::size_t rank, what, index;
  auto operator<=>(const Entry &) const = default;
};

std::vector<Entry> entriesOf(const RankSlots &slots, std::size_t rank) {
  std::vector<Entry> entries;
  for (std::size_t what = 0; what < kWhats; ++what)
    for (std::size_t k = 0; k < slots[what].size(); ++k)
      entries.push_back({slots[what][k], rank, what, k});
  std::sort(entries.begin(), entries.end());
  return entries;
}

/// Puts weight gradients into the first free slots after their B's.
void placeWeights(RankSlots &slots) {
  slots[Weight].clear();
  std::int64_t free = 0;
  std::size_t owed = 0;
  for (const Entry &entry : entriesOf(slots, 0)) {
    for (; free < entry.slot && owed > 0; ++free, --owed)
      slots[Weight].push_back(free);
    free = entry.slot + 1;
    owed += entry.what == Input0 || entry.what == Input1 ? 1 : 0;
  }
  for (; owed > 0; ++free, --owed)
    slots[Weight].push_back(free);
}

/// What runs in each slot of a rank; kWhats: nothing.
using SlotTable = std::vector<std::uint8_t>;

SlotTable tableOf(const RankSlots &slots) {
  SlotTable table;
  for (const Entry &entry : entriesOf(slots, 0)) {
    table.resize(static_cast<std::size_t>(entry.slot), kWhats);
    table.push_back(static_cast<std::uint8_t>(entry.what));
  }
  return table;
}

/// Most forwards whose weight gradients have not run. Where those have no slots
/// of their own they take the ones that are free.
std::int64_t peakOf(const SlotTable &table, Weights weights) {
  std::int64_t held = 0, peak = 0, owed = 0;
  for (std::uint8_t what : table) {
    if (what == Forward0 || what == Forward1)
      peak = std::max(peak, ++held);
    else if (what == Weight)
      --held;
    else if (what == kWhats && weights == Weights::Free && owed > 0)
      --held, --owed;
    else if (what != kWhats)
      ++owed;
  }
  return peak;
}

class VPattern {
public:
  explicit VPattern(std::vector<RankSlots> ranks) : ranks_(std::move(ranks)) {}

  /// Moves passes of the beginning and of the end (of the end alone where
  /// weight gradients have no slots of their own) to the first free slot that
  /// does not raise the peak. Then runs each order as early as it can.
  void moveTogether(Weights weights) {
    std::int64_t peak = 0;
    std::vector<Entry> all;
    tables_.clear();
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      tables_.push_back(tableOf(ranks_[r]));
      peak = std::max(peak, peakOf(tables_[r], weights));
      for (const Entry &entry : entriesOf(ranks_[r], r))
        all.push_back(entry);
    }
    std::sort(all.begin(), all.end());
    const std::size_t last = ranks_[0][Forward0].size() - 1;
    enum class Part { Beginning, Repeating, End } part = Part::Beginning;
    std::vector<std::vector<bool>> taken(
        ranks_.size(),
        std::vector<bool>(static_cast<std::size_t>(all.back().slot + 1)));
    for (const Entry &entry : all) {
      if (entry.rank == 0 && entry.what == Input0 && part == Part::Beginning)
        part = Part::Repeating;
      const bool stays = part == Part::Repeating ||
                         (part == Part::Beginning && weights == Weights::Free);
      if (part == Part::Repeating && entry.what == Forward0 &&
          entry.index == last)
        part = Part::End;
      if (!stays)
        moveEarlier(entry, taken[entry.rank], {peak, weights});
      taken[entry.rank][static_cast<std::size_t>(slotOf(entry))] = true;
    }
    if (weights == Weights::Free)
      placeAllWeights();
    runEarly();
  }

  void placeAllWeights() {
    for (RankSlots &slots : ranks_)
      placeWeights(slots);
  }
  void dropWeights() {
    for (RankSlots &slots : ranks_)
      slots[Weight].clear();
  }

  Orders orders() const {
    Orders orders;
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      const auto near = static_cast<std::int64_t>(r),
                 far = std::ssize(ranks_) * 2 - 1 - near;
      Order order;
      std::deque<Pass> owed;
      for (const Entry &entry : entriesOf(ranks_[r], r)) {
        if (entry.what == Weight) {
          order.push_back(owed.front());
          owed.pop_front();
          continue;
        }
        const bool isForward = entry.what == Forward0 || entry.what == Forward1;
        order.push_back(makePass(
            isForward ? PassKind::Forward : PassKind::InputGradient,
            static_cast<std::int64_t>(entry.index),
            entry.what == Forward0 || entry.what == Input0 ? near : far));
        if (isForward)
          continue;
        owed.push_back(order.back());
        owed.back().kind = PassKind::WeightGradient;
      }
      orders.push_back(std::move(order));
    }
    return orders;
  }

private:
  std::int64_t &slotOf(const Entry &entry) {
    return ranks_[entry.rank][entry.what][entry.index];
  }

  /// The rank that a pass hears from; the number of ranks: none.
  std::size_t sourceOf(std::size_t rank, std::size_t what) const {
    if (what == Forward0 || what == Input1)
      return rank > 0 ? rank - 1 : ranks_.size();
    return rank + 1;
  }

  /// The last slot that the pass has to come after.
  std::int64_t before(const Entry &entry) const {
    const RankSlots &own = ranks_[entry.rank];
    const std::size_t k = entry.index;
    std::int64_t after = -1;
    if (entry.what == Weight) {
      std::vector<std::int64_t> inputs(own[Input0]);
      inputs.insert(inputs.end(), own[Input1].begin(), own[Input1].end());
      std::nth_element(inputs.begin(),
                       inputs.begin() + static_cast<std::ptrdiff_t>(k),
                       inputs.end());
      after = inputs[k];
    } else {
      if (std::size_t source = sourceOf(entry.rank, entry.what);
          source < ranks_.size())
        after = ranks_[source][entry.what][k];
      if (entry.what != Forward0)
        after = std::max(after, own[entry.what - 1][k]);
    }
    return k > 0 ? std::max(after, own[entry.what][k - 1]) : after;
  }

  struct Limit {
    std::int64_t peak;
    Weights weights;
  };
  void moveEarlier(const Entry &entry, const std::vector<bool> &taken,
                   const Limit &limit) {
    SlotTable &table = tables_[entry.rank];
    const auto what = static_cast<std::uint8_t>(entry.what);
    table[static_cast<std::size_t>(entry.slot)] = kWhats;
    for (std::int64_t to = before(entry) + 1; to < entry.slot; ++to) {
      const auto at = static_cast<std::size_t>(to);
      if (taken[at])
        continue;
      table[at] = what;
      // Where all have slots of their own only a forward raises the peak.
      const bool mayRaise = limit.weights == Weights::Free ||
                            what == Forward0 || what == Forward1;
      if (!mayRaise || peakOf(table, limit.weights) <= limit.peak) {
        slotOf(entry) = to;
        return;
      }
      table[at] = kWhats;
    }
    table[static_cast<std::size_t>(entry.slot)] = what;
  }

  /// The same orders with every pass one slot long, as early as it can.
  void runEarly() {
    std::vector<Entry> all;
    for (std::size_t r = 0; r < ranks_.size(); ++r)
      for (const Entry &entry : entriesOf(ranks_[r], r))
        all.push_back(entry);
    std::sort(all.begin(), all.end());
    std::vector<std::int64_t> free(ranks_.size(), 0);
    for (const Entry &entry : all) {
      std::int64_t start = free[entry.rank];
      if (entry.what != Weight)
        if (std::size_t source = sourceOf(entry.rank, entry.what);
            source < ranks_.size())
          start = std::max(start, ranks_[source][entry.what][entry.index] + 1);
      slotOf(entry) = start;
      free[entry.rank] = start + 1;
    }
  }

  std::vector<RankSlots> ranks_;
  std::vector<SlotTable> tables_;
};

/// First slots of a rank's four passes.
using FirstSlots = std::array<std::int64_t, 4>;

Orders makeV(const Shape &shape,
             FirstSlots (*first)(std::int64_t p, std::int64_t r)) {
  std::vector<RankSlots> ranks;
  for (std::int64_t r = 0; r < shape.stages; ++r) {
    RankSlots slots;
    const FirstSlots begin = first(shape.stages, r);
    for (std::size_t what = 0; what < begin.size(); ++what)
      for (std::int64_t k = 0; k < shape.microBatches; ++k)
        slots[what].push_back(begin[what] + 6 * k);
    ranks.push_back(std::move(slots));
  }
  VPattern pattern(std::move(ranks));
  pattern.placeAllWeights();
  pattern.moveTogether(Weights::Placed);
  pattern.dropWeights();
  pattern.moveTogether(Weights::Free);
  pattern.dropWeights();
  pattern.placeAllWeights();
  return pattern.orders();
}

} // namespace

Orders vHalf(const Shape &shape) {
  return makeV(shape, [](std::int64_t p, std::int64_t r) -> FirstSlots {
    const std::int64_t gap = p % 2 == 0 ? 3 : 0;
    return {2 * r, 3 * p - r - 2, 3 * p + gap + 2 * r - 1, 6 * p + gap - r - 2};
  });
}

Orders vMin(const Shape &shape) {
  return makeV(shape, [](std::int64_t p, std::int64_t r) -> FirstSlots {
    const std::int64_t gap = p % 3 == 0 ? 2 : 0;
    return {r, 2 * p - r - 1, 2 * p + gap + r, 4 * p + gap - r - 1};
  });
}

} // namespace planc::schedules
