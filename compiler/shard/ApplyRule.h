// The one rule: what an operator does on one axis.
#pragma once

#include "compiler/shard/Homes.h"

namespace planc::shard {

/// An operand as the operator finds it on the axis.
struct OperandState {
  ops::DimId cut; ///< invalid: whole
  bool partial = false;
  /// The operator is linear in it (gradients): a sum that is still to be taken
  /// may be taken after.
  bool linear = false;
};

struct RuleRequest {
  const ops::Op *op = nullptr;
  AxisId axis;
  std::vector<OperandState> operands;
  std::vector<ops::DimId> homes; ///< of every result; invalid: whole
};

/// How the operands are laid on the axis, and how the results come out, before
/// they are brought home.
struct AxisChoice {
  struct Operand {
    ops::DimId cut;
    bool partial = false; ///< left as it is, over the copies of its cut
    /// Rule 1: made whole on the axis before anything else.
    bool gathered = false;

    bool operator==(const Operand &) const = default;
  };
  struct Result {
    ops::DimId cut;
    bool partial = false;
  };
  std::vector<Operand> operands;
  std::vector<Result> results;
  /// The operator's own statistics are all-reduced over the axis, after which
  /// its results are whole there.
  bool statistics = false;
};

/// Rules 1–3 of docs/sharding.md for each result. A sum over the whole axis is
/// left as it is, for callers that bring the others home first. Where two
/// results of one operator ask for different operands, it works whole on the
/// axis.
AxisChoice applyRule(const RuleRequest &request, const Homes &homes);

} // namespace planc::shard
