// How much memory a block holds in some order of its instructions.
#pragma once

#include "runtime/program/ProgramSet.h"

#include <span>

namespace planc::program {

/// What is held while each instruction of `order` runs, over what was there
/// before: results from the begin of what makes them to the end of the last
/// that depends on them (Instruction::makes), less what is let go
/// (Instruction::frees). `order` has each instruction once, after what it
/// depends on; where streams run side by side it is one of the orders that may
/// happen. O(instructions + dependences).
std::vector<Bytes> heldAlong(const Block &block,
                             std::span<const std::uint32_t> order);

/// The most of it; 0 for an empty block.
Bytes peakOf(const Block &block, std::span<const std::uint32_t> order);

/// 0, 1, 2 …: the block as it stands.
std::vector<std::uint32_t> orderAsItStands(const Block &block);

} // namespace planc::program
