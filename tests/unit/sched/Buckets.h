// Links in small numbers, and buckets by trying them all.
#pragma once

#include "runtime/sched/Algorithms.h"
#include "runtime/sched/TwoLinks.h"

#include <algorithm>
#include <vector>

namespace planc::sched::test {

/// One byte takes `perByte` picoseconds.
inline LinkCost linkOf(std::int64_t latency, std::int64_t perByte) {
  return {Duration(latency), perByte << 30};
}

/// The least finish over all 2^(n − 1) partitions; of one link, or of two.
template <class Links>
Duration bruteForce(const std::vector<Item> &items, const Links &links) {
  Duration best(1'000'000'000);
  for (unsigned cuts = 0; cuts < 1u << (items.size() - 1); ++cuts) {
    Buckets ends;
    for (std::size_t i = 0; i + 1 < items.size(); ++i)
      if (cuts >> i & 1)
        ends.push_back(i + 1);
    ends.push_back(items.size());
    best = std::min(best, finishOf(items, ends, links));
  }
  return best;
}

} // namespace planc::sched::test
