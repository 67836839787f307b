// Where the ranks of a measured table sit on a cluster.
#pragma once

#include "runtime/calibrate/NcclLog.h"
#include "runtime/hardware/Cluster.h"
#include "runtime/program/Instruction.h"

namespace planc::calibrate {

/// Sizes that bandwidths are fitted to and errors said of.
inline constexpr std::int64_t kLargeMessage = 1 << 20;

/// Sizes of one test that links are fitted to; nccl-tests steps by factors.
inline constexpr std::size_t kMostSizes = 256;

/// Groups of the innermost level and ranks of each, as the user says them
/// (`LOG@12x8`); 0: as the log says.
struct Shape {
  std::int64_t groups = 0, ranks = 0;
};

/// A table with what its rows cost on a cluster.
struct Placed {
  LogTable table;
  Shape shape;
  program::InstructionKind kind = program::InstructionKind::AllReduce;
  program::Message message; ///< bytes are a row's
  std::size_t level = 0;    ///< the outermost that the ranks cross
  std::string note;         ///< what was assumed; mostly empty
};

/// The table placed on `cluster`, whose levels are widened as far as it takes.
/// Fails where the ranks are unknown, several groups meet a cluster of one
/// level, no size is 1 MiB, there are too many, or the test is none that planc
/// costs.
struct Placement {
  std::optional<Placed> placed;
  std::optional<LogProblem> error;
};
Placement place(const LogTable &table, const Shape &said,
                const hardware::Cluster &cluster);

/// Rows' levels as wide as the widest table needs.
void widen(hardware::Cluster &cluster, const Placed &placed);

} // namespace planc::calibrate
