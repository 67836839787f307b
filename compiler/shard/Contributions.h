// Several gradients of one value, added while partial and brought home once.
#pragma once

#include "compiler/shard/Relay.h"

#include <functional>

namespace planc::shard {

struct Contributions {
  std::vector<ShardedValueId> values;
  Layout home;
  /// Nobody needs the sum at home: where all are partial it stays partial.
  /// (Where all are partial over copies only, it always does.)
  enum class Rest { AtHome, Partial } rest = Rest::AtHome;
  /// Emits the addition of some of the values, laid alike.
  std::function<ShardedValueId(const std::vector<ShardedValueId> &)> add;
};

/// Brings all contributions to one laying. Those that lie alike are added
/// before a collective; the axes on which the fewest are partial go first, so
/// that sums over more axes join those over fewer. Gives what is left to add
/// (one value: nothing is).
std::vector<ShardedValueId> settle(Contributions contributions,
                                   Emission &emission,
                                   const MoveContext &context);

} // namespace planc::shard
