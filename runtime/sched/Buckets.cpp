#include "runtime/sched/Algorithms.h"

#include <algorithm>
#include <limits>

namespace planc::sched {

Duration LinkCost::of(Bytes bytes) const {
  constexpr Int128 kGibibyte = Int128(1) << 30;
  constexpr Int128 kMost = std::numeric_limits<std::int64_t>::max() / 4;
  Int128 flow =
      (Int128(bytes.value) * psPerGibibyte + (kGibibyte - 1)) / kGibibyte;
  return Duration(
      static_cast<std::int64_t>(std::min(latency.value + flow, kMost)));
}

namespace {

Duration saturated(Duration time) {
  return std::min(time, Duration(std::numeric_limits<std::int64_t>::max() / 4));
}

/// P_0 = 0 … P_n, saturated.
std::vector<std::int64_t> prefixSums(std::span<const Item> items) {
  std::vector<std::int64_t> sums = {0};
  for (const Item &item : items) {
    std::int64_t next = 0;
    if (__builtin_add_overflow(sums.back(), item.bytes.value, &next))
      next = std::numeric_limits<std::int64_t>::max();
    sums.push_back(next);
  }
  return sums;
}

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

Buckets bucketsOptimal(std::span<const Item> items, const LinkCost &cost) {
  std::size_t n = items.size();
  std::vector<std::int64_t> sums = prefixSums(items);
  std::vector<Duration> finish(n + 1);
  std::vector<std::size_t> from(n + 1), count(n + 1);
  for (std::size_t j = 1; j <= n; ++j) {
    bool first = true;
    for (std::size_t i = 0; i < j; ++i) {
      Duration end = saturated(std::max(finish[i], items[j - 1].ready) +
                               cost.of(Bytes(sums[j] - sums[i])));
      bool better = first || end < finish[j] ||
                    (end == finish[j] && count[i] + 1 < count[j]);
      if (!better)
        continue;
      first = false;
      finish[j] = end;
      from[j] = i;
      count[j] = count[i] + 1;
    }
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
