// Gradients of weights at the end of a rank's order, layer by layer.
#pragma once

#include "compiler/lower/Blocks.h"

#include <span>

namespace planc::lower {

/// The first of the passes at the end of an order that are one: gradients of
/// weights and nothing else, several of one chunk among them. The order's size
/// where there are none such.
std::size_t weightTail(const schedules::Order &order);

/// Passes of one chunk in a tail.
struct TailGroup {
  std::size_t chunk = 0;
  std::size_t passes = 0;
  std::int32_t lastMicroBatch = 0;
};

/// Chunks with fewest passes first, since their gradients are complete soonest;
/// of equal ones the last of the model.
std::vector<TailGroup> groupsOf(std::span<const schedules::Pass> tail);

struct MergedTail {
  program::Block block;
  /// By group: where the instructions of its last pass have gone.
  std::vector<std::vector<std::uint32_t>> places;
};

/// Group after group, in each the parts of a pass as they stand (the last layer
/// first), in each part one micro-batch after the other. A layer's gradients
/// are so complete while those of others are not begun, and their reduction can
/// start; one pass after the other completes all in the last. Nothing else
/// happens between the passes, so all that they read is in memory throughout.
/// `passes` are the groups' own; their blocks are in `set`.
MergedTail mergeTail(const std::vector<TailGroup> &groups,
                     const std::vector<const ChunkPass *> &passes,
                     const program::ProgramSet &set);

} // namespace planc::lower
