// Operators, values and bodies: what a model computes, on one logical device.
//
// sema builds the forward part (ops::Model) from the text; compiler/graph adds
// the backward with the same types.
#pragma once

#include "compiler/ops/Dim.h"
#include "runtime/base/Precision.h"
#include "runtime/program/Instruction.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace planc::ops {

enum class OpKind : std::uint8_t {
#define PLANC_OP(NAME, TEXT, CLASS) NAME,
#include "compiler/ops/OpKinds.def"
};
enum class OpClass : std::uint8_t {
  Contraction,
  Attention,
  Elementwise,
  Row,
  Lookup,
  View,
};
std::string_view toString(OpKind kind);
OpClass classOf(OpKind kind);

using ValueId = Id<struct ValueTag>;   ///< within one body
using WeightId = Id<struct WeightTag>; ///< of the model
using SlotId = Id<struct SlotTag>;     ///< of the model
using BodyId = Id<struct BodyTag>;     ///< of the model
using KernelId = Id<struct KernelTag>; ///< within one body
using UserOpId = Id<struct UserOpTag>; ///< of the model

/// A parameter tensor. Inside a repeat there are `instances` of it, one an
/// iteration that uses it.
struct Weight {
  std::string name; ///< `decoder.wq`, unique in the model
  Dims dims;
  std::int64_t batchDims =
      0; ///< dimensions before the bar, `gate[experts | …]`
  std::int64_t instances = 1;
  std::int64_t fanout = 0; ///< how many body uses read one instance (tied: > 1)
  bool isFrozen = false; ///< the plan does not train it: no gradient, no state
  OriginId origin;
};

/// How tokens are shared out over experts. A tensor [experts, batch, seq, …] is
/// written down as if every expert had every token; of those rows a router
/// chooses `topK` a token.
struct Route {
  DimId experts, choices;
  std::int64_t count = 0; ///< of experts
  std::int64_t topK = 0;  ///< 0: not routed, every row is there
  /// Rows of the busiest rank over the mean, in millionths; counts where the
  /// experts are cut.
  std::int64_t imbalance = 1'000'000;
  /// Rows that each expert has room for over the mean, in millionths: buffers
  /// are padded to it and what does not fit is dropped. 0: no bound.
  std::int64_t capacity = 0;
  /// A token goes to experts of so many nodes at most and travels to each once;
  /// 0: every copy travels by itself.
  std::int64_t nodes = 0;

  bool isRouted() const { return topK > 0; }
  bool operator==(const Route &) const = default;
};

/// The share of a tensor's elements that are there: `of` in `in`.
struct Share {
  std::int64_t of = 1, in = 1;

  bool isWhole() const { return of == in; }
  /// Rounded up; the largest number where it does not fit.
  std::int64_t take(Int128 elements) const;
};

/// The share on average, as the model defines it: topK in count.
Share askedShare(const Route &route);

/// The share that the busiest rank holds of a tensor of `dims`, `sizes` on one
/// rank: with padding to the capacity, or with the imbalance where the experts
/// are cut.
Share heldShare(const Route &route, const Dims &dims,
                const std::vector<std::int64_t> &sizes);

enum class ValueKind : std::uint8_t {
  Activation,
  Weight,
  Given,     ///< tokens, positions, inputs: loaded as each reader wants it
  Statistic, ///< only the backward reads it (log-sum-exp, mask); stays laid
             ///< as its operator made it
  Gradient,  ///< of an activation
  WeightGradient,
};

struct Value {
  std::string name; ///< readable and unique in its body
  Dims dims;
  Precision precision = Precision::Bf16; ///< set by compiler/graph
  ValueKind kind = ValueKind::Activation;
  /// Set by compiler/graph; 0: memory holds the whole value. Else it is made
  /// and used up a chunk of rows at a time (logits of a fused linear loss):
  /// memory holds as many elements as all its rows would have with this many
  /// columns.
  std::int64_t chunkWidth = 0;
  WeightId weight; ///< Weight, WeightGradient
  OriginId origin;
  Route route{}; ///< of what was dispatched to experts
};

/// What an operator does with one dimension of one operand, for one of its
/// results.
enum class Role : std::uint8_t {
  Map,      ///< each element by itself; becomes `as` in the result
  Contract, ///< summed over: cut in every operand, the result is partial
  Gather,   ///< needs all of it: the operand is made whole
};
struct DimUse {
  DimId dim;
  Role role = Role::Map;
  /// Map: the result's dimension (kv_heads → heads, else itself). Contract: the
  /// dimension of another operand that it is summed with, where the names
  /// differ. Gather: the result's dimension that is made of it, if any.
  DimId as;
};
struct OperandUse {
  std::vector<DimUse> dims; ///< in the order of the operand's dimensions
  /// Indices standing for a one-hot tensor: laid as the other operands want,
  /// without a collective. `dims` then includes the dimension indexed.
  bool oneHot = false;
};
/// How one result is made: its dimensions, and the roles of every operand's.
struct ResultRule {
  Dims dims;
  std::vector<OperandUse> operands;
  /// Statistics of a contraction that is not linear (loss over a cut `vocab`):
  /// the result comes out whole after this many all-reduces of [other dims] in
  /// fp32. The rules of one operator agree: these all-reduces give all its
  /// results.
  std::int32_t statistics = 0;
  /// A dimension that no operand has and the operator makes (a dispatch's
  /// experts). On an axis where it is the result's home, the operator works as
  /// operand 0 lies, and the result is brought home after.
  DimId made{};
};

struct Attributes {
  bool causal = false;
  std::optional<std::int64_t>
      window;         ///< attention looks back this many positions
  double dropout = 0; ///< attention and dropout: probability
  double softCap = 0; ///< soft_cap, and scores of attention; 0: not capped
  /// split: where each result begins along the dimension that is split; concat:
  /// where each operand begins along the one that is made.
  std::vector<std::int64_t> offsets;
  UserOpId userOp;
  Route route{}; ///< a router's choice, dispatch and combine
  /// Set by compiler/graph. `unfused`: attention, norms, the loss and
  /// the sum of a weight's gradients as separate launches that pass their
  /// intermediates through memory. `compute`:
  /// the format a matrix product runs in, where its operands are held in a
  /// wider.
  /// `accumulated`: an Add of matrix products, each of which adds itself to the
  /// ones before in its epilogue.
  /// `document`: packed sequences hold documents of this many positions, and
  /// attention stays inside them. `chunkWidth`: works a chunk of rows at a time
  /// (Value::chunkWidth).
  bool unfused = false;
  bool accumulated = false;
  std::optional<Precision> compute;
  std::optional<std::int64_t> document;
  std::int64_t chunkWidth = 0;
};

struct Op {
  OpKind kind = OpKind::Add;
  Attributes attributes;
  std::string name; ///< `decoder.wq`, `decoder.rms_norm`
  std::vector<ValueId> operands;
  std::vector<ValueId> results;
  std::vector<ResultRule> rules; ///< one a result
  program::Phase phase = program::Phase::Forward;
  /// Elementwise neighbours that one kernel does: values inside never reach
  /// memory.
  KernelId kernel;
  /// A cheap forward operator done again inside a backward kernel, so that its
  /// result need not be saved.
  bool again = false;
  OriginId origin;
};

/// A variable of the model that lives across bodies (`x`).
struct Slot {
  std::string name;
  Dims dims;
  bool given = false; ///< tokens, positions, inputs
};
struct Port {
  SlotId slot;
  ValueId value;
};

/// A straight line of operators: what stands before, in or after a repeat.
/// Reads its input slots, then writes its output slots.
struct Body {
  std::string
      name; ///< `embed`, `decoder`, `decoder#1` (a second class), `head`
  Table<ValueId, Value> values;
  std::vector<Op> forward;
  std::vector<Port> inputs, outputs;
  OriginId origin;
};

/// Bodies in the order they run: one for a stretch outside any repeat, one an
/// iteration for a repeat (equal iterations share their body).
struct Segment {
  std::string name; ///< of the repeat; empty outside
  bool isRepeat = false;
  std::vector<BodyId> iterations;
  OriginId origin;
};

/// A formula of a user's `op`, over local sizes; evaluated by sema into a
/// polynomial of dimensions: Σ coefficient · Π size(dim)^power.
struct Term {
  double coefficient = 0;
  std::vector<DimId> factors; ///< a dimension may stand more than once
};
struct UserOp {
  std::string name;
  /// The declaration with its formals replaced: the result, dimensions summed
  /// over, dimensions walked in order (needed whole, as if gathered),
  /// dimensions of one operand needed whole. Every other dimension is mapped.
  Dims result, contracts, inOrder;
  struct Gathered {
    std::size_t operand = 0;
    DimId dim;
  };
  std::vector<Gathered> gathers;
  std::vector<Term> flops, bytes;
  std::vector<std::size_t> saves; ///< operands
  double backward = 2.0;          ///< backward work in forwards
};

/// The forward of a whole model.
struct Model {
  std::string name;
  DimTable dims;
  DimId batch,
      seq; ///< sizes: one micro-batch over all ranks that cut it; sequence
  Table<WeightId, Weight> weights;
  Table<SlotId, Slot> slots;
  Table<BodyId, Body> bodies;
  Table<UserOpId, UserOp> userOps;
  std::vector<Segment> segments;
  ValueId loss; ///< in the last body
};

/// Elements of all weights, every instance counted.
std::int64_t parameterCount(const Model &model);
/// Those that one token meets: of experts' weights the share it is routed to.
std::int64_t activeParameterCount(const Model &model);

} // namespace planc::ops
