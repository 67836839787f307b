// What routes tokens to experts and brings them back.
#include "compiler/ops/Inference.h"

#include <fmt/format.h>

namespace planc::ops {

/// A router's scores are needed whole by the choice among them: a dimension of
/// their own, which no axis lists.
DimId Inference::choicesOf(DimId experts) {
  for (DimId dim : dims_.ids())
    if (dims_[dim].splitAs == experts)
      return dim;
  Dim choices{"choices", fullName(dims_[experts]), dims_[experts].size,
              dims_[experts].origin, experts};
  return dims_.add(choices);
}

Inferred Inference::router() {
  if (auto error = expectCount(2, 2))
    return *error;
  const Dims x = dimsOf(0), weight = dimsOf(1);
  if (weight.size() < 2)
    return fail(ErrorKind::Missing, 1,
                fmt::format("found {} where a router has what it contracts, "
                            "then the experts",
                            list(weight)));
  const DimId experts = weight.back();
  if (contains(x, experts))
    return fail(ErrorKind::Repeated, 0,
                fmt::format("{} has `{}` already", list(x), nameOf(experts)));
  ResultRule rule;
  rule.operands.resize(2);
  for (std::size_t i = 0; i + 1 < weight.size(); ++i) {
    if (!contains(x, weight[i]))
      return fail(ErrorKind::Missing, 0,
                  fmt::format("{} has no `{}`, which the router {} contracts",
                              list(x), nameOf(weight[i]), list(weight)));
    rule.operands[1].dims.push_back(contracted(weight[i]));
  }
  const DimId choices = choicesOf(experts);
  rule.operands[1].dims.push_back(gatheredAs(experts, choices));
  for (DimId dim : x) {
    bool sums = contains(weight, dim);
    rule.operands[0].dims.push_back(sums ? contracted(dim) : mapped(dim));
    if (!sums)
      rule.dims.push_back(dim);
  }
  rule.dims.push_back(choices);
  Inferred out = give(std::move(rule));
  out.results[0].precision = Precision::Fp32;
  out.results[0].fixedPrecision = true;
  return out;
}

Inferred Inference::routerBias() const {
  if (auto error = expectCount(2, 2))
    return *error;
  const Dims &scores = dimsOf(0), &bias = dimsOf(1);
  const DimId experts = dims_[scores.back()].splitAs;
  if (bias != Dims{experts})
    return fail(ErrorKind::Mismatch, 1,
                fmt::format("found {} where the bias of a router is [{}]",
                            list(bias), nameOf(experts)));
  Inferred out =
      give({scores, {mapAll(scores), {{gatheredAs(experts, scores.back())}}}});
  out.results[0].precision = Precision::Fp32;
  out.results[0].fixedPrecision = true;
  return out;
}

Inferred Inference::topK() const {
  Inferred out = rows();
  if (out.error)
    return out;
  out.results[0].precision = Precision::Fp32;
  out.results[0].fixedPrecision = true;
  return out;
}

/// Works where the tokens lie; its result is brought to the experts after.
Inferred Inference::dispatch() const {
  if (auto error = expectCount(2, 2))
    return *error;
  const Dims &x = dimsOf(0), &weights = dimsOf(1);
  const DimId choices = weights.back();
  const DimId experts = dims_[choices].splitAs;
  ResultRule rule;
  rule.dims = {experts};
  rule.dims.insert(rule.dims.end(), x.begin(), x.end());
  rule.operands = {mapAll(x), mapAll(weights)};
  rule.operands[1].dims.back() = mappedAs(choices, experts);
  rule.made = experts;
  Inferred out = give(std::move(rule));
  if (request_.attributes)
    out.results[0].route = request_.attributes->route;
  return out;
}

/// The weights of the choice as every expert gets them with its tokens.
Inferred Inference::routeWeights() const {
  if (auto error = expectCount(1, 1))
    return *error;
  const Dims &weights = dimsOf(0);
  const DimId choices = weights.back();
  const DimId experts = dims_[choices].splitAs;
  ResultRule rule;
  rule.dims = {experts};
  rule.dims.insert(rule.dims.end(), weights.begin(), weights.end() - 1);
  rule.operands = {mapAll(weights)};
  rule.operands[0].dims.back() = mappedAs(choices, experts);
  rule.made = experts;
  Inferred out = give(std::move(rule));
  out.results[0].precision = Precision::Fp32;
  out.results[0].fixedPrecision = true;
  if (request_.attributes)
    out.results[0].route = request_.attributes->route;
  return out;
}

Inferred Inference::combine() const {
  if (auto error = expectCount(2, 2))
    return *error;
  const Dims &y = dimsOf(0), &weights = dimsOf(1);
  const DimId choices = weights.back();
  const DimId experts = dims_[choices].splitAs;
  if (!contains(y, experts))
    return fail(
        ErrorKind::Missing, 0,
        fmt::format("{} has no `{}` to combine", list(y), nameOf(experts)));
  ResultRule rule;
  for (DimId dim : y)
    if (dim != experts)
      rule.dims.push_back(dim);
  for (std::size_t i = 0; i + 1 < weights.size(); ++i)
    if (!contains(y, weights[i]))
      return fail(ErrorKind::Missing, 0,
                  fmt::format("{} has no `{}`, which was dispatched", list(y),
                              nameOf(weights[i])));
  rule.operands = {mapInto(y, rule.dims), mapAll(weights)};
  rule.operands[1].dims.back() = contractedWith(choices, experts);
  return give(std::move(rule));
}

} // namespace planc::ops
