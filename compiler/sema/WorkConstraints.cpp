// Numbers that would not fit in 64 bits, and what the loss must be.
#include "compiler/sema/Constraints.h"

#include "compiler/diag/Kinds.h"
#include "runtime/base/Checked.h"

#include <algorithm>
#include <set>

namespace planc::sema {

using diag::Kind;
using source::SourceSpan;

/// A fused linear loss is one kernel with the product that makes its logits, so
/// nothing else may stand between but what works element by element.
bool Constraints::checkLoss() {
  if (plan_.kernels.loss != LossKernel::Linear)
    return true;
  const ops::Body &body =
      model_.bodies[model_.segments.back().iterations.back()];
  ops::ValueId logits;
  for (const ops::Op &op : body.forward)
    if (op.kind == ops::OpKind::CrossEntropy)
      logits = op.operands[0];
  auto readersOf = [&](ops::ValueId value) {
    std::ptrdiff_t count = 0;
    for (const ops::Op &op : body.forward)
      count += std::count(op.operands.begin(), op.operands.end(), value);
    for (const ops::Port &port : body.outputs)
      count += port.value == value;
    return count;
  };
  for (auto op = body.forward.rbegin(); op != body.forward.rend(); ++op) {
    if (op->results[0] != logits || readersOf(logits) != 1)
      continue;
    if (op->kind == ops::OpKind::MatMul)
      return true;
    if (classOf(op->kind) != ops::OpClass::Elementwise ||
        op->operands.size() != 1)
      break;
    logits = op->operands[0];
  }
  elaboration_.emitter()
      .report(
          spanOf(plan_.kernels.lossClause), Kind::Unsupported,
          "the logits of `{}` are not made by a product for the loss alone, "
          "which planc needs for a fused linear loss",
          model_.name)
      .help("`loss = fused` or `eager` would do");
  return false;
}

/// Operations of one operator and elements of one tensor are counted in 64
/// bits; a factor of two, of heads, of backward and bytes stays free.
bool Constraints::checkSizes() {
  constexpr std::int64_t kMost = std::int64_t(1) << 58;
  for (const ops::Body &body : model_.bodies)
    for (const ops::Op &op : body.forward) {
      std::set<ops::DimId> dims;
      ops::Route route;
      for (const auto *list : {&op.operands, &op.results})
        for (ops::ValueId value : *list) {
          dims.insert(body.values[value].dims.begin(),
                      body.values[value].dims.end());
          if (body.values[value].route.isRouted())
            route = body.values[value].route;
        }
      std::optional<std::int64_t> product = 1;
      if (route.isRouted()) { // so many experts have a token, not all
        dims.erase(route.experts);
        dims.erase(route.choices);
        product = route.topK;
      }
      for (ops::DimId dim : dims)
        if (product)
          product = checkedMul(*product, model_.dims[dim].size);
      bool hasKeys = op.kind == ops::OpKind::Attention;
      if (product && hasKeys)
        product = checkedMul(*product, model_.dims[model_.seq].size);
      if (op.kind == ops::OpKind::User && !checkFormulas(op))
        return false;
      if (product && *product <= kMost)
        continue;
      elaboration_.emitter()
          .report(spanOf(plan_.batch.clause), Kind::NumberOutOfRange,
                  "`{}` would take more than 2^58 operations a micro-batch",
                  op.name)
          .note("a micro-batch of all ranks is {} sequences of {} tokens",
                model_.dims[model_.batch].size, model_.dims[model_.seq].size)
          .note(spanOf(op.origin), "the operator is here");
      return false;
    }
  return true;
}

/// The formulas of an `op` at the sizes it is called with.
bool Constraints::checkFormulas(const ops::Op &op) {
  constexpr double kMost = 0x1p61;
  const ops::UserOp &user = model_.userOps[op.attributes.userOp];
  auto valueOf = [&](const std::vector<ops::Term> &terms) {
    double sum = 0;
    for (const ops::Term &term : terms) {
      double product = term.coefficient;
      for (ops::DimId dim : term.factors)
        product *= static_cast<double>(model_.dims[dim].size);
      sum += product;
    }
    return sum;
  };
  double flops = valueOf(user.flops), bytes = valueOf(user.bytes);
  if (flops < 0 || bytes < 0) {
    elaboration_.emitter().report(spanOf(op.origin), Kind::ValueOutOfRange,
                                  "the {} of `{}` are below zero here",
                                  flops < 0 ? "flops" : "bytes", user.name);
    return false;
  }
  bool fits = flops * std::max(1.0, user.backward) <= kMost && bytes <= kMost;
  if (!fits)
    elaboration_.emitter()
        .report(spanOf(op.origin), Kind::NumberOutOfRange,
                "`{}` would take more than 2^61 {} a micro-batch", user.name,
                bytes <= kMost ? "operations" : "bytes")
        .note(spanOf(plan_.batch.clause),
              "a micro-batch of all ranks is {} of {} tokens",
              counted(model_.dims[model_.batch].size, "sequence"),
              model_.dims[model_.seq].size);
  return fits;
}

} // namespace planc::sema
