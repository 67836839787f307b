// From one laying of a value to another: which collectives, in which order.
#pragma once

#include "compiler/shard/Homes.h"

namespace planc::shard {

/// Ranks along each axis that take part.
enum class Members {
  All,    ///< the whole axis
  Parts,  ///< one holder of every part of a dimension
  Copies, ///< the neighbours that hold one part
};

/// Equal changes on one or several axes, done as one collective over their
/// product, where attention works the same way over them.
struct Move {
  StepKind kind = StepKind::Slice;
  std::vector<AxisId> axes; ///< mesh order
  ops::DimId from, to;      ///< as in Step
  Members members = Members::All;
  /// An all-to-all that differs by axis: what each cuts after.
  std::vector<ops::DimId> toByAxis{};
};

/// Smallest first: sums over copies, slices, reduce-scatters, all-reduces,
/// all-to-alls, all-gathers. No axis's change depends on another's.
std::vector<Move> planMoves(const Layout &from, const Layout &to,
                            const Homes &homes);

Layout afterMove(Layout layout, const Move &move, const Homes &homes);

/// Fills the group of `step` (axes, sizes, strides) from the move.
void setGroup(Step &step, const Move &move, const Homes &homes);

} // namespace planc::shard
