#include "compiler/ops/Differentiation.h"

namespace planc::ops::detail {

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

} // namespace planc::ops::detail
