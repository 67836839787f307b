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

/// A step of the size that plans have: per layer four tasks forward, four
/// backward, two gradients of weights and a piece; the last piece is large.
struct TrainingStep {
  int layers = 500;
  int linkPercent = 100;    ///< all bytes, of the time of all tasks
  bool collectives = false; ///< every fourth task of a chain on a second stream
  bool gathers = false;     ///< parameters of a layer before its first task
  int groups = 1;           ///< of gradients, in turn
};
sched::OverlapProblem trainingStep(const TrainingStep &step);

} // namespace planc::tests
