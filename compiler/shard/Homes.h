// Where every tensor lies on every axis, and how dimensions are split.
#pragma once

#include "compiler/shard/ShardedGraph.h"

namespace planc::shard {

/// The plan's lists, looked up by dimension. Axes of size 1 cut nothing.
///
/// A dimension is split once for the whole plan: one factor for each axis that
/// lists it, in mesh order, outermost first; then, for the heads of attention,
/// one for each axis that only borrows them (ulysses). Where an axis is larger
/// than what is left (`kv_heads`), neighbours along it hold copies of one part.
class Homes {
public:
  Homes(const graph::OpGraph &graph, const sema::Plan &plan);

  std::size_t axisCount() const { return plan_->mesh.axes.size(); }
  const sema::Plan &plan() const { return *plan_; }
  std::int64_t size(AxisId axis) const { return plan_->mesh.axes[axis].size; }
  /// Accelerators between neighbours along the axis.
  std::int64_t stride(AxisId axis) const;

  /// Place of `dim` in the axis's list; none: the axis does not list it.
  std::optional<std::size_t> rank(ops::DimId dim, AxisId axis) const;

  /// The dimension of `dims` that `axis` cuts: the first of its list that is
  /// there. Invalid: whole on the axis.
  ops::DimId home(const ops::Dims &dims, AxisId axis) const;
  /// The home on every axis.
  Layout layout(const ops::Dims &dims) const;
  /// Whole on every axis.
  Layout whole() const;

  /// How attention works over the axis where it cuts the sequence.
  sema::ContextMethod method(AxisId axis) const {
    return plan_->context.contains(axis) ? plan_->context[axis].method
                                         : sema::ContextMethod::Gather;
  }
  /// The dimension of `dims` that the axis borrows for attention; invalid:
  /// none.
  ops::DimId borrowed(const ops::Dims &dims, AxisId axis) const;

  /// Parts that `axis` cuts `dim` into; 1 where it does not list it.
  std::int64_t parts(ops::DimId dim, AxisId axis) const;
  /// Neighbours along the axis that hold one part: size ÷ parts.
  std::int64_t copies(ops::DimId dim, AxisId axis) const;

  /// Sizes on one rank. A dimension that stands twice is cut where it stands
  /// first.
  std::vector<std::int64_t> localSizes(const ops::Dims &dims,
                                       const Layout &layout) const;

private:
  struct Entry {
    std::int32_t rank = -1;
    std::int64_t parts = 1;
    bool isBorrowed = false;
  };
  void borrowHeads(const graph::OpGraph &graph,
                   std::vector<std::int64_t> &left);
  const Entry &entry(ops::DimId dim, AxisId axis) const {
    return entries_[dim.index() * axisCount() + axis.index()];
  }

  const ops::DimTable *dims_;
  const sema::Plan *plan_;
  std::vector<Entry> entries_; ///< by dimension, then axis
};

/// How a weight is stored: its home on every axis, but whole where an operator
/// needs the home dimension whole (a norm's gain, a router).
Table<ops::WeightId, Layout> weightLayouts(const graph::OpGraph &graph,
                                           const Homes &homes);

/// Elements that are there: of routed rows what the busiest rank holds.
std::int64_t heldElements(const ops::Value &value,
                          const std::vector<std::int64_t> &sizes);
/// Product of sizes; the largest number where it does not fit.
std::int64_t elementsOf(const std::vector<std::int64_t> &sizes);
/// elements · width, the same way.
Bytes bytesOf(std::int64_t elements, Precision precision);

/// Step::bytes of a collective on a value: of the whole tensor over the group;
/// for an all-to-all what one rank holds before or after, whichever is more
/// (the busiest expert's tokens).
Bytes groupBytes(StepKind kind, const ops::Value &value,
                 const std::vector<std::int64_t> &before,
                 const std::vector<std::int64_t> &after);

} // namespace planc::shard
