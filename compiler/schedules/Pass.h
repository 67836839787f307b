// A pass of one micro-batch through one chunk, and orders of passes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace planc::schedules {

enum class PassKind : std::uint8_t {
  Forward,
  Backward,       ///< whole: gradients of inputs and of weights
  InputGradient,  ///< gradients of inputs alone
  WeightGradient, ///< gradients of weights, some time after InputGradient
};

/// Does the pass send gradients to the chunk before?
constexpr bool sendsBack(PassKind kind) {
  return kind == PassKind::Backward || kind == PassKind::InputGradient;
}
/// Are the chunk's weight gradients of this micro-batch complete after it?
constexpr bool completesWeights(PassKind kind) {
  return kind == PassKind::Backward || kind == PassKind::WeightGradient;
}

struct Pass {
  PassKind kind = PassKind::Forward;
  std::int32_t microBatch = 0;
  std::int32_t chunk = 0; ///< global: 0 … stages·virtualStages − 1
  std::int32_t slice = 0; ///< of the micro-batch's sequence
  /// Runs together with the pass before it in the order: a forward and a
  /// backward of different micro-batches whose collectives and products
  /// overlap (DeepSeek-V3, 2412.19437, 3.2.1).
  bool withPrevious = false;

  bool operator==(const Pass &) const = default;
};

/// What one rank of the pipeline runs, in order.
using Order = std::vector<Pass>;
using Orders = std::vector<Order>; ///< by rank

struct Shape {
  std::int64_t stages = 1, virtualStages = 1, microBatches = 1;
  std::int64_t group = 0;  ///< micro-batches of a group; 0: the schedule's own
  std::int64_t slices = 1; ///< of a sequence
  /// Forwards run together with the backwards that follow them.
  bool hasPairs = false;

  std::int64_t chunks() const { return stages * virtualStages; }
};

/// `F3`, with its chunk `F3.4`, with its slice `F3/1` (`F3.4/1`). The letters:
/// F forward, B backward, W weight gradients alone; D a whole backward where
/// `mixed`, that is where B stands for input gradients alone.
struct PassText {
  bool withChunk = false, withSlice = false, mixed = false;
};
std::string toText(const Pass &pass, const PassText &how);
/// How the passes of these orders are told apart.
PassText textOf(const Orders &orders, std::int64_t chunksPerRank);
/// Passes with a blank between, `&` where two run together.
std::string toText(const Order &order, const PassText &how);

} // namespace planc::schedules
