// The operator graph: a model's forward, its derived backward and its update,
// on one logical device. Every repeat body once, with its count.
#pragma once

#include "compiler/ops/Op.h"

namespace planc::graph {

/// A body with its backward. Values of both live in one table
/// (`forward.values`).
struct Body {
  ops::Body forward;
  /// Input gradients and weight gradients as operators of their own, in an
  /// order that can be executed.
  std::vector<ops::Op> backward;
  /// One a forward output that needs one: its gradient as this body receives
  /// it.
  std::vector<ops::Port> gradientInputs;
  /// One a forward input that needs one. A slot that is an output too (carried)
  /// is replaced by this gradient, else it is added to the slot's.
  std::vector<ops::Port> gradientOutputs;
  struct WeightGradient {
    ops::WeightId weight;
    ops::ValueId value; ///< sum over this body's uses
  };
  std::vector<WeightGradient> weightGradients;
  /// Forward values the backward reads, weights apart.
  std::vector<ops::ValueId> saved;
  /// Last body: the gradient the backward starts from, a Given value
  /// (compiler/ops/Semantics.md, Seed).
  ops::ValueId lossGradient;
};

/// How the plan wants kernels and number formats; the graph depends on nothing
/// else of it.
struct GraphOptions {
  Precision compute = Precision::Bf16;
  Precision parameters = Precision::Bf16;
  Precision gradients = Precision::Fp32; ///< weight gradients
  Precision logits = Precision::Fp32;
  enum class AttentionKernel {
    Flash,
    Unfused
  } attention = AttentionKernel::Flash;
  enum class Fusion {
    Fused,
    Unfused
  } norm = Fusion::Fused,
    loss = Fusion::Fused, elementwise = Fusion::Fused;
};

struct OpGraph {
  ops::Model model; ///< dims, weights, slots, segments; its bodies are empty
  Table<ops::BodyId, Body> bodies;
  GraphOptions options;
};

/// The model's forward with number formats set, elementwise neighbours folded
/// into kernels, and the backward derived.
OpGraph buildGraph(const ops::Model &model, const GraphOptions &options);

/// Model FLOPs of one micro-batch of the whole model (all ranks), METRICS M2.
struct ModelFlops {
  Int128 exact = 0, full = 0;
  Int128 forwardExact = 0;
};
ModelFlops modelFlops(const OpGraph &graph);

/// Rules G1…; one line per broken rule.
std::vector<std::string> verify(const OpGraph &graph);
std::string toText(const OpGraph &graph);

} // namespace planc::graph
