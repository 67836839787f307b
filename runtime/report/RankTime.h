// Time summed over ranks: 128 bits of picoseconds.
#pragma once

#include "runtime/base/Quantity.h"

namespace planc::report {

/// flops ÷ rate in picoseconds, rounded down; 0 without a rate. Exact for any
/// number of FLOPs that a step can have: the product with 10^12 is never made.
inline Int128 timeAtRate(Int128 flops, FlopRate rate) {
  if (rate.value <= 0)
    return 0;
  return flops / rate.value * kPicosecondsPerSecond +
         flops % rate.value * kPicosecondsPerSecond / rate.value;
}

/// Of one rank, on average, rounded down.
inline Duration perRank(Int128 rankTime, std::int64_t ranks) {
  return Duration(ranks > 0 ? static_cast<std::int64_t>(rankTime / ranks) : 0);
}

} // namespace planc::report
