#include "runtime/hardware/Placement.h"

#include <algorithm>
#include <numeric>

namespace planc::hardware {

std::int64_t GroupShape::members() const {
  return membersBelow(perLevel.size());
}

std::int64_t GroupShape::membersBelow(std::size_t level) const {
  std::int64_t n = 1;
  for (std::size_t l = 0; l < level && l < perLevel.size(); ++l)
    n *= perLevel[l];
  return n;
}

std::optional<std::size_t> GroupShape::outermost() const {
  for (std::size_t l = perLevel.size(); l > 0; --l)
    if (perLevel[l - 1] > 1)
      return l - 1;
  return std::nullopt;
}

namespace {

struct Axis {
  std::int64_t size = 1, stride = 1;
};

/// Innermost first, without axes of one, neighbours joined: 4 members 8 apart
/// outside 8 members next to each other are 32 next to each other.
std::vector<Axis> joined(const GroupAxes &axes) {
  std::vector<Axis> out;
  const std::size_t count = std::min(axes.sizes.size(), axes.strides.size());
  for (std::size_t i = count; i > 0; --i) {
    const Axis axis{axes.sizes[i - 1],
                    std::max<std::int64_t>(axes.strides[i - 1], 1)};
    if (axis.size <= 1)
      continue;
    if (!out.empty() && axis.stride % out.back().size == 0 &&
        axis.stride / out.back().size == out.back().stride)
      out.back().size *= axis.size;
    else
      out.push_back(axis);
  }
  return out;
}

/// How many neighbours along the axis share every group of `groupSize`
/// accelerators that holds one of them.
std::int64_t together(const Axis &axis, std::int64_t groupSize) {
  if (groupSize % axis.stride != 0)
    return 1;
  return std::gcd(axis.size, groupSize / axis.stride);
}

/// `count` neighbours along one level of an axis with this stride.
struct Along {
  std::size_t level = 0;
  std::int64_t count = 1, stride = 1;
};

void place(const Cluster &cluster, const Along &along, GroupShape &shape) {
  if (along.count <= 1)
    return;
  std::int64_t &members = shape.perLevel[along.level];
  std::int64_t &apart = shape.apart[along.level];
  const std::int64_t below =
      along.level == 0 ? 1 : cluster.groupSize(along.level - 1);
  const bool isFirst = members == 1;
  members *= along.count;
  const std::int64_t of =
      along.level < cluster.levels.size() ? cluster.levels[along.level].of : 1;
  apart =
      std::max<std::int64_t>(1, isFirst ? along.stride / below : of / members);
}

} // namespace

GroupShape shapeOf(const Cluster &cluster, const GroupAxes &axes) {
  GroupShape shape;
  shape.perLevel.assign(std::max<std::size_t>(cluster.levels.size(), 1), 1);
  shape.apart = shape.perLevel;
  const std::size_t last = shape.perLevel.size() - 1;
  for (const Axis &axis : joined(axes)) {
    std::int64_t inside = 1;
    for (std::size_t l = 0; l <= last; ++l) {
      const std::int64_t upTo =
          l == last ? axis.size : together(axis, cluster.groupSize(l));
      place(cluster, {l, upTo / inside, axis.stride}, shape);
      inside = upTo;
    }
  }
  return shape;
}

} // namespace planc::hardware
