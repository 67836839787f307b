// What an instruction costs, alone on its resources, and what it takes from
// others that run beside it.
//
// A cost model is pure: the same question has the same answer, from any thread.
// Formulas and their sources: docs/cost.md.
#pragma once

#include "runtime/base/Quantity.h"
#include "runtime/program/Instruction.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace planc::cost {

/// Millionths: shares are whole numbers, since they end up deciding times.
using PartsPerMillion = std::int64_t;
inline constexpr PartsPerMillion kWhole = 1'000'000;

enum class Bound : std::uint8_t { Arithmetic, Memory };

/// A kernel (or several launched as one instruction), alone on the accelerator.
/// arithmetic + after + launch + straggle ≤ total; the rest of total is
/// arithmetic below the peak when `bound` is Arithmetic, else memory-bound
/// work.
struct ComputeCost {
  Duration total;
  Duration arithmetic; ///< executed flops at the peak of the work's precision
  Duration launch;     ///< gaps before its kernels, and waits for the host
  Duration after;      ///< memory-bound kernels that follow the main one
  Duration straggle;   ///< until the slowest accelerator of the job has it too
  Bound bound = Bound::Memory;
  /// Share of the memory bandwidth it takes while it runs.
  PartsPerMillion memoryShare = 0;
};

enum class Algorithm : std::uint8_t {
  None,         ///< a group of one
  Ring,         ///< as many rings as neighbours, each over its own link
  Tree,         ///< double binary tree over groups, chains inside
  Hierarchical, ///< one level after the other
  Direct,       ///< every member to every other
  InNetwork,    ///< the switches sum or copy
  PointToPoint,
  Torus,         ///< rings in every dimension at once, each with a part
  InNetworkTree, ///< double binary tree over groups whose switches sum
};
std::string_view toString(Algorithm algorithm);

/// What one accelerator puts on its link of one level, innermost first.
struct LevelUse {
  Bytes bytes;
  /// Of the link, while the collective runs alone. Two that run together at
  /// shares a + b > kWhole take (a + b)/kWhole times as long.
  PartsPerMillion share = 0;
};

struct CollectiveCost {
  Duration total;
  Duration latency; ///< part of total that does not depend on bytes
  Algorithm algorithm = Algorithm::None;
  std::vector<LevelUse> levels;    ///< one for each level of the cluster
  std::int64_t units = 0;          ///< taken from compute while it runs
  Bytes memoryTraffic;             ///< read and written, one accelerator
  PartsPerMillion memoryShare = 0; ///< of the memory bandwidth, meanwhile

  bool uses(std::size_t level) const {
    return level < levels.size() && levels[level].bytes.value > 0;
  }
};

/// A line through the time of one collective over its bytes, for choosing
/// bucket boundaries; what a chosen bucket takes is `communicate`'s to say.
struct BucketCost {
  Duration start;
  Duration perMebibyte;

  /// start + bytes · perMebibyte / 2^20, rounded up; saturates.
  Duration at(Bytes bytes) const;
};

class CostModel {
public:
  virtual ~CostModel() = default;

  /// A Compute instruction. Work of no bytes and no flops is its launch gaps.
  virtual ComputeCost compute(program::InstructionKind kind,
                              const program::Work &work) const = 0;

  /// A Collective or Transfer instruction. A group of one costs nothing. The
  /// members of a transfer are its two ends, or all ends of a pipeline axis for
  /// the dearest of its boundaries.
  virtual CollectiveCost communicate(program::InstructionKind kind,
                                     const program::Message &message) const = 0;

  /// Streaming multiprocessors, or whatever computes in parallel, of one
  /// accelerator.
  virtual std::int64_t units() const = 0;

  /// Bytes at one collective's group and kind; `message.bytes` is not read.
  BucketCost bucket(program::InstructionKind kind,
                    const program::Message &message) const;
};

/// What else runs on an accelerator beside a kernel.
struct Beside {
  std::int64_t units = 0;
  PartsPerMillion memoryShare = 0;

  void add(const CollectiveCost &collective) {
    units += collective.units;
    memoryShare += collective.memoryShare;
  }
};

/// How fast a kernel runs beside collectives, against alone: bound by
/// arithmetic, the share of the units left to it; and never faster than the
/// share of memory bandwidth left allows. In (0, kWhole].
PartsPerMillion computeRate(const ComputeCost &kernel, const Beside &beside,
                            std::int64_t units);

} // namespace planc::cost
