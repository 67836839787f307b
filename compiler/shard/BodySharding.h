// How one body is sharded: the state of the work, shared by ShardBody.cpp
// (ports, passes, parameters) and ShardOperator.cpp (one operator).
#pragma once

#include "compiler/shard/ApplyRule.h"
#include "compiler/shard/Relay.h"
#include "compiler/shard/ShardBody.h"

namespace planc::shard {

class BodySharding {
public:
  explicit BodySharding(const BodyRequest &request)
      : graph_(*request.graph), body_(graph_.bodies[request.body]),
        homes_(*request.homes), weights_(*request.weights),
        emission_(body_.forward, homes_, out_),
        relay_(body_.forward, homes_, emission_) {}

  ShardedBody run() {
    findReaders();
    forward();
    backward();
    findSaved();
    return std::move(out_);
  }

private:
  const ops::Value &value(ops::ValueId id) const {
    return body_.forward.values[id];
  }
  std::size_t axisCount() const { return homes_.axisCount(); }

  void forward();
  void backward();
  void arrive(const std::vector<ops::Port> &ports, std::vector<Port> &out);
  void leave(const std::vector<ops::Port> &ports, std::vector<Port> &out);
  void addGivenPorts();
  void findReaders();
  void findSaved();

  void run(const ops::Op &op, std::uint32_t index);
  void runContributions(const ops::Op &op, std::uint32_t index);
  bool isContributions(const ops::Op &op) const;
  void gatherParameters(ops::ValueId weight);

  Layout homeOf(ops::ValueId id) const;
  OperandState stateOf(const ops::Op &op, std::size_t operand,
                       AxisId axis) const;
  ops::DimId homeOnAxis(const ops::Op &op, std::size_t operand,
                        AxisId axis) const;
  MoveContext contextOf(const ops::Op &op) const;

  struct Plan {
    std::vector<Relay::Wanted> operands;
    std::vector<Layout> results; ///< as computed
    std::vector<AxisId> statistics;
    std::vector<AxisId> borrowed; ///< heads taken for this operator only
  };
  RuleRequest requestFor(const ops::Op &op, AxisId axis, Plan &plan) const;
  Plan planOp(const ops::Op &op) const;
  Step computeStep(const ops::Op &op, std::uint32_t index,
                   std::vector<ShardedValueId> operands,
                   std::vector<ShardedValueId> results) const;
  void reduceStatistics(const ops::Op &op, const std::vector<AxisId> &axes,
                        std::vector<ShardedValueId> &results);
  Layout restOf(ops::ValueId id, const Layout &computed,
                const Plan &plan) const;
  bool mayStaySum(ops::ValueId id, AxisId axis) const;
  bool carriesSum(const ops::Op &op, ops::ValueId sum, AxisId axis) const;

  const graph::OpGraph &graph_;
  const graph::Body &body_;
  const Homes &homes_;
  const Table<ops::WeightId, WeightState> &weights_;
  ShardedBody out_;
  Emission emission_;
  Relay relay_;
  std::vector<Step> *pass_ = nullptr;
  /// Values that only additions of contributions read: they stay partial.
  std::vector<bool> onlyAdded_;
  std::vector<std::vector<const ops::Op *>>
      readers_; ///< in the backward, by value
  std::vector<std::vector<AxisId>> gatheredParameters_; ///< in this pass
};

} // namespace planc::shard
