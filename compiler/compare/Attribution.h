// Who brought about a change: a sum of parts shared out over the units that
// changed, by applying them one at a time. Pure arithmetic; what a unit is and
// what it costs is data.
#pragma once

#include "runtime/base/Quantity.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace planc::compare {

/// Some of the units: bit i is unit i. At most kMostUnits.
using Units = std::uint64_t;
inline constexpr std::size_t kMostUnits = 62;
/// Up to so many groups, all orders count; with more, the given one and its
/// reverse.
inline constexpr std::size_t kAllOrders = 4;

/// Picoseconds by cause; as many for every set of units.
using Parts = std::vector<std::int64_t>;

struct Game {
  std::size_t units = 0;
  Parts before, after; ///< with no unit applied, with all
  /// The parts with each of these sets applied; nothing for one that cannot be.
  std::function<std::vector<std::optional<Parts>>(const std::vector<Units> &)>
      play;
};

/// Units that were applied together, and what they brought about.
struct Group {
  std::vector<std::size_t> units; ///< ascending
  Parts parts;
};

struct Attribution {
  std::vector<Group> groups; ///< by their first unit
  bool isEveryOrder = true;  ///< else the mean of one order and its reverse
};

/// For each cause the groups' parts add up to exactly `after` − `before`: the
/// mean over orders of what applying a group adds (Shapley 1953), in whole
/// picoseconds by largest remainder, the earlier group first. A set that cannot
/// be applied joins its last group to the first one that makes it possible,
/// else to the first that it lacks; smaller sets are looked at first.
Attribution attribute(const Game &game);

/// Whole numbers nearest to parts ÷ denominator that add up to total ÷
/// denominator, which is whole. Parts may be negative.
std::vector<std::int64_t> shareOut(std::span<const Int128> parts,
                                   Int128 denominator);

} // namespace planc::compare
