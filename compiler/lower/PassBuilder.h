// The steps of one pass of a body as instructions.
#pragma once

#include "compiler/lower/Kernels.h"
#include "compiler/lower/LowerBody.h"

#include <map>
#include <set>

namespace planc::lower {

inline constexpr std::uint32_t kNoInstruction = ~0u;

/// Turns the steps of one pass into instructions, in order. Attention whose
/// keys and values go around a ring becomes a block of work for each member
/// and messages between them (PassRing.cpp).
class PassBuilder {
public:
  PassBuilder(const shard::ShardedGraph &graph, ops::BodyId body)
      : graph_(graph), id_(body), sharded_(graph.bodies[body]),
        body_(graph.graph->bodies[body]),
        producer_(sharded_.values.size(), kNoInstruction) {}

  /// Appends the kernels of `steps`. Called once.
  void add(const std::vector<PlannedStep> &steps,
           const std::vector<Kernel> &kernels);

  /// What is there before the pass begins, before `add`.
  void readSlots(const std::vector<shard::Port> &ports);

  /// Copies for the backward, after `add`; those that a product of this pass
  /// read are there already.
  void keep(const NarrowCopies &narrow);

  /// The pass, and who writes `outputs`; nothing is left here.
  LoweredPass finish(const std::vector<shard::Port> &outputs);

  /// The last instruction a weight gradient goes through in this pass: what
  /// makes it, or the reduce-scatter that follows.
  std::uint32_t completes(shard::ShardedValueId gradient) const;

  /// The last instruction that makes one of `values`.
  std::uint32_t lastOf(const std::vector<shard::ShardedValueId> &values) const;

private:
  static bool isRing(const shard::Step &step, shard::StepKind kind) {
    return step.kind == kind && step.ring != shard::RingSteps::None;
  }

  /// Attention whose keys and values travel.
  bool goesAround(const shard::Step &step) const;

  /// Whoever else reads what a ring would bring has it gathered.
  void gatherAtOnce(const std::vector<shard::ShardedValueId> &operands);

  bool isView(const shard::Step &step) const;

  void noteSum(const shard::Step &step);

  const ops::Value &sourceOf(shard::ShardedValueId id) const {
    return body_.forward.values[sharded_.values[id].source];
  }

  bool isRouted(shard::ShardedValueId id) const {
    return sourceOf(id).route.isRouted();
  }

  void alias(const shard::Step &step);

  void depend(program::Instruction &instruction, shard::ShardedValueId operand);

  void push(program::Instruction instruction,
            const std::vector<shard::ShardedValueId> &results);

  /// Memory that a value takes besides what is counted elsewhere: weights and
  /// their gradients.
  Bytes held(shard::ShardedValueId value) const;

  /// The next instruction is this step and nothing else.
  void isStep(const shard::Step &step) {
    pass_.steps.resize(here(), nullptr);
    pass_.steps.push_back(&step);
  }

  void addKernel(const std::vector<PlannedStep> &steps, const Kernel &kernel);

  /// A product in a narrow format reads copies of operands that this pass made
  /// or was given; false where there is none. What the forward kept for the
  /// backward was copied there, weights once a step unless they are gathered.
  bool dependOnCopy(program::Instruction &product, const ops::Op &op,
                    shard::ShardedValueId operand);

  void addCollective(const PlannedStep &planned);

  /// Experts that the value has on a rank; 1 where it has none.
  std::int64_t localExperts(shard::ShardedValueId id) const;

  /// What an exchange of tokens brings stands by the rank it is from, and the
  /// experts of a rank want it by expert: a kernel reads it and writes it in
  /// the other order, after the way there and before the way back
  /// (Megatron-Core's sort_chunks_by_idxs, the permutation after DeepEP's
  /// dispatch). One expert a rank needs none.
  void sortTokens(const PlannedStep &exchange, shard::ShardedValueId rows,
                  shard::ShardedValueId result);

  std::uint32_t here() const {
    return static_cast<std::uint32_t>(pass_.instructions.size());
  }

  /// A message of each member to the next.
  program::Instruction passOn(const PlannedStep &gather, Bytes bytes,
                              std::string name) const;

  /// Attention in as many blocks as the ring has members, a message before each
  /// but the first. The gradients of keys and values follow the blocks and end
  /// at home.
  void addRing(const PlannedStep &planned);

  void addBlock(const PlannedStep &planned, const program::Work &work,
                std::int64_t index, std::uint32_t arrived);

  const shard::ShardedGraph &graph_;
  const ops::BodyId id_;
  const shard::ShardedBody &sharded_;
  const graph::Body &body_;
  /// Gathers of keys and values that go in steps, by result; reduce-scatters of
  /// their gradients, by operand; where these have come home.
  std::map<shard::ShardedValueId, PlannedStep> rings_;
  std::map<shard::ShardedValueId, const shard::Step *> scatters_;
  std::map<shard::ShardedValueId, std::uint32_t> cameHome_;
  std::vector<std::uint32_t> producer_;
  std::vector<shard::Port> arrivals_;
  std::set<shard::ShardedValueId> added_; ///< to what is there already
  std::set<shard::ShardedValueId> read_;  ///< by a kernel that did not make it
  std::map<shard::ShardedValueId, std::uint32_t>
      copies_; ///< in a narrow format
  std::vector<std::pair<shard::ShardedValueId, std::uint32_t>> scattered_;
  LoweredPass pass_;
};

} // namespace planc::lower
