// Shape inference: what an operator of the language gives for its operands.
//
// One table row a kind. Used by sema while it builds a body, since a formal
// such as `x[batch, seq, hidden]` binds by position and needs the shape.
#pragma once

#include "compiler/ops/Op.h"

namespace planc::ops {

/// What an operand looks like to the rules.
struct OperandShape {
  Dims dims;
  bool isWeight = false;
  std::int64_t batchDims = 0; ///< weight: dimensions before the bar
  Route route{};
};

/// Why operands do not fit an operator; `operand` and `dim` say where.
struct ShapeError {
  enum class Kind {
    Count,         ///< wrong number of operands
    NothingShared, ///< a matrix product contracts nothing
    Missing,       ///< a dimension the operator needs is absent
    Mismatch,      ///< dimensions differ where they must agree
    Repeated,      ///< the result would hold a dimension twice
  } kind = Kind::Count;
  std::size_t operand = 0;
  std::string text; ///< a sentence, lower case, no period
};

struct InferredResult {
  std::string suffix; ///< value `name.suffix`; empty for the first result
  ValueKind kind = ValueKind::Activation;
  Precision precision = Precision::Bf16; ///< Statistic, mask
  bool fixedPrecision = false;           ///< else the compute precision
  ResultRule rule;
  Route route{};
};

struct Inferred {
  std::vector<InferredResult> results;
  std::vector<std::int64_t> offsets; ///< Attributes::offsets
  std::optional<ShapeError> error;
};

/// `over`: for a product of two activations, the dimensions contracted.
/// `along`: split: the dimension that is split; concat: the one that is made.
/// `parts`: split: what stands in its place, one a result.
struct InferRequest {
  OpKind kind = OpKind::Add;
  const Attributes *attributes = nullptr;
  std::vector<OperandShape> operands;
  Dims over;
  DimId along;
  Dims parts;
  const UserOp *userOp = nullptr; ///< OpKind::User
};

/// Forward kinds only. `dims` may gain dimensions that an operator makes.
Inferred inferShapes(const InferRequest &request, DimTable &dims);

} // namespace planc::ops
