#include "compiler/ops/Differentiation.h"

namespace planc::ops::detail {

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
  bool isAnyWanted = false;
  for (std::size_t i = 1; i < request_.operandDims.size(); ++i)
    isAnyWanted = isAnyWanted || wanted(i);
  if (!isAnyWanted)
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

} // namespace planc::ops::detail

namespace planc::ops {

Gradient differentiate(const GradientRequest &request) {
  return detail::Differentiation(request).run();
}

} // namespace planc::ops
