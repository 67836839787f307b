#include "compiler/ops/Gradient.h"

#include "compiler/ops/Roles.h"

namespace planc::ops {
namespace {

using Source = GradientSource;
using program::Phase;

Source outputGradient(std::size_t result = 0) {
  return {Source::Kind::OutputGradient, result};
}
Source operand(std::size_t i) { return {Source::Kind::Operand, i}; }
Source result(std::size_t i) { return {Source::Kind::Result, i}; }
Source step(std::size_t i) { return {Source::Kind::Step, i}; }

bool sameSet(const Dims &a, const Dims &b) {
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

// --- matmul ------------------------------------------------------------------

/// For the gradient of one factor: what the result and the other factor do.
ResultRule Differentiation::productRule(std::size_t target) const {
  const OperandUse &mine = op_.rules[0].operands[target];
  const OperandUse &others = op_.rules[0].operands[1 - target];
  Dims kept; // of the result, made by `target`
  for (const DimUse &use : mine.dims)
    if (use.role == Role::Map)
      kept.push_back(use.dim);
  OperandUse other;
  for (const DimUse &use : others.dims) {
    bool mapsBack = use.role == Role::Contract || contains(kept, use.dim);
    other.dims.push_back(mapsBack ? mapped(use.dim) : contracted(use.dim));
  }
  OperandUse gradient = mapInto(resultDims(), kept);
  ResultRule rule;
  rule.dims = dims(target);
  if (target == 0)
    rule.operands = {gradient, other};
  else
    rule.operands = {other, gradient};
  return rule;
}

void Differentiation::product() {
  if (wanted(0))
    out_.ops.push_back({OpKind::MatMul,
                        {outputGradient(), operand(1)},
                        {0},
                        {productRule(0)},
                        phaseFor(0)});
  if (wanted(1))
    out_.ops.push_back({OpKind::MatMul,
                        {operand(0), outputGradient()},
                        {1},
                        {productRule(1)},
                        phaseFor(1)});
}

void Differentiation::embed() {
  if (!wanted(1))
    return;
  const Dims &table = dims(1);
  OperandUse tokens = mapInto(dims(0), table);
  tokens.dims.push_back(mapped(table[0]));
  tokens.oneHot = true;
  ResultRule rule{table, {tokens, mapInto(resultDims(), table)}};
  out_.ops.push_back({OpKind::EmbedGrad,
                      {operand(0), outputGradient()},
                      {1},
                      {rule},
                      phaseFor(1)});
}

// --- attention ---------------------------------------------------------------

/// The gradient of q maps query positions and heads and needs all keys; those
/// of k and v sum over query positions, and over the query heads of one key
/// head.
ResultRule Differentiation::attentionRule(std::size_t target) const {
  const Dims &q = dims(0), &k = dims(1);
  const DimId positions = q[1], heads = q[2];
  const bool forQuery = target == 0;
  auto querySide = [&](const Dims &all) {
    OperandUse use;
    for (DimId dim : all) {
      if (dim == q[0])
        use.dims.push_back(mapped(dim));
      else if (dim == positions)
        use.dims.push_back(forQuery ? mapped(dim) : contracted(dim));
      else if (dim == heads)
        use.dims.push_back(mappedAs(dim, forQuery ? heads : k[2]));
      else
        use.dims.push_back(gathered(dim));
    }
    return use;
  };
  auto keySide = [&](const Dims &all) {
    return OperandUse{{mapped(all[0]), gathered(all[1]),
                       mappedAs(all[2], forQuery ? heads : k[2]),
                       gathered(all[3])}};
  };
  ResultRule rule;
  rule.dims = dims(target);
  rule.operands = {querySide(resultDims()), querySide(q), keySide(k),
                   keySide(dims(2))};
  for (std::size_t i = op_.attributes.unfused ? 1 : 0;
       i < request_.resultDims.size(); ++i)
    rule.operands.push_back(querySide(request_.resultDims[i]));
  return rule;
}

void Differentiation::attention() {
  GradientOp op;
  op.kind = OpKind::AttentionGrad;
  op.operands = {outputGradient(), operand(0), operand(1), operand(2)};
  for (std::size_t i = op_.attributes.unfused ? 1 : 0;
       i < request_.resultDims.size(); ++i)
    op.operands.push_back(result(i));
  for (std::size_t i = 0; i < 3; ++i) {
    op.targets.push_back(i);
    op.rules.push_back(attentionRule(i));
  }
  out_.ops.push_back(std::move(op));
  if (request_.operandDims.size() > 3 && wanted(3))
    sink();
}

/// From the result, its gradient and the first statistic: summed over all but
/// the heads, of which each has its own.
void Differentiation::sink() {
  const Dims &q = dims(0);
  auto overHeads = [&](const Dims &all) {
    OperandUse use;
    for (DimId dim : all)
      use.dims.push_back(dim == q[2]                  ? mapped(dim)
                         : dim == q[0] || dim == q[1] ? contracted(dim)
                                                      : gathered(dim));
    return use;
  };
  ResultRule rule{dims(3),
                  {overHeads(resultDims()), mapAll(dims(3)),
                   overHeads(resultDims()), overHeads(request_.resultDims[1])}};
  out_.ops.push_back({OpKind::SinkGrad,
                      {outputGradient(), operand(3), result(0), result(1)},
                      {3},
                      {rule},
                      phaseFor(3)});
}

// --- rows and elements -------------------------------------------------------

void Differentiation::norm(OpKind input, OpKind weight) {
  const Dims &x = dims(0);
  bool hasGain = request_.operandDims.size() > 1;
  if (wanted(0)) {
    GradientOp op;
    op.kind = input;
    op.operands = {outputGradient(), operand(0)};
    op.targets = {0};
    op.phase = phaseFor(0);
    ResultRule rule{x, {mapRows(resultDims()), mapRows(x)}};
    if (hasGain) {
      op.operands.push_back(operand(1));
      rule.operands.push_back(gatherAll(dims(1)));
    }
    op.rules = {rule};
    out_.ops.push_back(std::move(op));
  }
  if (!hasGain || !wanted(1))
    return;
  auto sumRows = [](const Dims &all) {
    OperandUse use = mapInto(all, {});
    use.dims.back() = gathered(all.back());
    return use;
  };
  GradientOp op;
  op.kind = weight;
  op.operands = {outputGradient(), operand(0)};
  op.phase = phaseFor(1);
  for (std::size_t i = 1; i < request_.operandDims.size(); ++i) {
    op.targets.push_back(i);
    op.rules.push_back({dims(i), {sumRows(resultDims()), sumRows(x)}});
  }
  out_.ops.push_back(std::move(op));
}

void Differentiation::unary(OpKind kind, Source source) {
  if (!wanted(0))
    return;
  GradientOp op;
  op.kind = kind;
  op.operands = {outputGradient(), source};
  op.targets = {0};
  op.phase = phaseFor(0);
  op.rules = {{dims(0), {mapAll(resultDims()), mapAll(dims(0))}}};
  out_.ops.push_back(std::move(op));
}

void Differentiation::softmax() {
  unary(OpKind::SoftmaxGrad, result(0));
  for (GradientOp &op : out_.ops)
    op.rules = {{dims(0), {mapRows(resultDims()), mapRows(dims(0))}}};
}

void Differentiation::dropout() {
  if (request_.resultDims.size() > 1)
    unary(OpKind::DropoutGrad, result(1));
  else if (wanted(0))
    passTo(0);
}

/// Σ over the dimensions an operand was broadcast along.
void Differentiation::reduceTo(std::size_t target, Source source) {
  out_.ops.push_back({OpKind::ReduceSum,
                      {source},
                      {target},
                      {{dims(target), {mapInto(resultDims(), dims(target))}}},
                      phaseFor(target)});
}

/// The result's gradient is the operand's, summed where it was broadcast. A
/// weight's is always a value of its own, in its own format.
void Differentiation::passTo(std::size_t target) {
  if (sameSet(dims(target), resultDims()) && !request_.isWeight[target])
    out_.passed.push_back(target);
  else
    reduceTo(target, outputGradient());
}

void Differentiation::add() {
  for (std::size_t i = 0; i < request_.operandDims.size(); ++i)
    if (wanted(i))
      passTo(i);
}

void Differentiation::multiply() {
  for (std::size_t i = 0; i < 2; ++i) {
    if (!wanted(i))
      continue;
    bool whole = sameSet(dims(i), resultDims());
    GradientOp op;
    op.kind = OpKind::Mul;
    op.operands = {outputGradient(), operand(1 - i)};
    op.phase = phaseFor(i);
    if (whole)
      op.targets = {i};
    op.rules = {{whole ? dims(i) : resultDims(),
                 {mapAll(resultDims()), mapAll(dims(1 - i))}}};
    out_.ops.push_back(std::move(op));
    if (!whole)
      reduceTo(i, step(out_.ops.size() - 1));
  }
}

void Differentiation::crossEntropy() {
  if (!wanted(0))
    return;
  const Dims &logits = dims(0);
  ResultRule rule;
  rule.dims = logits;
  rule.operands = {mapAll(resultDims()), mapAll(logits),
                   oneHot(dims(1), mapped(logits.back())), mapAll(resultDims()),
                   mapAll(resultDims())};
  out_.ops.push_back(
      {OpKind::CrossEntropyGrad,
       {outputGradient(), operand(0), operand(1), result(1), result(2)},
       {0},
       {rule},
       phaseFor(0)});
}

/// The parts' gradients are joined again.
void Differentiation::split() {
  if (!wanted(0))
    return;
  GradientOp op;
  op.kind = OpKind::Concat;
  op.targets = {0};
  op.phase = phaseFor(0);
  ResultRule rule{dims(0), {}};
  for (std::size_t r = 0; r < request_.resultDims.size(); ++r) {
    if (!request_.arrived[r])
      continue;
    OperandUse use = mapAll(request_.resultDims[r]);
    const OperandUse &forward = op_.rules[r].operands[0];
    for (std::size_t d = 0; d < use.dims.size(); ++d)
      if (forward.dims[d].role == Role::Gather)
        use.dims[d] = gathered(use.dims[d].dim);
    op.operands.push_back(outputGradient(r));
    op.offsets.push_back(op_.attributes.offsets[r]);
    rule.operands.push_back(std::move(use));
  }
  op.rules = {std::move(rule)};
  out_.ops.push_back(std::move(op));
}

/// Each operand's part of the gradient, summed where it was broadcast.
void Differentiation::concat() {
  for (std::size_t i = 0; i < request_.operandDims.size(); ++i) {
    if (!wanted(i))
      continue;
    Dims part = resultDims();
    part.back() = dims(i).back();
    bool isOwn = sameSet(dims(i), part) && !request_.isWeight[i];
    GradientOp op;
    op.kind = OpKind::Split;
    op.operands = {outputGradient()};
    op.phase = phaseFor(i);
    op.offsets = {op_.attributes.offsets[i]};
    OperandUse use = mapAll(resultDims());
    use.dims.back() = gathered(resultDims().back());
    if (isOwn)
      op.targets = {i};
    op.rules = {{isOwn ? dims(i) : part, {use}}};
    out_.ops.push_back(std::move(op));
    if (!isOwn)
      out_.ops.push_back({OpKind::ReduceSum,
                          {step(out_.ops.size() - 1)},
                          {i},
                          {{dims(i), {mapInto(part, dims(i))}}},
                          phaseFor(i)});
  }
}

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

/// Nothing is known of the formula: a dimension needed whole stays so, a
/// dimension the gradient lacks is summed over.
void Differentiation::user() {
  GradientOp op;
  op.kind = OpKind::UserGrad;
  op.operands = {outputGradient()};
  std::vector<std::size_t> saves;
  if (request_.userOp)
    saves = request_.userOp->saves;
  for (std::size_t i : saves)
    op.operands.push_back(operand(i));
  for (std::size_t target = 0; target < request_.operandDims.size(); ++target) {
    if (!wanted(target))
      continue;
    ResultRule rule{dims(target), {mapInto(resultDims(), dims(target))}};
    for (std::size_t i : saves) {
      OperandUse use = mapInto(dims(i), dims(target));
      for (std::size_t d = 0; d < use.dims.size(); ++d)
        if (op_.rules[0].operands[i].dims[d].role == Role::Gather)
          use.dims[d] = gathered(use.dims[d].dim);
      rule.operands.push_back(std::move(use));
    }
    op.targets.push_back(target);
    op.rules.push_back(std::move(rule));
  }
  if (!op.targets.empty())
    out_.ops.push_back(std::move(op));
}

Gradient Differentiation::run() {
  switch (op_.kind) {
  case OpKind::MatMul:
    product();
    break;
  case OpKind::Embed:
    embed();
    break;
  case OpKind::Attention:
    attention();
    break;
  case OpKind::Rope:
    if (wanted(0))
      out_.ops.push_back({OpKind::RopeGrad,
                          {outputGradient()},
                          {0},
                          {{dims(0), {mapRows(resultDims())}}},
                          phaseFor(0)});
    break;
  case OpKind::RmsNorm:
    norm(OpKind::RmsNormGrad, OpKind::RmsNormWeightGrad);
    break;
  case OpKind::LayerNorm:
    norm(OpKind::LayerNormGrad, OpKind::LayerNormWeightGrad);
    break;
  case OpKind::Softmax:
    softmax();
    break;
  case OpKind::Silu:
    unary(OpKind::SiluGrad, operand(0));
    break;
  case OpKind::Gelu:
    unary(OpKind::GeluGrad, operand(0));
    break;
  case OpKind::Relu:
    unary(OpKind::ReluGrad, operand(0));
    break;
  case OpKind::SquaredRelu:
    unary(OpKind::SquaredReluGrad, operand(0));
    break;
  case OpKind::SoftCap:
    unary(OpKind::SoftCapGrad, operand(0));
    break;
  case OpKind::Dropout:
    dropout();
    break;
  case OpKind::Add:
    add();
    break;
  case OpKind::Mul:
    multiply();
    break;
  case OpKind::CrossEntropy:
    crossEntropy();
    break;
  case OpKind::Split:
    split();
    break;
  case OpKind::Concat:
    concat();
    break;
  case OpKind::User:
    user();
    break;
  case OpKind::Router:
    router();
    break;
  case OpKind::RouterBias:
    routerBias();
    break;
  case OpKind::TopK:
    topK();
    break;
  case OpKind::Dispatch:
    dispatch();
    break;
  case OpKind::Combine:
    combine();
    break;
  case OpKind::CombineSum:
    combineSum();
    break;
  case OpKind::RouteWeights:
    routeWeights();
    break;
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
  return std::move(out_);
}

} // namespace

Gradient differentiate(const GradientRequest &request) {
  return Differentiation(request).run();
}

} // namespace planc::ops
