#include "runtime/sched/TwoLinks.h"

#include "runtime/sched/Saturated.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace planc::sched {

namespace {

/// The links after a prefix, and how it came about.
struct State {
  Duration first, second;
  std::size_t count = 0;            ///< buckets
  std::size_t prefix = 0, from = 0; ///< the prefix before, and its state there
};

State sendOn(const State &state, Duration ready, Bytes bytes,
             const TwoLinks &links) {
  State out;
  out.first = saturated(std::max(state.first, ready) + links.first.of(bytes));
  out.second =
      saturated(std::max(state.second, out.first) + links.second.of(bytes));
  out.count = state.count + 1;
  return out;
}

/// Of the states of a prefix those that no other is below in both; by rising
/// finish of the first link.
void keepBest(std::vector<State> &states) {
  std::stable_sort(states.begin(), states.end(),
                   [](const State &a, const State &b) {
                     return std::tie(a.first, a.second, a.count) <
                            std::tie(b.first, b.second, b.count);
                   });
  std::size_t kept = 0;
  for (const State &state : states)
    if (kept == 0 || state.second < states[kept - 1].second)
      states[kept++] = state;
  states.resize(kept);
}

} // namespace

Duration finishOf(std::span<const Item> items, const Buckets &buckets,
                  const TwoLinks &links) {
  std::vector<std::int64_t> sums = prefixSums(items);
  State state;
  std::size_t begin = 0;
  for (std::size_t end : buckets) {
    state = sendOn(state, items[end - 1].ready, Bytes(sums[end] - sums[begin]),
                   links);
    begin = end;
  }
  return state.second;
}

Buckets bucketsOptimal(std::span<const Item> items, const TwoLinks &links) {
  std::size_t n = items.size();
  std::vector<std::int64_t> sums = prefixSums(items);
  std::vector<std::vector<State>> states(n + 1);
  states[0].push_back({});
  for (std::size_t j = 1; j <= n; ++j) {
    for (std::size_t i = 0; i < j; ++i)
      for (std::size_t s = 0; s < states[i].size(); ++s) {
        State next = sendOn(states[i][s], items[j - 1].ready,
                            Bytes(sums[j] - sums[i]), links);
        next.prefix = i;
        next.from = s;
        states[j].push_back(next);
      }
    keepBest(states[j]);
  }
  // Along a front the second finish falls: the last state is the best.
  Buckets ends;
  for (std::size_t j = n, s = states[n].size() - 1; j > 0;) {
    ends.push_back(j);
    const State &state = states[j][s];
    j = state.prefix;
    s = state.from;
  }
  std::reverse(ends.begin(), ends.end());
  return ends;
}

Duration bucketLowerBound(std::span<const Item> items, const TwoLinks &links) {
  std::vector<std::int64_t> sums = prefixSums(items);
  Duration bound(0);
  Bytes least(std::numeric_limits<std::int64_t>::max());
  for (std::size_t j = items.size(); j-- > 0;) {
    least = std::min(least, items[j].bytes);
    Bytes rest(sums.back() - sums[j]);
    Duration ready = items[j].ready;
    // Of the items from j on, one is in the last bucket and one in the first.
    bound = std::max(bound, saturated(saturated(ready + links.first.of(rest)) +
                                      links.second.of(items.back().bytes)));
    bound = std::max(bound, saturated(saturated(ready + links.first.of(least)) +
                                      links.second.of(rest)));
    bound = std::max(
        bound, saturated(saturated(ready + links.first.of(items[j].bytes)) +
                         links.second.of(items[j].bytes)));
  }
  return bound;
}

} // namespace planc::sched
