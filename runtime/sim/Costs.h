// Durations as data: what runtime/cost (or a program that states its own
// durations) says every instruction, message and bucket takes alone.
#pragma once

#include "runtime/base/Status.h"
#include "runtime/cost/CostModel.h"
#include "runtime/program/ProgramSet.h"

#include <array>
#include <functional>
#include <vector>

namespace planc::sim {

/// Levels of a cluster that the simulation tells apart.
inline constexpr std::size_t kLevels = 8;

/// What an operation takes when nothing runs beside it.
struct OpCost {
  /// All of it. A message holds its links for duration − latency, and has
  /// arrived after `duration`.
  Duration duration;
  /// Send: the part that holds nothing. Bucket: the part that does not depend
  /// on bytes, for bounds; it holds the links like the rest.
  Duration latency;
  /// Of the accelerator's, taken from the kernels beside.
  std::int32_t units = 0;
  /// Of the memory bandwidth, in millionths.
  std::int32_t memoryShare = 0;
  cost::Bound bound = cost::Bound::Memory; ///< kernels
  /// Of the rank's link of each level, in millionths, in both directions; a
  /// Send uses the outward one here and the inward one at the receiver.
  std::array<std::int32_t, kLevels> links{};
  bool operator==(const OpCost &) const = default;
};

struct Costs {
  std::int32_t units = 1; ///< of the accelerator
  /// By block and instruction.
  std::vector<std::vector<OpCost>> instructions;
  /// By class and task; read for Send and Collective only.
  std::vector<std::vector<OpCost>> tasks;
  /// A bucket of `bytes` whose pieces are like `piece`. Asked a few times for
  /// each bucket, not in the inner loop.
  std::function<OpCost(const program::RankProgram &, const program::Piece &,
                       Bytes bytes)>
      bucket;
};

/// α + β·bytes: what a bucket costs where nothing else is known.
struct AffineCost {
  Duration latency;
  Duration perMebibyte;
  OpCost operator()(const program::RankProgram &, const program::Piece &,
                    Bytes bytes) const;
};

/// What the cost model says, or the instruction itself where it states a
/// duration. The model must outlive the result.
Costs modelCosts(const program::ProgramSet &set, const cost::CostModel &model);

/// The durations the program itself states. A Send without bytes is latency
/// only. Illegal when an instruction or message states none.
Result<Costs> statedCosts(const program::ProgramSet &set, AffineCost bucket);

} // namespace planc::sim
