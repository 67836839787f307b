// Sums that stop before they overflow.
#pragma once

#include "runtime/sched/Algorithms.h"

#include <algorithm>
#include <limits>

namespace planc::sched {

/// Times stop here, far from where they would overflow.
inline Duration saturated(Duration time) {
  return std::min(time, Duration(std::numeric_limits<std::int64_t>::max() / 4));
}

/// P_0 = 0 … P_n, saturated.
inline std::vector<std::int64_t> prefixSums(std::span<const Item> items) {
  std::vector<std::int64_t> sums = {0};
  for (const Item &item : items) {
    std::int64_t next = 0;
    if (__builtin_add_overflow(sums.back(), item.bytes.value, &next))
      next = std::numeric_limits<std::int64_t>::max();
    sums.push_back(next);
  }
  return sums;
}

} // namespace planc::sched
