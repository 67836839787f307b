// A forward and a backward of different micro-batches as one block, so that the
// collectives of one run under the compute of the other.
#pragma once

#include "runtime/program/ProgramSet.h"

#include <functional>
#include <vector>

namespace planc::lower {

struct MergedPasses {
  program::Block block;
  /// Where the instructions of each have gone.
  std::vector<std::uint32_t> first, second;
};

using InstructionTime = std::function<Duration(const program::Instruction &)>;

/// One after the other: the simple version.
MergedPasses concatenatePasses(const program::Block &first,
                               const program::Block &second);

/// Each list keeps its own order; between the two heads the one that can start
/// first goes first, the second list's of equals. Whichever is shorter of this
/// and the simple version; without times the simple version.
MergedPasses mergePasses(const program::Block &first,
                         const program::Block &second,
                         const InstructionTime &time);

/// How long instructions take on streams of their own, each `time` long.
Duration lengthOf(const std::vector<program::Instruction> &instructions,
                  const InstructionTime &time);

} // namespace planc::lower
