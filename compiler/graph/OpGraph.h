// The operator graph: a model's forward, its derived backward and its update,
// on one logical device. Every repeat body once, with its count.
#pragma once

#include "compiler/ops/LossKernel.h"
#include "compiler/ops/Op.h"

namespace planc::graph {

/// A body with its backward. Values of both live in one table
/// (`forward.values`), kernels of both in one numbering, in the order they run:
/// the operators of one kernel stand next to each other in `forward.forward` or
/// in `backward`, and nothing between them is read elsewhere but the kernel's
/// results. A kernel of several operators is elementwise, in one phase; the one
/// exception is a norm's input gradient with its weight gradient.
struct Body {
  ops::Body forward;
  /// Input gradients and weight gradients as operators of their own, in an
  /// order that can be executed. Operators with `again` redo what the forward
  /// kernel did not save.
  std::vector<ops::Op> backward;
  /// One a forward output that needs one: its gradient as this body receives
  /// it. Nothing sent means zero.
  std::vector<ops::Port> gradientInputs;
  /// One a forward input that needs one. A slot that is an output too (carried)
  /// is replaced by this gradient, else it is added to the slot's.
  std::vector<ops::Port> gradientOutputs;
  struct WeightGradient {
    ops::WeightId weight;
    ops::ValueId value; ///< sum over this body's uses
  };
  std::vector<WeightGradient> weightGradients; ///< in the order they get ready
  /// Forward values the backward reads, weights and given ones apart, by id.
  std::vector<ops::ValueId> saved;
  /// Last body: the gradient the backward starts from, a Given value
  /// (compiler/ops/Semantics.md, Seed).
  ops::ValueId lossGradient;
};

/// How the plan wants kernels and number formats; the graph depends on nothing
/// else of it.
struct GraphOptions {
  /// Of matrix products. Activations are held in it, too, or in bf16 where it
  /// is fp8.
  Precision compute = Precision::Bf16;
  /// As stored. A value of kind Weight is what a kernel reads: this, or the
  /// activations' format where that is narrower.
  Precision parameters = Precision::Bf16;
  Precision gradients = Precision::Fp32; ///< weight gradients
  Precision logits = Precision::Fp32;
  /// If not as activations: a router's product; tokens dispatched, and the
  /// gradients of what experts return.
  std::optional<Precision> router, dispatch;
  /// Of what is kept from the forward for elementwise operators of the
  /// backward; none: as it is held.
  std::optional<Precision> saved;
  /// Of attention's products; none: as its operands are held.
  std::optional<Precision> attentionFormat;
  enum class AttentionKernel {
    Flash,
    Unfused
  } attention = AttentionKernel::Flash;
  enum class Fusion {
    Fused,
    Unfused
  } norm = Fusion::Fused,
    elementwise = Fusion::Fused,
    /// Of the gradients of a norm's weights with that of its input.
      normWeights = Fusion::Fused,
    /// Of a weight's gradient with those of micro-batches before.
      accumulation = Fusion::Fused;
  using Loss = ops::LossKernel;
  Loss loss = Loss::Fused;
  /// Packed sequences: attention stays inside documents of so many positions.
  std::optional<std::int64_t> document;
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
  Int128 attention = 0;     ///< of `full`
  Int128 repeatForward = 0; ///< of `full`: the forward inside `repeat`
};
ModelFlops modelFlops(const OpGraph &graph);

/// Elements of the weights that something looks rows up in, each weight once.
Int128 lookupParameterCount(const OpGraph &graph);

/// One line per broken rule, empty when sound.
///  G1 every id is in range, every name of a body's values is its own
///  G2 a value is made once, and before it is read
///  G3 an operator has a rule a result; rules list exactly the dimensions of
///     the operands and of the result
///  G4 a mapped dimension is the result's; every dimension of the result is
///     mapped or gathered somewhere
///  G5 operators of a kernel stand together; only elementwise ones share it, in
///     one phase (or a norm's two gradients)
///  G6 every gradient has the dimensions of what it is the gradient of; ports
///     have those of their slots
///  G7 every weight that reaches the loss has one gradient in each body that
///     reads it
///  G8 `saved` is what the backward reads of the forward, and no less
///  G9 forward operators are of the forward; backward ones of a gradient's
///     phase; `again` only stands in a backward and on elementwise ones
/// G10 segments name bodies; the loss is made by the last one
std::vector<std::string> verify(const OpGraph &graph);

/// One operator a line.
std::string toText(const OpGraph &graph);

} // namespace planc::graph
