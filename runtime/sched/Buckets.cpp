#include "runtime/sched/Algorithms.h"
#include "runtime/sched/Saturated.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <optional>

namespace planc::sched {

Duration LinkCost::of(Bytes bytes) const {
  constexpr Int128 kGibibyte = Int128(1) << 30;
  constexpr Int128 kMost = std::numeric_limits<std::int64_t>::max() / 4;
  Int128 flow = (Int128(bytes.value) * psPerGibibyte + (kGibibyte - 1)) >> 30;
  return Duration(
      static_cast<std::int64_t>(std::min(latency.value + flow, kMost)));
}

namespace {

Buckets closeAt(std::span<const Item> items, std::int64_t cap,
                std::int64_t firstCap) {
  Buckets ends;
  std::int64_t size = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (__builtin_add_overflow(size, items[i].bytes.value, &size))
      size = std::numeric_limits<std::int64_t>::max();
    if (size >= (ends.empty() ? firstCap : cap)) {
      ends.push_back(i + 1);
      size = 0;
    }
  }
  if (!items.empty() && (ends.empty() || ends.back() != items.size()))
    ends.push_back(items.size());
  return ends;
}

} // namespace

Buckets bucketsFixed(std::span<const Item> items, Bytes cap, Bytes firstCap) {
  return closeAt(items, cap.value, firstCap.value);
}

Buckets bucketsMegatron(std::span<const Item> items, std::int64_t replicas,
                        std::int64_t bytesPerParameter) {
  std::int64_t parameters =
      std::max<std::int64_t>(40'000'000, 1'000'000 * replicas);
  std::int64_t cap = parameters * bytesPerParameter;
  return closeAt(items, cap, cap);
}

Buckets bucketsOne(std::span<const Item> items) {
  return items.empty() ? Buckets{} : Buckets{items.size()};
}

Buckets bucketsByGroup(std::span<const std::int32_t> groups) {
  Buckets ends;
  for (std::size_t i = 1; i <= groups.size(); ++i)
    if (i == groups.size() || groups[i] != groups[i - 1])
      ends.push_back(i);
  return ends;
}

namespace {

/// Begins of the last bucket that may be best, for ends that grow: of those
/// that can end no earlier than the items are ready the one with the least
/// finish − bytes sent at the link's rate stands first.
class Candidates {
public:
  Candidates(std::span<const std::int64_t> sums, const LinkCost &cost)
      : sums_(sums), rate_(cost.psPerGibibyte) {}

  void add(std::size_t begin, Duration finish) {
    Int128 key = (Int128(finish.value) << 30) - Int128(rate_) * sums_[begin];
    while (!queue_.empty() && queue_.back().key > key)
      queue_.pop_back();
    queue_.push_back({begin, key});
  }
  void dropBefore(std::size_t begin) {
    while (!queue_.empty() && queue_.front().begin < begin)
      queue_.pop_front();
  }
  std::optional<std::size_t> best() const {
    return queue_.empty() ? std::nullopt : std::optional(queue_.front().begin);
  }

private:
  struct Candidate {
    std::size_t begin;
    Int128 key;
  };
  std::span<const std::int64_t> sums_;
  std::int64_t rate_;
  std::deque<Candidate> queue_;
};

} // namespace

Buckets bucketsOptimal(std::span<const Item> items, const LinkCost &cost) {
  std::size_t n = items.size();
  std::vector<std::int64_t> sums = prefixSums(items);
  std::vector<Duration> finish(n + 1);
  std::vector<std::size_t> from(n + 1), count(n + 1);
  Candidates busy(sums, cost);
  // Begins below `idle` leave the link free before item j is ready: the last of
  // them sends the fewest bytes. Finishes do not decrease, so `idle` only
  // grows.
  std::size_t idle = 0;
  for (std::size_t j = 1; j <= n; ++j) {
    busy.add(j - 1, finish[j - 1]);
    Duration ready = items[j - 1].ready;
    while (idle < j && finish[idle] <= ready)
      ++idle;
    busy.dropBefore(idle);
    bool found = false;
    auto consider = [&](std::size_t i) {
      Duration end = saturated(std::max(finish[i], ready) +
                               cost.of(Bytes(sums[j] - sums[i])));
      if (found &&
          (end > finish[j] || (end == finish[j] && count[i] + 1 >= count[j])))
        return;
      found = true;
      finish[j] = end;
      from[j] = i;
      count[j] = count[i] + 1;
    };
    if (idle > 0)
      consider(idle - 1);
    if (auto begin = busy.best())
      consider(*begin);
  }
  Buckets ends;
  for (std::size_t j = n; j > 0; j = from[j])
    ends.push_back(j);
  std::reverse(ends.begin(), ends.end());
  return ends;
}

Duration finishOf(std::span<const Item> items, const Buckets &buckets,
                  const LinkCost &cost) {
  std::vector<std::int64_t> sums = prefixSums(items);
  Duration finish(0);
  std::size_t begin = 0;
  for (std::size_t end : buckets) {
    finish = saturated(std::max(finish, items[end - 1].ready) +
                       cost.of(Bytes(sums[end] - sums[begin])));
    begin = end;
  }
  return finish;
}

Duration bucketLowerBound(std::span<const Item> items, const LinkCost &cost) {
  std::vector<std::int64_t> sums = prefixSums(items);
  Duration bound(0);
  for (std::size_t j = 0; j < items.size(); ++j)
    bound = std::max(bound, saturated(items[j].ready +
                                      cost.of(Bytes(sums.back() - sums[j]))));
  return bound;
}

} // namespace planc::sched
