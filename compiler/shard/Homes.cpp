#include "compiler/shard/Homes.h"

#include "runtime/base/Checked.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace planc::shard {

using ops::DimId;

Homes::Homes(const graph::OpGraph &graph, const sema::Plan &plan)
    : dims_(&graph.model.dims), plan_(&plan),
      entries_(dims_->size() * axisCount()) {
  std::vector<std::int64_t> left;
  for (const ops::Dim &dim : *dims_)
    left.push_back(dim.size);
  for (AxisId axis : plan.mesh.axes.ids()) {
    if (size(axis) == 1 || !plan.lists.contains(axis))
      continue;
    std::int32_t rank = 0;
    for (const sema::ListedDim &listed : plan.lists[axis].list) {
      for (ops::DimId dim : listed.dims) {
        Entry &entry = entries_[dim.index() * axisCount() + axis.index()];
        if (entry.rank >= 0)
          continue;
        entry.rank = rank;
        entry.parts = std::gcd(left[dim.index()], size(axis));
        left[dim.index()] /= entry.parts;
      }
      ++rank;
    }
  }
  borrowHeads(graph, left);
  // Cut as another dimension is, and nobody's home.
  for (DimId dim : dims_->ids())
    for (AxisId axis : plan.mesh.axes.ids())
      if (DimId as = (*dims_)[dim].splitAs; as.isValid())
        entries_[dim.index() * axisCount() + axis.index()].parts =
            entry(as, axis).parts;
}

/// Of every attention [batch, seq, heads, size], its heads and key heads.
void Homes::borrowHeads(const graph::OpGraph &graph,
                        std::vector<std::int64_t> &left) {
  for (AxisId axis : plan_->mesh.axes.ids()) {
    if (size(axis) == 1 || method(axis) != sema::ContextMethod::Ulysses)
      continue;
    for (const graph::Body &body : graph.bodies)
      for (const ops::Op &op : body.forward.forward) {
        if (op.kind != ops::OpKind::Attention)
          continue;
        for (std::size_t operand : {0, 1}) {
          const ops::Dims &dims =
              body.forward.values[op.operands[operand]].dims;
          Entry &entry = entries_[dims[2].index() * axisCount() + axis.index()];
          if (std::exchange(entry.isBorrowed, true) || entry.rank >= 0)
            continue;
          entry.parts = std::gcd(left[dims[2].index()], size(axis));
          left[dims[2].index()] /= entry.parts;
        }
      }
  }
}

ops::DimId Homes::borrowed(const ops::Dims &dims, AxisId axis) const {
  for (ops::DimId dim : dims)
    if (entry(dim, axis).isBorrowed)
      return dim;
  return {};
}

std::int64_t Homes::stride(AxisId axis) const {
  std::int64_t stride = 1;
  for (AxisId inner : plan_->mesh.axes.ids())
    if (axis < inner)
      stride *= size(inner);
  return stride;
}

std::optional<std::size_t> Homes::rank(ops::DimId dim, AxisId axis) const {
  std::int32_t rank = entry(dim, axis).rank;
  if (rank < 0)
    return std::nullopt;
  return static_cast<std::size_t>(rank);
}

ops::DimId Homes::home(const ops::Dims &dims, AxisId axis) const {
  ops::DimId best;
  for (ops::DimId dim : dims) {
    std::int32_t rank = entry(dim, axis).rank;
    if (rank >= 0 && (!best.isValid() || rank < entry(best, axis).rank))
      best = dim;
  }
  return best;
}

Layout Homes::layout(const ops::Dims &dims) const {
  Layout layout = whole();
  for (AxisId axis : plan_->mesh.axes.ids())
    layout.cut[axis.index()] = home(dims, axis);
  return layout;
}

Layout Homes::whole() const {
  return {std::vector<ops::DimId>(axisCount()),
          std::vector<bool>(axisCount(), false)};
}

std::int64_t Homes::parts(ops::DimId dim, AxisId axis) const {
  return dim.isValid() ? entry(dim, axis).parts : 1;
}

std::int64_t Homes::copies(ops::DimId dim, AxisId axis) const {
  return size(axis) / parts(dim, axis);
}

std::vector<std::int64_t> Homes::localSizes(const ops::Dims &dims,
                                            const Layout &layout) const {
  std::vector<std::int64_t> sizes;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    std::int64_t size = (*dims_)[dims[i]].size;
    bool again = std::find(dims.begin(), dims.begin() + static_cast<long>(i),
                           dims[i]) != dims.begin() + static_cast<long>(i);
    for (std::size_t a = 0; a < layout.cut.size() && !again; ++a)
      if (layout.cut[a] == dims[i])
        size /= parts(dims[i], AxisId(a));
    sizes.push_back(size);
  }
  return sizes;
}

Table<ops::WeightId, Layout> weightLayouts(const graph::OpGraph &graph,
                                           const Homes &homes) {
  Table<ops::WeightId, Layout> layouts;
  for (const ops::Weight &weight : graph.model.weights)
    layouts.add(homes.layout(weight.dims));
  auto visit = [&](const ops::Body &body, const ops::Op &op) {
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      const ops::Value &value = body.values[op.operands[i]];
      if (value.kind != ops::ValueKind::Weight)
        continue;
      for (const ops::ResultRule &rule : op.rules)
        for (const ops::DimUse &use : rule.operands[i].dims)
          for (ops::DimId &cut : layouts[value.weight].cut)
            if (use.role == ops::Role::Gather && cut == use.dim)
              cut = ops::DimId();
    }
  };
  for (const graph::Body &body : graph.bodies)
    for (const ops::Op &op : body.forward.forward)
      visit(body.forward, op);
  return layouts;
}

std::int64_t heldElements(const ops::Value &value,
                          const std::vector<std::int64_t> &sizes) {
  return ops::heldShare(value.route, value.dims, sizes).take(elementsOf(sizes));
}

std::int64_t elementsOf(const std::vector<std::int64_t> &sizes) {
  std::int64_t elements = 1;
  for (std::int64_t size : sizes)
    elements = saturatingMul(elements, size);
  return elements;
}

Bytes bytesOf(std::int64_t elements, Precision precision) {
  return Bytes(bytesHeld(precision, elements));
}

Bytes groupBytes(StepKind kind, const ops::Value &value,
                 const std::vector<std::int64_t> &before,
                 const std::vector<std::int64_t> &after) {
  std::int64_t first = heldElements(value, before);
  std::int64_t then = heldElements(value, after);
  std::int64_t elements = kind == StepKind::AllGather  ? then
                          : kind == StepKind::AllToAll ? std::max(first, then)
                                                       : first;
  return bytesOf(elements, value.precision);
}

} // namespace planc::shard
