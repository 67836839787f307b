// The class behind inferShapes: one method a family of operators. Infer.cpp has
// what is common and the elementwise and row operators, InferProducts.cpp the
// products, lookups and attention, InferParts.cpp what cuts and joins tensors,
// InferExperts.cpp what routes tokens.
#pragma once

#include "compiler/ops/Infer.h"
#include "compiler/ops/Roles.h"

namespace planc::ops {

using ErrorKind = ShapeError::Kind;

class Inference {
public:
  Inference(const InferRequest &request, DimTable &dims)
      : request_(request), dims_(dims) {}

  Inferred run();

private:
  Inferred infer();
  const Dims &dimsOf(std::size_t operand) const {
    return request_.operands[operand].dims;
  }
  std::string nameOf(DimId dim) const { return fullName(dims_[dim]); }
  std::string list(const Dims &dims) const;

  Inferred fail(ErrorKind kind, std::size_t operand, std::string text) const;
  Inferred give(ResultRule rule) const;
  std::optional<Inferred> expectCount(std::size_t low, std::size_t high) const;

  Inferred matMul() const;
  Dims sharedToContract() const;
  std::optional<Inferred> checkProduct(const Dims &over) const;
  OperandUse factorUse(std::size_t operand, const Dims &over) const;
  Inferred embed() const;
  Inferred attention();
  std::optional<Inferred> checkAttention() const;
  ResultRule attentionRule(const Dims &result) const;
  DimId keysOf(DimId seq);
  Inferred split() const;
  Inferred concat() const;
  Inferred norm(std::size_t parameters) const;
  Inferred rows() const;
  Inferred unary() const;
  Inferred dropout() const;
  Inferred broadcast() const;
  Inferred crossEntropy() const;
  Inferred user() const;
  Inferred router();
  Inferred routerBias() const;
  Inferred topK() const;
  Inferred dispatch() const;
  Inferred combine() const;
  Inferred routeWeights() const;
  DimId choicesOf(DimId experts);
  Inferred routed(Inferred inferred) const;

  const InferRequest &request_;
  DimTable &dims_;
};

} // namespace planc::ops
