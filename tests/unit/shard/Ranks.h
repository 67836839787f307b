// Ranks of a mesh: what each holds, and collectives on what they hold.
#pragma once

#include "compiler/shard/ShardedGraph.h"
#include "tests/unit/shard/Tensor.h"

namespace planc::oracle {

using RankTensors = std::vector<Tensor>; ///< by rank

/// The split of dimensions, worked out again from the plan's lists alone.
class Splits {
public:
  Splits(const graph::OpGraph &graph, const sema::Plan &plan);

  int rankCount() const { return rankCount_; }
  int coordinate(int rank, shard::AxisId axis) const;
  Tensor empty(const ops::Dims &dims, const shard::Layout &layout,
               int rank) const;

private:
  struct Factor {
    shard::AxisId axis;
    int parts = 1;
    /// The holder of part r has pieces r and 2n - 1 - r of 2n.
    bool isBalanced = false;
  };
  void borrowHeads(std::vector<std::int64_t> &left);
  Places placesOf(ops::DimId dim, const shard::Layout &layout, int rank) const;

  const graph::OpGraph &graph_;
  const sema::Plan &plan_;
  int rankCount_ = 1;
  std::vector<std::vector<Factor>> factors_; ///< by dimension, outermost first
};

/// Members of the group `rank` is in, itself included, in order.
std::vector<int> groupOf(const shard::Step &step, int rank);

/// The part of `whole` that `places` asks for.
void cutFrom(const Tensor &whole, Tensor &part);

/// Results hold zeros, with the places their layout gives them.
void runCollective(const shard::Step &step, const RankTensors &operand,
                   RankTensors &result);

} // namespace planc::oracle
