#include "tests/unit/shard/FlatGradient.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace planc::oracle {

using shard::Step;

FlatGradient FlatGradient::of(const Tensor &tensor) {
  return {tensor.flatPlaces(), tensor.data};
}

void FlatGradient::add(const FlatGradient &other) {
  if (places != other.places)
    complain("gradients of one weight lie differently");
  for (std::size_t i = 0; i < data.size() && i < other.data.size(); ++i)
    data[i] += other.data[i];
}

bool FlatGradient::equals(const Tensor &whole) const {
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i] < 0)
      continue;
    double wanted = whole.data[static_cast<std::size_t>(places[i])];
    if (std::abs(data[i] - wanted) > 1e-9 * (1 + std::abs(wanted)))
      return false;
  }
  return true;
}

std::vector<FlatGradient> reduceFlat(const Step &step,
                                     const std::vector<FlatGradient> &ranks) {
  std::vector<FlatGradient> out;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    FlatGradient sum = ranks[rank];
    std::fill(sum.data.begin(), sum.data.end(), 0.0);
    for (int member : groupOf(step, static_cast<int>(rank)))
      sum.add(ranks[static_cast<std::size_t>(member)]);
    out.push_back(std::move(sum));
  }
  return out;
}

std::vector<FlatGradient> scatterFlat(const Step &step,
                                      const std::vector<FlatGradient> &ranks) {
  std::vector<FlatGradient> sums = reduceFlat(step, ranks), out;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    std::vector<int> group = groupOf(step, static_cast<int>(rank));
    auto mine = std::find(group.begin(), group.end(), static_cast<int>(rank));
    std::size_t share =
        (sums[rank].data.size() + group.size() - 1) / group.size();
    std::size_t from = static_cast<std::size_t>(mine - group.begin()) * share;
    FlatGradient part;
    for (std::size_t i = from; i < from + share; ++i) {
      bool padding = i >= sums[rank].data.size();
      part.places.push_back(padding ? -1 : sums[rank].places[i]);
      part.data.push_back(padding ? 0 : sums[rank].data[i]);
    }
    out.push_back(std::move(part));
  }
  return out;
}

std::vector<FlatGradient> gatherFlat(const Step &step,
                                     const std::vector<FlatGradient> &ranks) {
  std::vector<FlatGradient> out;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    FlatGradient all;
    for (int member : groupOf(step, static_cast<int>(rank))) {
      const FlatGradient &share = ranks[static_cast<std::size_t>(member)];
      all.places.insert(all.places.end(), share.places.begin(),
                        share.places.end());
      all.data.insert(all.data.end(), share.data.begin(), share.data.end());
    }
    out.push_back(std::move(all));
  }
  return out;
}

std::vector<FlatGradient> scatterTo(const Step &step,
                                    const std::vector<FlatGradient> &ranks,
                                    const RankTensors &homes) {
  std::vector<FlatGradient> sums = reduceFlat(step, ranks), out;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    std::set<std::int64_t> wanted;
    for (std::int64_t place : homes[rank].flatPlaces())
      wanted.insert(place);
    FlatGradient part;
    for (std::size_t i = 0; i < sums[rank].places.size(); ++i)
      if (wanted.count(sums[rank].places[i])) {
        part.places.push_back(sums[rank].places[i]);
        part.data.push_back(sums[rank].data[i]);
      }
    out.push_back(std::move(part));
  }
  return out;
}

bool coversEvery(const std::vector<FlatGradient> &ranks,
                 const shard::WeightState &state, const sema::Mesh &mesh,
                 const Splits &splits, const ops::Dims &dims) {
  std::set<shard::AxisId> flat;
  auto isPartial = [&](shard::AxisId axis) {
    return std::count(state.partial.begin(), state.partial.end(), axis) > 0;
  };
  for (shard::AxisId axis : state.optimizerState)
    if (isPartial(axis))
      flat.insert(axis);
  std::map<std::vector<int>, std::multiset<std::int64_t>> owned;
  std::map<std::vector<int>, std::set<std::int64_t>> wanted;
  for (int rank = 0; rank < splits.rankCount(); ++rank) {
    std::vector<int> buffer;
    for (shard::AxisId axis : mesh.axes.ids())
      if (!flat.count(axis))
        buffer.push_back(splits.coordinate(rank, axis));
    for (std::int64_t place : ranks[static_cast<std::size_t>(rank)].places)
      if (place >= 0)
        owned[buffer].insert(place);
    for (std::int64_t place :
         splits.empty(dims, state.layout, rank).flatPlaces())
      wanted[buffer].insert(place);
  }
  for (const auto &[buffer, places] : wanted)
    if (!std::equal(places.begin(), places.end(), owned[buffer].begin(),
                    owned[buffer].end()))
      return false;
  return true;
}

} // namespace planc::oracle
