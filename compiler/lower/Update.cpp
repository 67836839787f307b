#include "compiler/lower/Update.h"

#include "compiler/lower/Offload.h"
#include "compiler/lower/OptimizerState.h"
#include "compiler/lower/Quantise.h"
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
    if (plan_.offload.optimizer)
      return onHost();
    Instruction instruction = start(InstructionKind::Update, "update");
    instruction.work = allStates();
    for (std::uint32_t i = 0; i < block_.instructions.size(); ++i)
      instruction.deps.push_back(i);
    block_.instructions.push_back(std::move(instruction));
    if (plan_.offload.parameters)
      addCopy(InstructionKind::HostOut, Bytes(ownedParameters(held_)),
              static_cast<std::uint32_t>(block_.instructions.size() - 1));
    return std::move(block_);
  }

private:
  /// The accelerator reads gradients for their norm and zeroes them. Layer by
  /// layer gradients go to the host, its processors update the states there,
  /// and parameters come back, unless they stay on the host as well: three
  /// streams, so that layers follow each other (ZeRO-Offload, 2101.06840, 4).
  program::Block onHost() {
    Instruction kernel = start(InstructionKind::Update, "gradient norm");
    kernel.work.precision = Precision::Fp32;
    std::vector<std::vector<HeldWeight>> layers;
    for (const HeldWeight &held : held_) {
      if (isFrozen(request_, held.weight))
        continue;
      const Bytes gradients(ownedOf(held) * bytesOf(plan_.precision.gradients));
      if (plan_.optimizer.clip > 0)
        kernel.work.bytesRead += gradients;
      kernel.work.bytesWritten += zeroed(held);
      if (layers.empty() || layers.back().front().unit != held.unit)
        layers.emplace_back();
      layers.back().push_back(held);
    }
    for (std::uint32_t i = 0; i < block_.instructions.size(); ++i)
      kernel.deps.push_back(i);
    block_.instructions.push_back(std::move(kernel));
    const auto norm =
        static_cast<std::uint32_t>(block_.instructions.size() - 1);
    for (const std::vector<HeldWeight> &layer : layers) {
      std::int64_t gradients = 0, states = 0;
      for (const HeldWeight &held : layer) {
        gradients += ownedOf(held) * bytesOf(plan_.precision.gradients);
        states += stateBytes(*request_.graph, plan_, held.weight);
      }
      const std::int64_t parameters = ownedParameters(layer);
      std::uint32_t at =
          addCopy(InstructionKind::HostOut, Bytes(gradients), norm);
      at = addCopy(InstructionKind::HostUpdate,
                   Bytes(gradients + 2 * states + parameters), at);
      if (!plan_.offload.parameters)
        addCopy(InstructionKind::HostIn, Bytes(parameters), at);
    }
    return std::move(block_);
  }

  std::uint32_t addCopy(InstructionKind kind, Bytes bytes,
                        std::uint32_t after) {
    Instruction copy = hostCopy(request_, kind, bytes);
    copy.phase = program::Phase::Update;
    copy.deps = {after};
    block_.instructions.push_back(std::move(copy));
    return static_cast<std::uint32_t>(block_.instructions.size() - 1);
  }

  /// Elements of a weight whose states the rank has.
  std::int64_t ownedOf(const HeldWeight &held) const {
    const shard::WeightState &state = request_.graph->weights[held.weight];
    return cutElements(plan_.mesh, state.localElements, state.optimizerState);
  }

  /// Gradients as micro-batches add to them.
  Bytes zeroed(const HeldWeight &held) const {
    const shard::WeightState &state = request_.graph->weights[held.weight];
    return Bytes(
        cutElements(plan_.mesh, state.localElements, state.gradientState) *
        bytesOf(plan_.precision.gradients));
  }

  std::int64_t ownedParameters(const std::vector<HeldWeight> &weights) const {
    std::int64_t bytes = 0;
    for (const HeldWeight &held : weights)
      if (!isFrozen(request_, held.weight))
        bytes += ownedOf(held) * bytesOf(plan_.precision.parameters);
    return bytes;
  }

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
      if (isFrozen(request_, held.weight))
        continue;
      const shard::WeightState &state = request_.graph->weights[held.weight];
      const std::int64_t states =
          stateBytes(*request_.graph, plan_, held.weight);
      const std::int64_t owned = ownedOf(held);
      work.bytesRead += Bytes(owned * gradientBytes * (1 + normReads) + states);
      work.bytesWritten +=
          Bytes(states + owned * bytesOf(plan_.precision.parameters)) +
          zeroed(held);
      // Copies in a narrow format of weights that stay whole: once a step.
      if (state.parameterState.empty()) {
        const Bytes copies = weightCopies(*request_.graph, held.weight);
        work.bytesWritten += copies;
        if (copies.value > 0)
          work.bytesRead +=
              Bytes(state.localElements * bytesOf(plan_.precision.parameters));
      }
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
          !isFrozen(request_, held.weight))
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
    const auto times = saturatingMul;
    work.flops = Flops(times(2 * batch, times(times(p.m, p.n), p.k)));
    const std::int64_t each = bytesOf(work.precision) * batch;
    work.bytesRead = Bytes(times(each, times(p.k, p.m + p.n)));
    work.bytesWritten = Bytes(times(each, times(p.m, p.n)));
    work.kernels = static_cast<std::int32_t>(std::min<std::int64_t>(
        batch, std::numeric_limits<std::int32_t>::max()));
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
