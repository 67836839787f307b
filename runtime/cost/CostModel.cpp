#include "runtime/cost/CostModel.h"

#include <algorithm>
#include <limits>

namespace planc::cost {

std::string_view toString(Algorithm algorithm) {
  switch (algorithm) {
  case Algorithm::None:
    return "none";
  case Algorithm::Ring:
    return "ring";
  case Algorithm::Tree:
    return "tree";
  case Algorithm::Hierarchical:
    return "hierarchical";
  case Algorithm::Direct:
    return "direct";
  case Algorithm::InNetwork:
    return "in-network";
  case Algorithm::PointToPoint:
    return "point-to-point";
  case Algorithm::Torus:
    return "torus";
  case Algorithm::InNetworkTree:
    return "in-network tree";
  }
  return "none";
}

namespace {
constexpr std::int64_t kMebibyte = 1 << 20;
constexpr std::int64_t kSmallBucket = 32 * kMebibyte;
constexpr std::int64_t kLargeBucket = 512 * kMebibyte;
/// Never less than this share of a kernel's own speed: what runs beside it may
/// want all of the machine, but takes turns.
constexpr PartsPerMillion kLeastRate = kWhole / 10;
} // namespace

Duration BucketCost::at(Bytes bytes) const {
  const Int128 scaled =
      static_cast<Int128>(std::max<std::int64_t>(bytes.value, 0)) *
      perMebibyte.value;
  const Int128 sum = (scaled + kMebibyte - 1) / kMebibyte + start.value;
  const Int128 largest = std::numeric_limits<std::int64_t>::max() / 2;
  return Duration(static_cast<std::int64_t>(std::min(sum, largest)));
}

BucketCost CostModel::bucket(program::InstructionKind kind,
                             const program::Message &message) const {
  program::Message probe = message;
  probe.bytes = Bytes(kSmallBucket);
  const std::int64_t small = communicate(kind, probe).total.value;
  probe.bytes = Bytes(kLargeBucket);
  const std::int64_t large = communicate(kind, probe).total.value;
  BucketCost cost;
  cost.perMebibyte =
      Duration((large - small) / ((kLargeBucket - kSmallBucket) / kMebibyte));
  cost.start = Duration(std::max<std::int64_t>(
      0, small - cost.perMebibyte.value * (kSmallBucket / kMebibyte)));
  return cost;
}

PartsPerMillion computeRate(const ComputeCost &kernel, const Beside &beside,
                            std::int64_t units) {
  PartsPerMillion rate = kWhole;
  if (kernel.bound == Bound::Arithmetic && units > 0)
    rate = std::max<std::int64_t>(units - beside.units, 0) * kWhole / units;
  const PartsPerMillion left =
      std::max<PartsPerMillion>(kWhole - beside.memoryShare, 0);
  if (kernel.memoryShare > left)
    rate = std::min(rate, left * kWhole / kernel.memoryShare);
  return std::max(rate, kLeastRate);
}

} // namespace planc::cost
