#include "compiler/ops/Differentiation.h"

namespace planc::ops::detail {

// --- experts -----------------------------------------------------------------

/// Operand 1 is the router [hidden, experts], the result [tokens, choices].
void Differentiation::router() {
  const DimId experts = dims(1).back(), choices = resultDims().back();
  if (wanted(0)) {
    OperandUse weight;
    for (DimId dim : dims(1))
      weight.dims.push_back(dim == experts ? contractedWith(experts, choices)
                                           : mapped(dim));
    ResultRule rule{dims(0), {mapInto(resultDims(), dims(0)), weight}};
    out_.ops.push_back({OpKind::Router,
                        {outputGradient(), operand(1)},
                        {0},
                        {rule},
                        phaseFor(0)});
  }
  if (!wanted(1))
    return;
  OperandUse scores = mapInto(resultDims(), {});
  scores.dims.back() = mappedAs(choices, experts);
  ResultRule rule{dims(1), {mapInto(dims(0), dims(1)), scores}};
  out_.ops.push_back({OpKind::Router,
                      {operand(0), outputGradient()},
                      {1},
                      {rule},
                      phaseFor(1)});
}

void Differentiation::routerBias() {
  if (wanted(0))
    out_.passed.push_back(0);
  if (!wanted(1))
    return;
  OperandUse scores = mapInto(resultDims(), {});
  scores.dims.back() = mappedAs(resultDims().back(), dims(1).back());
  out_.ops.push_back({OpKind::RouterBiasGrad,
                      {outputGradient()},
                      {1},
                      {{dims(1), {scores}}},
                      phaseFor(1)});
}

void Differentiation::topK() {
  unary(OpKind::TopKGrad, result(0));
  for (GradientOp &op : out_.ops)
    op.rules = {{dims(0), {mapRows(resultDims()), mapRows(dims(0))}}};
}

/// Over the experts a token was sent to: what combine does, forward.
ResultRule Differentiation::fromExperts(std::size_t target) const {
  const Dims &weights = dims(1), &to = dims(target);
  const DimId choices = weights.back();
  const DimId experts = op_.attributes.route.experts;
  ResultRule rule{to, {mapInto(resultDims(), to), mapAll(weights)}};
  rule.operands[1].dims.back() = contractedWith(choices, experts);
  return rule;
}

void Differentiation::dispatch() {
  if (wanted(0))
    out_.ops.push_back({OpKind::DispatchGrad,
                        {outputGradient(), operand(1)},
                        {0},
                        {fromExperts(0)},
                        phaseFor(0)});
}

/// To the experts a token was sent to: what dispatch does.
ResultRule Differentiation::toExperts() const {
  const DimId experts = op_.attributes.route.experts;
  ResultRule rule{dims(0), {mapAll(resultDims()), mapAll(dims(1))}};
  rule.operands[1].dims.back() = mappedAs(dims(1).back(), experts);
  rule.made = experts;
  return rule;
}

void Differentiation::combineSum() {
  if (wanted(0))
    out_.ops.push_back({OpKind::Dispatch,
                        {outputGradient(), operand(1)},
                        {0},
                        {toExperts()},
                        phaseFor(0)});
}

void Differentiation::routeWeights() {
  if (!wanted(0))
    return;
  const Dims &weights = dims(0);
  const DimId choices = weights.back();
  const DimId experts = op_.attributes.route.experts;
  ResultRule rule{weights, {mapInto(resultDims(), weights), mapAll(weights)}};
  rule.operands[1].dims.back() = contractedWith(choices, experts);
  rule.made = choices;
  out_.ops.push_back({OpKind::RouteWeightsGrad,
                      {outputGradient(), operand(0)},
                      {0},
                      {rule},
                      phaseFor(0)});
}

void Differentiation::combine() {
  const Dims &y = dims(0), &weights = dims(1);
  const DimId choices = weights.back();
  const DimId experts = op_.attributes.route.experts;
  if (wanted(0))
    out_.ops.push_back({OpKind::CombineGrad,
                        {outputGradient(), operand(1)},
                        {0},
                        {toExperts()},
                        phaseFor(0)});
  if (!wanted(1))
    return;
  ResultRule rule{
      weights,
      {mapInto(resultDims(), weights), mapInto(y, weights), mapAll(weights)}};
  rule.operands[2].dims.back() = contractedWith(choices, experts);
  rule.made = choices;
  out_.ops.push_back({OpKind::CombineWeightGrad,
                      {outputGradient(), operand(0), operand(1)},
                      {1},
                      {rule},
                      phaseFor(1)});
}

} // namespace planc::ops::detail
