#include "compiler/ops/Inference.h"

#include <fmt/format.h>

namespace planc::ops {

std::string Inference::list(const Dims &dims) const {
  std::string text = "[";
  for (DimId dim : dims)
    text += (text.size() > 1 ? ", " : "") + nameOf(dim);
  return text + "]";
}

Inferred Inference::fail(ErrorKind kind, std::size_t operand,
                         std::string text) const {
  Inferred out;
  out.error = ShapeError{kind, operand, std::move(text)};
  return out;
}

Inferred Inference::give(ResultRule rule) const {
  Inferred out;
  out.results.push_back(
      {"", ValueKind::Activation, Precision::Bf16, false, std::move(rule)});
  return out;
}

std::optional<Inferred> Inference::expectCount(std::size_t low,
                                               std::size_t high) const {
  std::size_t count = request_.operands.size();
  if (count >= low && count <= high)
    return std::nullopt;
  std::string_view name = toString(request_.kind);
  std::string wanted = low == high ? fmt::format("{}", low)
                       : high > 64 ? fmt::format("at least {}", low)
                                   : fmt::format("{} to {}", low, high);
  return fail(ErrorKind::Count, std::min(count, low),
              fmt::format("found {} operand{} where `{}` takes {}", count,
                          count == 1 ? "" : "s", name, wanted));
}

// --- one tensor in, one of the same shape out --------------------------------

Inferred Inference::norm(std::size_t parameters) const {
  std::size_t count = request_.operands.size();
  if (auto error = expectCount(1, 1 + parameters))
    return *error;
  const Dims &x = dimsOf(0);
  if (x.empty())
    return fail(ErrorKind::Missing, 0, "found no dimension to normalise over");
  ResultRule rule;
  rule.dims = x;
  rule.operands.push_back(mapRows(x));
  for (std::size_t i = 1; i < count; ++i) {
    if (dimsOf(i) != Dims{x.back()})
      return fail(ErrorKind::Mismatch, i,
                  fmt::format("found {} where the norm of {} wants [{}]",
                              list(dimsOf(i)), list(x), nameOf(x.back())));
    rule.operands.push_back(gatherAll(dimsOf(i)));
  }
  return give(std::move(rule));
}

/// Operators that need their last dimension whole: softmax, rope.
Inferred Inference::rows() const {
  if (auto error = expectCount(1, 1))
    return *error;
  if (dimsOf(0).empty())
    return fail(ErrorKind::Missing, 0,
                fmt::format("`{}` needs a dimension to work along",
                            toString(request_.kind)));
  return give({dimsOf(0), {mapRows(dimsOf(0))}});
}

Inferred Inference::unary() const {
  if (auto error = expectCount(1, 1))
    return *error;
  return give({dimsOf(0), {mapAll(dimsOf(0))}});
}

Inferred Inference::dropout() const {
  Inferred out = unary();
  if (out.error || !request_.attributes || request_.attributes->dropout <= 0)
    return out;
  out.results.push_back({"mask", ValueKind::Statistic, Precision::Int8, true,
                         out.results[0].rule});
  return out;
}

// --- several tensors ---------------------------------------------------------

Inferred Inference::broadcast() const {
  std::size_t most = request_.kind == OpKind::Mul ? 2 : 1'000'000;
  if (auto error = expectCount(2, most))
    return *error;
  std::size_t widest = 0;
  for (std::size_t i = 1; i < request_.operands.size(); ++i)
    if (dimsOf(i).size() > dimsOf(widest).size())
      widest = i;
  ResultRule rule;
  rule.dims = dimsOf(widest);
  for (const OperandShape &operand : request_.operands) {
    for (DimId dim : operand.dims)
      if (!contains(rule.dims, dim))
        rule.dims.push_back(dim);
    rule.operands.push_back(mapAll(operand.dims));
  }
  return give(std::move(rule));
}

Inferred Inference::crossEntropy() const {
  if (auto error = expectCount(2, 2))
    return *error;
  const Dims &logits = dimsOf(0), &targets = dimsOf(1);
  if (logits.empty())
    return fail(ErrorKind::Missing, 0, "found no dimension of classes");
  Dims kept(logits.begin(), logits.end() - 1);
  bool same = kept.size() == targets.size();
  for (DimId dim : targets)
    same = same && contains(kept, dim);
  if (!same)
    return fail(ErrorKind::Mismatch, 1,
                fmt::format("found targets {} where logits {} want {}",
                            list(targets), list(logits), list(kept)));
  ResultRule rule;
  rule.dims = kept;
  rule.operands = {mapInto(logits, kept),
                   oneHot(targets, contracted(logits.back()))};
  rule.statistics = 3;
  Inferred out;
  out.results = {{"", ValueKind::Activation, Precision::Fp32, true, rule},
                 {"max", ValueKind::Statistic, Precision::Fp32, true, rule},
                 {"sum", ValueKind::Statistic, Precision::Fp32, true, rule}};
  return out;
}

Inferred Inference::user() const {
  const UserOp *op = request_.userOp;
  if (!op)
    return fail(ErrorKind::Count, 0, "the operator is not declared");
  ResultRule rule;
  rule.dims = op->result;
  for (std::size_t i = 0; i < request_.operands.size(); ++i) {
    OperandUse use;
    for (DimId dim : dimsOf(i)) {
      bool whole = contains(op->inOrder, dim);
      for (const UserOp::Gathered &gather : op->gathers)
        whole = whole || (gather.operand == i && gather.dim == dim);
      if (!whole && contains(op->contracts, dim))
        use.dims.push_back(contracted(dim));
      else if (!whole && contains(op->result, dim))
        use.dims.push_back(mapped(dim));
      else
        use.dims.push_back(gathered(dim));
    }
    rule.operands.push_back(std::move(use));
  }
  return give(std::move(rule));
}

Inferred Inference::infer() {
  switch (request_.kind) {
  case OpKind::MatMul:
    return matMul();
  case OpKind::Embed:
    return embed();
  case OpKind::Attention:
    return attention();
  case OpKind::RmsNorm:
    return norm(1);
  case OpKind::LayerNorm:
    return norm(2);
  case OpKind::Rope:
  case OpKind::Softmax:
    return rows();
  case OpKind::Silu:
  case OpKind::Gelu:
  case OpKind::Relu:
  case OpKind::SquaredRelu:
  case OpKind::SoftCap:
    return unary();
  case OpKind::Dropout:
    return dropout();
  case OpKind::Add:
  case OpKind::Mul:
    return broadcast();
  case OpKind::CrossEntropy:
    return crossEntropy();
  case OpKind::Split:
    return split();
  case OpKind::Concat:
    return concat();
  case OpKind::User:
    return user();
  case OpKind::Router:
    return router();
  case OpKind::RouterBias:
    return routerBias();
  case OpKind::TopK:
    return topK();
  case OpKind::Dispatch:
    return dispatch();
  case OpKind::Combine:
  case OpKind::CombineSum:
    return combine();
  case OpKind::RouteWeights:
    return routeWeights();
  case OpKind::RouterBiasGrad:
  case OpKind::TopKGrad:
  case OpKind::DispatchGrad:
  case OpKind::CombineGrad:
  case OpKind::CombineWeightGrad:
  case OpKind::RouteWeightsGrad:
  case OpKind::EmbedGrad:
  case OpKind::AttentionGrad:
  case OpKind::SinkGrad:
  case OpKind::RopeGrad:
  case OpKind::RmsNormGrad:
  case OpKind::RmsNormWeightGrad:
  case OpKind::LayerNormGrad:
  case OpKind::LayerNormWeightGrad:
  case OpKind::SoftmaxGrad:
  case OpKind::SiluGrad:
  case OpKind::GeluGrad:
  case OpKind::ReluGrad:
  case OpKind::SquaredReluGrad:
  case OpKind::SoftCapGrad:
  case OpKind::DropoutGrad:
  case OpKind::ReduceSum:
  case OpKind::CrossEntropyGrad:
  case OpKind::UserGrad:
    break;
  }
  return fail(ErrorKind::Count, 0,
              fmt::format("`{}` is not an operator of the forward",
                          toString(request_.kind)));
}

/// What is made of routed rows has those rows.
Inferred Inference::routed(Inferred inferred) const {
  for (InferredResult &result : inferred.results)
    for (const OperandShape &operand : request_.operands)
      if (operand.route.isRouted() &&
          contains(result.rule.dims, operand.route.experts))
        result.route = operand.route;
  return inferred;
}

Inferred Inference::run() { return routed(infer()); }

Inferred inferShapes(const InferRequest &request, DimTable &dims) {
  return Inference(request, dims).run();
}

} // namespace planc::ops
