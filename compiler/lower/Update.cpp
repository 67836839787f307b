#include "compiler/lower/Update.h"

#include "compiler/lower/OptimizerState.h"
#include "compiler/lower/StageWeights.h"
#include "runtime/base/Checked.h"

#include <algorithm>
#include <utility>

namespace planc::lower {

using program::Instruction;
using program::InstructionKind;
using program::Work;

namespace {

constexpr std::int64_t kIterations = 5;

class UpdateBuilder {
public:
  UpdateBuilder(const EmitRequest &request, std::int64_t stage)
      : request_(request), plan_(*request.plan),
        held_(weightsOf(request, stage)) {}

  program::Block build() {
    addProducts();
    Instruction instruction = start(InstructionKind::Update, "update");
    instruction.work = allStates();
    for (std::uint32_t i = 0; i < block_.instructions.size(); ++i)
      instruction.deps.push_back(i);
    block_.instructions.push_back(std::move(instruction));
    return std::move(block_);
  }

private:
  Instruction start(InstructionKind kind, std::string name) const {
    Instruction instruction;
    instruction.kind = kind;
    instruction.phase = program::Phase::Update;
    instruction.name = std::move(name);
    instruction.origin = plan_.optimizer.clause;
    instruction.clause = plan_.optimizer.clause;
    return instruction;
  }

  Work allStates() const {
    Work work;
    work.precision = Precision::Fp32;
    const std::int64_t gradientBytes = bytesOf(plan_.precision.gradients);
    const std::int64_t normReads = plan_.optimizer.clip > 0 ? 1 : 0;
    for (const HeldWeight &held : held_) {
      if (request_.graph->graph->model.weights[held.weight].isFrozen)
        continue;
      const shard::WeightState &state = request_.graph->weights[held.weight];
      const std::int64_t states =
          stateBytes(*request_.graph, plan_, held.weight);
      const std::int64_t owned =
          cutElements(plan_.mesh, state.localElements, state.optimizerState);
      const std::int64_t gradients =
          cutElements(plan_.mesh, state.localElements, state.gradientState);
      work.bytesRead += Bytes(owned * gradientBytes * (1 + normReads) + states);
      work.bytesWritten +=
          Bytes(states + owned * bytesOf(plan_.precision.parameters) +
                gradients * gradientBytes);
    }
    return work;
  }

  /// Matrices of one size that as many ranks share.
  struct Group {
    std::int64_t rows, columns, owners, matrices;

    bool like(const Group &other) const {
      return rows == other.rows && columns == other.columns &&
             owners == other.owners;
    }
  };

  void addProducts() {
    std::vector<Group> groups;
    for (const HeldWeight &held : held_) {
      std::optional<MatrixShape> shape;
      if (plan_.optimizer.kind == sema::OptimizerKind::Muon &&
          !request_.graph->graph->model.weights[held.weight].isFrozen)
        shape = matrixOf(*request_.graph, held.weight);
      if (!isOrthogonalised(plan_, shape))
        continue;
      Group group{shape->rows, shape->columns,
                  ownersOf(request_.graph->weights[held.weight]), 0};
      auto known = std::find_if(groups.begin(), groups.end(),
                                [&](const Group &g) { return g.like(group); });
      if (known == groups.end())
        known = groups.insert(groups.end(), group);
      known->matrices += shape->batch;
    }
    for (const Group &group : groups) {
      const std::int64_t count = ceilDiv(group.matrices, group.owners);
      const std::int64_t small = std::min(group.rows, group.columns);
      const std::int64_t large = std::max(group.rows, group.columns);
      addProduct({count, small, small, large});
      addProduct({count, small, small, small});
      addProduct({count, small, large, small});
    }
  }

  std::int64_t ownersOf(const shard::WeightState &state) const {
    std::int64_t owners = 1;
    for (sema::AxisId axis : state.optimizerState)
      owners *= plan_.mesh.axes[axis].size;
    return owners;
  }

  struct Product {
    std::int64_t count, m, n, k;
  };

  void addProduct(const Product &p) {
    Instruction instruction = start(InstructionKind::MatMul, "newton_schulz");
    Work &work = instruction.work;
    const std::int64_t batch = p.count * kIterations;
    work.precision = Precision::Bf16;
    work.batch = batch;
    work.m = p.m;
    work.n = p.n;
    work.k = p.k;
    work.flops = Flops(2 * batch * p.m * p.n * p.k);
    const std::int64_t element = bytesOf(work.precision);
    work.bytesRead = Bytes(element * batch * (p.m * p.k + p.k * p.n));
    work.bytesWritten = Bytes(element * batch * p.m * p.n);
    work.kernels =
        static_cast<std::int32_t>(std::min<std::int64_t>(batch, 1'000'000));
    block_.instructions.push_back(std::move(instruction));
  }

  const EmitRequest &request_;
  const sema::Plan &plan_;
  std::vector<HeldWeight> held_;
  program::Block block_;
};

} // namespace

program::Block updateBlock(const EmitRequest &request, std::int64_t stage) {
  program::Block block = UpdateBuilder(request, stage).build();
  block.name = "stage " + std::to_string(stage) + " update";
  return block;
}

} // namespace planc::lower
