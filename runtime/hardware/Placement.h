// Which links the members of a group can use.
#pragma once

#include "runtime/hardware/Cluster.h"

#include <cstdint>
#include <span>
#include <vector>

namespace planc::hardware {

/// A group cut by the levels of a cluster: perLevel[l] is how many groups of
/// the level inside it (members, at l = 0) it has in each group of level l. The
/// product is the number of members.
///
/// Tensor parallelism of 8 inside a node: [8, 1, 1]. Data parallelism of 128
/// with a stride of 8, nodes of 8 and pods of 384 nodes: [1, 128, 1].
struct GroupShape {
  std::vector<std::int64_t> perLevel;
  /// How many groups of the level inside lie from one of its members to the
  /// next along each level; where several axes of a group share a level, as
  /// many as if they were spread over all of it.
  std::vector<std::int64_t> apart;

  std::int64_t members() const;
  /// Members inside one group of the level below `level`: how many links of
  /// `level` one such group brings together.
  std::int64_t membersBelow(std::size_t level) const;
  /// Outermost level with more than one; nothing for a group of one.
  std::optional<std::size_t> outermost() const;
};

/// The axes of a group, outermost first, in whole accelerators: members are
/// base + Σ i_a·strides[a], 0 ≤ i_a < sizes[a].
struct GroupAxes {
  std::span<const std::int64_t> sizes, strides;
};

/// The shape of the group that crosses most, over all the equal groups the mesh
/// makes (their bases differ). Where a group straddles a boundary, such as 6
/// neighbours on nodes of 8, only the largest equal parts count as together:
/// gcd(6, 8) = 2 in a node, so [2, 3]; a stride that does not divide a level's
/// size leaves nobody together in it. So links inside are never overrated.
/// What passes the outermost level counts as crossing it.
GroupShape shapeOf(const Cluster &cluster, const GroupAxes &axes);

} // namespace planc::hardware
