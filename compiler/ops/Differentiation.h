// The differentiation of one operator, by families: Gradient.cpp,
// GradientAttention.cpp, GradientExperts.cpp. Not for others to include.
#pragma once

#include "compiler/ops/Gradient.h"
#include "compiler/ops/Roles.h"

#include <algorithm>

namespace planc::ops::detail {

using Source = GradientSource;
using program::Phase;

inline Source outputGradient(std::size_t result = 0) {
  return {Source::Kind::OutputGradient, result};
}
inline Source operand(std::size_t i) { return {Source::Kind::Operand, i}; }
inline Source result(std::size_t i) { return {Source::Kind::Result, i}; }
inline Source step(std::size_t i) { return {Source::Kind::Step, i}; }

inline bool sameSet(const Dims &a, const Dims &b) {
  return a.size() == b.size() &&
         std::is_permutation(a.begin(), a.end(), b.begin());
}

class Differentiation {
public:
  explicit Differentiation(const GradientRequest &request)
      : request_(request), op_(*request.op) {}

  Gradient run();

private:
  const Dims &dims(std::size_t i) const { return request_.operandDims[i]; }
  const Dims &resultDims() const { return request_.resultDims[0]; }
  bool wanted(std::size_t i) const { return request_.wanted[i]; }
  Phase phaseFor(std::size_t i) const {
    return request_.isWeight[i] ? Phase::WeightGradient : Phase::InputGradient;
  }

  void product();
  ResultRule productRule(std::size_t target) const;
  void embed();
  void attention();
  ResultRule attentionRule(std::size_t target) const;
  void sink();
  void norm(OpKind input, OpKind weight);
  void unary(OpKind kind, Source source);
  void softmax();
  void dropout();
  void add();
  void multiply();
  void reduceTo(std::size_t target, Source source);
  void passTo(std::size_t target);
  void crossEntropy();
  void split();
  void concat();
  void user();
  void router();
  void routerBias();
  void topK();
  void dispatch();
  void combine();
  void combineSum();
  void routeWeights();
  ResultRule toExperts() const;
  ResultRule fromExperts(std::size_t target) const;

  const GradientRequest &request_;
  const Op &op_;
  Gradient out_;
};

} // namespace planc::ops::detail
