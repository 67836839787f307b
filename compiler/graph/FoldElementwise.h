// Pass: elementwise neighbours become one kernel.
//
// Kernels are found as groups of operators of one straight line. Two groups
// become one only if no operator outside would then have to run both before and
// after it. At most kMostFused operators share a kernel.
#pragma once

#include "compiler/ops/Op.h"

namespace planc::graph {

inline constexpr std::size_t kMostFused = 32;

class KernelGroups {
public:
  /// Every operator is a group of its own.
  explicit KernelGroups(const std::vector<ops::Op> &ops);

  /// Makes one group of these operators' groups, if it can be one kernel.
  void join(const std::vector<std::size_t> &members);

  /// Joins an elementwise operator with all readers of one of its results, when
  /// they are elementwise, in its phase, and nothing else reads it.
  /// `readOutside` holds, by value, whether something beyond this line reads
  /// it.
  void joinNeighbours(const std::vector<bool> &readOutside);

  /// Puts each group's operators next to each other, in an order that can be
  /// executed and else follows the old one, and numbers the kernels from
  /// `first`. Returns the number after the last.
  std::size_t lay(std::vector<ops::Op> &ops, std::size_t first) const;

private:
  std::size_t sizeOf(std::size_t group) const;
  bool isAcyclic(const std::vector<std::size_t> &groups) const;
  std::vector<std::size_t> order(const std::vector<std::size_t> &groups) const;

  const std::vector<ops::Op> &ops_;
  std::vector<std::size_t> group_; ///< by operator: the first one of its group
  std::vector<std::vector<std::size_t>> readers_; ///< by operator
};

} // namespace planc::graph
