// Random problems of tasks and pieces, by the shapes that training has.
#pragma once

#include "runtime/sched/Overlap.h"

#include <cstdint>
#include <string_view>

namespace planc::tests {

enum class OverlapFamily {
  Backward,     ///< a chain, weight gradients beside it, one large last piece
  TwoStreams,   ///< the same with collectives inside the chain
  Groups,       ///< pieces of up to three groups, costs of two levels
  Gathers,      ///< parameters gathered before their first use, then reduced
  Latency,      ///< Backward, nearly all of a message is its latency
  NetworkBound, ///< Backward, the link is slower than the tasks
  ComputeBound, ///< Backward, the link is hardly used
  Anything      ///< no shape at all
};
inline constexpr std::size_t kOverlapFamilies = 8;
std::string_view nameOf(OverlapFamily family);

/// `layers` 1 to 4 keeps within what the exact search takes.
sched::OverlapProblem overlapInstance(OverlapFamily family, std::uint32_t seed,
                                      std::size_t layers);

} // namespace planc::tests
