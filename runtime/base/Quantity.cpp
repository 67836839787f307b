#include "runtime/base/Quantity.h"

#include <cmath>

namespace planc {

namespace {
// Half of the range: sums of two durations still fit.
constexpr double kLargest = 4.6e18;
constexpr double kPicoseconds = static_cast<double>(kPicosecondsPerSecond);

Duration fromPicoseconds(double ps) {
  if (!(ps > 0))
    return Duration(0);
  return Duration(ps >= kLargest ? static_cast<std::int64_t>(kLargest)
                                 : static_cast<std::int64_t>(std::ceil(ps)));
}
} // namespace

Duration durationFromSeconds(double seconds) {
  return fromPicoseconds(seconds * kPicoseconds);
}

Duration transferTime(Bytes bytes, ByteRate rate, double efficiency) {
  return fromPicoseconds(bytes.toDouble() * kPicoseconds /
                         (rate.toDouble() * efficiency));
}

Duration computeTime(Flops flops, FlopRate rate, double efficiency) {
  return fromPicoseconds(flops.toDouble() * kPicoseconds /
                         (rate.toDouble() * efficiency));
}

} // namespace planc
