// A rank's gradient of one weight as a list of elements, which flat cuts split
// without regard to dimensions.
#pragma once

#include "tests/unit/shard/Ranks.h"

namespace planc::oracle {

struct FlatGradient {
  std::vector<std::int64_t> places; ///< in the flattened weight; -1: padding
  std::vector<double> data;

  static FlatGradient of(const Tensor &tensor);
  void add(const FlatGradient &other);
  bool equals(const Tensor &whole) const;
};

std::vector<FlatGradient> reduceFlat(const shard::Step &step,
                                     const std::vector<FlatGradient> &ranks);
/// Equal shares of a padded buffer, in the order of the group.
std::vector<FlatGradient> scatterFlat(const shard::Step &step,
                                      const std::vector<FlatGradient> &ranks);
/// The group's shares put together again, in its order.
std::vector<FlatGradient> gatherFlat(const shard::Step &step,
                                     const std::vector<FlatGradient> &ranks);
/// To the places that `homes` have.
std::vector<FlatGradient> scatterTo(const shard::Step &step,
                                    const std::vector<FlatGradient> &ranks,
                                    const RankTensors &homes);

/// Every element of the weight that a rank reads is owned, once, among the
/// ranks that share its flat buffer.
bool coversEvery(const std::vector<FlatGradient> &ranks,
                 const shard::WeightState &state, const sema::Mesh &mesh,
                 const Splits &splits, const ops::Dims &dims);

} // namespace planc::oracle
