#include "compiler/graph/ChooseFormats.h"

#include "compiler/ops/Infer.h"

#include <algorithm>

namespace planc::graph {
namespace {

using ops::OpKind;
using ops::ValueKind;
using Fusion = GraphOptions::Fusion;

Precision narrower(Precision a, Precision b) {
  return bytesOf(a) < bytesOf(b) ? a : b;
}

class Formats {
public:
  Formats(ops::Model &model, const GraphOptions &options)
      : model_(model), options_(options), held_(activationFormat(options)) {}

  void run(ops::Body &body);

private:
  void setDefaults(ops::Body &body) const;
  bool isUnfused(const ops::Op &op) const;
  ops::Inferred inferAgain(const ops::Body &body, const ops::Op &op);
  void setResults(ops::Body &body, ops::Op &op);
  void chunkLogits(ops::Body &body, const ops::Op &loss) const;

  ops::Model &model_;
  const GraphOptions &options_;
  Precision held_;
};

void Formats::setDefaults(ops::Body &body) const {
  for (ops::Value &value : body.values)
    value.precision = value.kind == ValueKind::Weight
                          ? narrower(options_.parameters, held_)
                          : held_;
  for (const ops::Op &op : body.forward)
    for (std::size_t i = 0; i < op.operands.size(); ++i)
      if (op.rules[0].operands[i].oneHot)
        body.values[op.operands[i]].precision = Precision::Int32;
}

bool Formats::isUnfused(const ops::Op &op) const {
  if (op.kind == OpKind::Attention)
    return options_.attention == GraphOptions::AttentionKernel::Unfused;
  if (op.kind == OpKind::RmsNorm || op.kind == OpKind::LayerNorm)
    return options_.norm == Fusion::Unfused;
  return op.kind == OpKind::CrossEntropy && ops::isUnfused(options_.loss);
}

/// From a loss back to the product that makes its logits, through what works
/// element by element; empty where it is made otherwise.
std::vector<ops::Op *> headOf(ops::Body &body, const ops::Op &loss) {
  std::vector<ops::Op *> chain;
  ops::ValueId logits = loss.operands[0];
  for (auto op = body.forward.rbegin(); op != body.forward.rend(); ++op) {
    if (op->results[0] != logits)
      continue;
    chain.push_back(&*op);
    if (op->kind == OpKind::MatMul)
      return chain;
    if (ops::classOf(op->kind) != ops::OpClass::Elementwise)
      break;
    logits = op->operands[0];
  }
  return {};
}

/// The head is not quantised: no framework's recipe does.
bool makesLogits(ops::Body &body, const ops::Op &op) {
  return std::any_of(body.forward.begin(), body.forward.end(),
                     [&](const ops::Op &loss) {
                       if (loss.kind != OpKind::CrossEntropy)
                         return false;
                       const auto chain = headOf(body, loss);
                       return !chain.empty() && chain.back() == &op;
                     });
}

ops::Inferred Formats::inferAgain(const ops::Body &body, const ops::Op &op) {
  ops::InferRequest request;
  request.kind = op.kind;
  request.attributes = &op.attributes;
  if (op.kind == OpKind::User)
    request.userOp = &model_.userOps[op.attributes.userOp];
  for (ops::ValueId operand : op.operands) {
    const ops::Value &value = body.values[operand];
    bool isWeight = value.kind == ValueKind::Weight;
    request.operands.push_back(
        {value.dims, isWeight,
         isWeight ? model_.weights[value.weight].batchDims : 0});
  }
  if (op.kind == OpKind::MatMul)
    for (const ops::DimUse &use : op.rules[0].operands[0].dims)
      if (use.role == ops::Role::Contract)
        request.over.push_back(use.dim);
  // What is read whole is split or made.
  if (op.kind == OpKind::Split)
    for (const ops::DimUse &use : op.rules[0].operands[0].dims)
      if (use.role == ops::Role::Gather)
        request.along = use.dim;
  if (op.kind == OpKind::Split)
    for (const ops::ResultRule &rule : op.rules)
      for (std::size_t d = 0; d < rule.dims.size(); ++d)
        if (rule.operands[0].dims[d].dim == request.along)
          request.parts.push_back(rule.dims[d]);
  if (op.kind == OpKind::Concat)
    request.along = op.rules[0].dims.back();
  return ops::inferShapes(request, model_.dims);
}

void Formats::setResults(ops::Body &body, ops::Op &op) {
  ops::Inferred inferred = inferAgain(body, op);
  if (inferred.error)
    return;
  std::string base = body.values[op.results[0]].name;
  std::size_t dot = base.rfind(".out");
  if (dot != std::string::npos && dot + 4 == base.size())
    base.resize(dot); // the first result's suffix, where it is written
  for (std::size_t i = 0; i < inferred.results.size(); ++i) {
    const ops::InferredResult &result = inferred.results[i];
    if (i >= op.results.size()) {
      op.results.push_back(body.values.add({}));
      op.rules.emplace_back();
    }
    ops::Value &value = body.values[op.results[i]];
    value.precision = result.fixedPrecision ? result.precision : held_;
    if (op.kind != OpKind::Attention || i == 0)
      continue;
    value.name = base + "." + result.suffix;
    value.kind = result.kind;
    value.dims = result.rule.dims;
    value.origin = op.origin;
    op.rules[i] = result.rule;
  }
}

void Formats::run(ops::Body &body) {
  setDefaults(body);
  for (ops::Op &op : body.forward) {
    op.attributes.unfused = isUnfused(op);
    if (op.kind == OpKind::Attention)
      op.attributes.document = options_.document;
    if (op.kind == OpKind::MatMul)
      op.attributes.compute = makesLogits(body, op) ? held_ : options_.compute;
    if (op.kind == OpKind::Attention)
      op.attributes.compute = options_.attentionFormat;
    setResults(body, op);
  }
  for (ops::Op &op : body.forward) {
    if (op.kind == OpKind::Router)
      op.attributes.compute = options_.router.value_or(held_);
    if (op.kind == OpKind::Dispatch && options_.dispatch)
      body.values[op.results[0]].precision = *options_.dispatch;
    if (op.kind == OpKind::CrossEntropy) {
      body.values[op.operands[0]].precision = options_.logits;
      if (options_.loss == GraphOptions::Loss::Linear)
        chunkLogits(body, op);
    }
  }
}

/// A chunk has so many rows that it holds as many elements as they have before
/// the product, as Liger's fused linear cross-entropy does (arXiv 2410.10989,
/// 3.2).
void Formats::chunkLogits(ops::Body &body, const ops::Op &loss) const {
  const std::vector<ops::Op *> chain = headOf(body, loss);
  if (chain.empty())
    return; // sema refuses it
  std::int64_t width = 1;
  for (const ops::DimUse &use : chain.back()->rules[0].operands[0].dims)
    if (use.role == ops::Role::Contract)
      width *= model_.dims[use.dim].size;
  for (ops::Op *op : chain) {
    op->attributes.chunkWidth = width;
    body.values[op->results[0]].chunkWidth = width;
  }
}

} // namespace

Precision activationFormat(const GraphOptions &options) {
  return bytesOf(options.compute) < 2 ? Precision::Bf16 : options.compute;
}

void chooseFormats(ops::Model &model, const GraphOptions &options) {
  Formats formats(model, options);
  for (ops::Body &body : model.bodies)
    formats.run(body);
}

} // namespace planc::graph
