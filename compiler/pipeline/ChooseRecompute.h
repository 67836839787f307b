// Which layers of a stage make what again, so that the stage fits.
#pragma once

#include "runtime/base/Quantity.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace planc::pipeline {

/// One way to run a layer: what a micro-batch keeps from its forward to its
/// backward, the most that a pass holds besides, and how long what is made
/// again takes.
struct RecomputeOption {
  Bytes saved, transient;
  Duration time;
};

/// One stage. Chunks are those of the stage, from 0.
struct RecomputeProblem {
  std::vector<std::vector<RecomputeOption>> options; ///< by kind of layer
  struct Layer {
    std::size_t chunk = 0, kind = 0;
  };
  std::vector<Layer> layers;
  /// A pass of the stage's order: micro-batches in flight through each chunk,
  /// and the chunk at work.
  struct Moment {
    std::vector<std::int64_t> inFlight;
    std::size_t chunk = 0;

    bool operator==(const Moment &) const = default;
  };
  std::vector<Moment> moments;
  Bytes budget;
};

/// An option for each layer with the least time in all that keeps every moment
/// within the budget; nothing when none does. Of equal ones the first in the
/// order of layers and options. A dynamic program over the layers whose states
/// are the memory at every moment; exact while no more than kMostStates of them
/// are worth keeping, else close to it.
inline constexpr std::size_t kMostStates = 256;
std::optional<std::vector<std::size_t>>
chooseRecompute(const RecomputeProblem &problem);

/// The same by trying every combination, for tests.
std::optional<std::vector<std::size_t>>
chooseRecomputeByTrying(const RecomputeProblem &problem);

/// Moments that some other has at least as much in flight of everything in, at
/// work on the same chunk, say nothing; gives the rest in their order.
std::vector<RecomputeProblem::Moment>
withoutDominated(const std::vector<RecomputeProblem::Moment> &moments);

} // namespace planc::pipeline
