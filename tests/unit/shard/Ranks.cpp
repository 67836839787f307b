#include "tests/unit/shard/Ranks.h"

#include <algorithm>
#include <numeric>

namespace planc::oracle {

using shard::AxisId;
using shard::Step;
using shard::StepKind;

namespace {

bool isUlysses(const sema::Plan &plan, AxisId axis) {
  return plan.context.contains(axis) &&
         plan.context[axis].method == sema::ContextMethod::Ulysses;
}

} // namespace

Splits::Splits(const graph::OpGraph &graph, const sema::Plan &plan)
    : graph_(graph), plan_(plan), factors_(graph.model.dims.size()) {
  std::vector<std::int64_t> allLeft;
  for (AxisId axis : plan.mesh.axes.ids())
    rankCount_ *= static_cast<int>(plan.mesh.axes[axis].size);
  for (ops::DimId dim : graph.model.dims.ids()) {
    std::int64_t left = graph.model.dims[dim].size;
    for (AxisId axis : plan.mesh.axes.ids()) {
      bool lists = false;
      for (const sema::ListedDim &word : plan.lists[axis].list)
        for (ops::DimId each : word.dims)
          lists = lists || each == dim;
      if (!lists)
        continue;
      std::int64_t size = plan.mesh.axes[axis].size;
      std::int64_t parts = left % size == 0 ? size : left;
      left /= parts;
      // Causal balance, which no operator may notice.
      bool isBalanced =
          dim == graph.model.seq && left % 2 == 0 && !isUlysses(plan, axis);
      factors_[dim.index()].push_back(
          {axis, static_cast<int>(parts), isBalanced});
    }
    allLeft.push_back(left);
  }
  borrowHeads(allLeft);
}

/// Axes that only borrow heads come last.
void Splits::borrowHeads(std::vector<std::int64_t> &left) {
  for (AxisId axis : plan_.mesh.axes.ids()) {
    if (!isUlysses(plan_, axis))
      continue;
    std::vector<ops::DimId> done;
    for (const graph::Body &body : graph_.bodies)
      for (const ops::Op &op : body.forward.forward)
        for (std::size_t i = 0; i < 2 && op.kind == ops::OpKind::Attention;
             ++i) {
          ops::DimId dim = body.forward.values[op.operands[i]].dims[2];
          const std::vector<Factor> &known = factors_[dim.index()];
          bool isListed = std::any_of(
              known.begin(), known.end(),
              [&](const Factor &factor) { return factor.axis == axis; });
          if (isListed || std::count(done.begin(), done.end(), dim))
            continue;
          done.push_back(dim);
          std::int64_t size = plan_.mesh.axes[axis].size;
          std::int64_t parts =
              left[dim.index()] % size == 0 ? size : left[dim.index()];
          left[dim.index()] /= parts;
          factors_[dim.index()].push_back({axis, static_cast<int>(parts)});
        }
  }
  for (ops::DimId dim : graph_.model.dims.ids())
    if (ops::DimId as = graph_.model.dims[dim].splitAs; as.isValid())
      factors_[dim.index()] = factors_[as.index()];
}

int Splits::coordinate(int rank, AxisId axis) const {
  int stride = 1;
  for (AxisId inner : plan_.mesh.axes.ids())
    if (axis < inner)
      stride *= static_cast<int>(plan_.mesh.axes[inner].size);
  return rank / stride % static_cast<int>(plan_.mesh.axes[axis].size);
}

Places Splits::placesOf(ops::DimId dim, const shard::Layout &layout,
                        int rank) const {
  int size = static_cast<int>(graph_.model.dims[dim].size);
  Places out;
  for (int place = 0; place < size; ++place) {
    int block = size, rest = place;
    bool held = true;
    for (const Factor &factor : factors_[dim.index()]) {
      block /= factor.parts;
      int part = rest / block;
      if (factor.isBalanced) {
        int half = block / 2, piece = rest / half;
        part = std::min(piece, 2 * factor.parts - 1 - piece);
        rest = rest % half + (piece < factor.parts ? 0 : half);
      } else
        rest %= block;
      int axisSize = static_cast<int>(plan_.mesh.axes[factor.axis].size);
      int mine = coordinate(rank, factor.axis) / (axisSize / factor.parts);
      if (layout.cut[factor.axis.index()] == dim)
        held = held && part == mine;
    }
    if (held)
      out.push_back(place);
  }
  return out;
}

Tensor Splits::empty(const ops::Dims &dims, const shard::Layout &layout,
                     int rank) const {
  std::vector<int> whole;
  std::vector<Places> places;
  shard::Layout uncut = layout;
  std::fill(uncut.cut.begin(), uncut.cut.end(), ops::DimId());
  for (std::size_t d = 0; d < dims.size(); ++d) {
    whole.push_back(static_cast<int>(graph_.model.dims[dims[d]].size));
    bool again = std::find(dims.begin(), dims.begin() + static_cast<long>(d),
                           dims[d]) != dims.begin() + static_cast<long>(d);
    places.push_back(placesOf(dims[d], again ? uncut : layout, rank));
  }
  return Tensor::zeros(dims, whole, places);
}

std::vector<int> groupOf(const Step &step, int rank) {
  int base = rank;
  for (std::size_t i = 0; i < step.sizes.size(); ++i) {
    int stride = static_cast<int>(step.strides[i]);
    base -= rank / stride % static_cast<int>(step.sizes[i]) * stride;
  }
  std::vector<int> members{base};
  for (std::size_t i = 0; i < step.sizes.size(); ++i) {
    std::vector<int> more;
    for (int member : members)
      for (int n = 0; n < step.sizes[i]; ++n)
        more.push_back(member + n * static_cast<int>(step.strides[i]));
    members = std::move(more);
  }
  return members;
}

void cutFrom(const Tensor &whole, Tensor &part) {
  part.forEach(
      [&](const std::vector<int> &at, double &out) { out = whole.get(at); });
}

void runCollective(const Step &step, const RankTensors &operand,
                   RankTensors &result) {
  bool sums =
      step.kind == StepKind::AllReduce || step.kind == StepKind::ReduceScatter;
  bool alone = step.kind == StepKind::Slice;
  for (std::size_t rank = 0; rank < result.size(); ++rank) {
    std::vector<int> group = alone ? std::vector<int>{static_cast<int>(rank)}
                                   : groupOf(step, static_cast<int>(rank));
    result[rank].forEach([&](const std::vector<int> &at, double &out) {
      int holders = 0;
      for (int member : group) {
        const Tensor &from = operand[static_cast<std::size_t>(member)];
        long offset = from.find(at);
        if (offset < 0)
          continue;
        double value = from.data[static_cast<std::size_t>(offset)];
        out = sums ? out + value : value;
        ++holders;
      }
      if (sums ? holders != static_cast<int>(group.size()) : holders != 1)
        complain(step.name + ": wrong number of holders in the group");
    });
  }
}

} // namespace planc::oracle
