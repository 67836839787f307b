// Differentiation of one operator: the operators that give the gradients of its
// operands, with their rules. The formulas stand in Semantics.md.
#pragma once

#include "compiler/ops/Op.h"

namespace planc::ops {

/// An operand of a gradient operator, as the forward operator sees it.
struct GradientSource {
  enum class Kind : std::uint8_t {
    OutputGradient, ///< of the forward's result
    Operand,        ///< the forward's
    Result,         ///< the forward's
    Step,           ///< the result of an earlier gradient operator of this list
  } kind = Kind::OutputGradient;
  std::size_t index = 0;
};

/// One gradient operator. Its results are the gradients of `targets`, forward
/// operands; without targets its one result is used by a later step only.
struct GradientOp {
  OpKind kind = OpKind::Add;
  std::vector<GradientSource> operands;
  std::vector<std::size_t> targets;
  std::vector<ResultRule> rules; ///< one a target, or one
  program::Phase phase = program::Phase::InputGradient;
  std::vector<std::int64_t> offsets = {}; ///< split, concat
};

struct Gradient {
  std::vector<GradientOp> ops;
  std::vector<std::size_t> passed; ///< operands whose gradient is the result's
};

struct GradientRequest {
  const Op *op = nullptr;
  const UserOp *userOp = nullptr; ///< OpKind::User
  std::vector<Dims> operandDims, resultDims;
  std::vector<bool> isWeight, wanted; ///< one an operand
  /// Results whose gradient there is; a missing one is zero. Only split has
  /// several results with gradients.
  std::vector<bool> arrived;
};

/// Forward kinds only.
Gradient differentiate(const GradientRequest &request);

} // namespace planc::ops
