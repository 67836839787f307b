// What the algorithms of CollectiveCost.cpp and TorusCost.cpp share; for them
// alone.
#pragma once

#include "runtime/cost/CollectiveCost.h"

#include <cmath>
#include <vector>

namespace planc::cost {

/// Phases a collective is made of: all-reduce is a reduce-scatter and an
/// all-gather.
inline double phases(program::InstructionKind kind) {
  return kind == program::InstructionKind::AllReduce ? 2 : 1;
}

/// Per accelerator: bytes on its link of each level, and the seconds they take.
/// Levels that work at the same time take the longest of them, phases that
/// follow each other add up.
struct CollectiveCosts::Traffic {
  Algorithm algorithm = Algorithm::None;
  std::vector<double> bytes;
  double latency = 0, busy = 0, sent = 0;
};

struct CollectiveCosts::Request {
  program::InstructionKind kind = program::InstructionKind::AllReduce;
  double bytes = 0;
  hardware::GroupShape shape;
  double members = 1;
  std::size_t outermost = 0;
  /// Tokens to experts: copies of one among the bytes, and the nodes it goes to
  /// at most.
  double copies = 0, nodes = 0;

  double at(std::size_t level) const {
    return static_cast<double>(shape.perLevel[level]);
  }
  double below(std::size_t level) const {
    return static_cast<double>(shape.membersBelow(level));
  }
};

/// What a link moves slowly at first (docs/cost.md, C5 to C9).
struct Ramp {
  double half = 0, root = 0; ///< message_half, message_ramp; bytes

  explicit Ramp(const hardware::LevelConstants &c)
      : half(c.messageHalf), root(c.messageRamp) {}
  /// Of one of `steps` equal steps of a message.
  Ramp over(double steps) const {
    Ramp out = *this;
    out.half /= steps;
    out.root /= steps;
    return out;
  }
  /// Bytes that take as long at the full rate as `bytes` do.
  double laden(double bytes) const {
    return bytes + half + std::sqrt(bytes * root);
  }
};

/// A group along one dimension of a torus.
struct TorusLine {
  double members = 1;
  double apart = 1; ///< links from one member to the next
  double links = 1; ///< of a member that carry: 2 where the line is closed

  bool isClosed() const { return links > 1; }
  /// Links to the farthest member.
  double farthest() const;
  /// All-to-all: bytes on the busiest link, in one direction, for each byte a
  /// member sends.
  double exchanged() const;
};
TorusLine lineOf(const hardware::Cluster &cluster,
                 const hardware::GroupShape &shape, std::size_t level);

} // namespace planc::cost
