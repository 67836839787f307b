// Tokens routed to experts: `dispatch` and `combine`.
#include "compiler/sema/ModelBuilder.h"

#include "compiler/diag/Kinds.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace planc::sema {

using diag::Kind;
using ops::OpKind;

namespace {

constexpr std::string_view kRouteOptions[] = {"top_k", "imbalance", "capacity",
                                              "nodes", "score"};
constexpr std::int64_t kMostExperts = 1'000'000;
constexpr double kMostFactor = 1000;

} // namespace

bool ModelBuilder::isRouteOption(std::string_view name) {
  return std::find(std::begin(kRouteOptions), std::end(kRouteOptions), name) !=
         std::end(kRouteOptions);
}

/// A factor as millionths.
bool ModelBuilder::readFactor(const ast::Expr &expr, std::string_view name,
                              double least, std::int64_t &out) {
  auto value =
      evaluator().quantity(expr, fmt::format("`{}`", name), kNoDimension);
  if (!value)
    return false;
  if (*value >= least && *value > 0 && *value <= kMostFactor) {
    out = std::max<std::int64_t>(1, std::llround(*value * 1e6));
    return true;
  }
  elaboration_.emitter().report(
      expr.span, Kind::ValueOutOfRange, "{} of {}; it is {} and at most {}",
      name, *value, least > 0 ? fmt::format("at least {}", least) : "above 0",
      kMostFactor);
  return false;
}

bool ModelBuilder::readCount(const ast::Expr &expr, std::string_view name,
                             std::int64_t &out) {
  auto value = evaluator().integer(expr, fmt::format("`{}`", name));
  if (!value)
    return false;
  out = *value;
  if (*value >= 1)
    return true;
  elaboration_.emitter().report(expr.span, Kind::ValueOutOfRange,
                                "{} of {}; it is at least 1", name, *value);
  return false;
}

bool ModelBuilder::readRouteOption(const ast::Argument &argument,
                                   OperatorCall &out) {
  std::string_view name = argument.name.text;
  const ast::Expr &expr = *argument.value;
  ops::Route &route = out.attributes.route;
  // No bound is no option.
  bool mayBeNone = name == "capacity" || name == "nodes";
  if (mayBeNone)
    if (Value value = evaluator().valueOrWord(expr); value.as<Word>())
      if (value.as<Word>()->text == "none")
        return true;
  if (name == "imbalance")
    return readFactor(expr, name, 1, route.imbalance);
  if (name == "capacity")
    return readFactor(expr, name, 0, route.capacity);
  if (name == "top_k")
    return readCount(expr, name, route.topK);
  if (name == "nodes")
    return readCount(expr, name, route.nodes);
  // Which function makes weights of scores changes nothing in what it costs.
  Value value = evaluator().valueOrWord(expr);
  if (value.isPoison())
    return false;
  auto *word = value.as<Word>();
  if (word && (word->text == "softmax" || word->text == "sigmoid"))
    return true;
  evaluator().reportType(expr.span, "`score`", "`softmax` or `sigmoid`", value);
  return false;
}

bool ModelBuilder::readWeights(const ast::Expr &expr, std::string_view name,
                               OperatorCall &out) {
  auto value = evaluator().boolean(expr, fmt::format("`{}`", name));
  out.weights = value.value_or(false);
  return value.has_value();
}

bool ModelBuilder::checkDispatch(const ast::CallExpr &call,
                                 const OperatorCall &out) {
  std::size_t count = out.operands.size();
  diag::Emitter &emitter = elaboration_.emitter();
  if (count < 2 || count > 3) {
    emitter.report(call.span, Kind::ShapeMismatch,
                   "found {} operand{} where `dispatch` takes a tensor and its "
                   "router, and perhaps the router's bias",
                   count, count == 1 ? "" : "s");
    return false;
  }
  for (std::size_t i = 1; i < count; ++i)
    if (!out.operands[i].weight.isValid()) {
      emitter
          .report(out.operandSpans[i], Kind::TypeMismatch,
                  "the {} of a dispatch is a weight",
                  i == 1 ? "router" : "bias")
          .help("dispatch(x, router[hidden, experts]{}, top_k = 2)",
                i == 1 ? "" : ", bias[experts]");
      return false;
    }
  if (out.attributes.route.topK > 0)
    return true;
  emitter
      .report(call.span, Kind::MissingArgument,
              "`dispatch` is not told how many experts a token goes to")
      .help("dispatch(x, router[hidden, experts], top_k = 2)");
  return false;
}

/// Scores, the choice among them, and the tokens as every expert gets them.
Value ModelBuilder::dispatch(const ast::CallExpr &call, OperatorCall out) {
  if (!checkDispatch(call, out))
    return Poison();
  OperatorCall router;
  router.kind = OpKind::Router;
  router.span = call.span;
  router.operands = {out.operands[0], out.operands[1]};
  router.operandSpans = {out.operandSpans[0], out.operandSpans[1]};
  Value scores = apply(std::move(router));
  if (!scores.as<Tensor>())
    return Poison();
  ops::Route &route = out.attributes.route;
  route.experts = dimsOf(out.operands[1]).back();
  route.choices = dimsOf(*scores.as<Tensor>()).back();
  route.count = model_.dims[route.experts].size;
  if (route.topK > route.count || route.count > kMostExperts) {
    bool isTopK = route.topK > route.count;
    elaboration_.emitter()
        .report(call.span, Kind::ValueOutOfRange, "{}",
                isTopK ? fmt::format("a token cannot go to {} of {} experts",
                                     route.topK, route.count)
                       : fmt::format("{} experts; at most {} are supported",
                                     route.count, kMostExperts))
        .note(elaboration_.spanOf(model_.dims[route.experts].origin),
              "`{}` is {} here", ops::fullName(model_.dims[route.experts]),
              route.count);
    return Poison();
  }
  if (out.operands.size() == 3) {
    OperatorCall bias;
    bias.kind = OpKind::RouterBias;
    bias.span = call.span;
    bias.operands = {*scores.as<Tensor>(), out.operands[2]};
    bias.operandSpans = {call.span, out.operandSpans[2]};
    scores = apply(std::move(bias));
    if (!scores.as<Tensor>())
      return Poison();
  }
  OperatorCall choice;
  choice.kind = OpKind::TopK;
  choice.span = call.span;
  choice.attributes.route = route;
  choice.operands = {*scores.as<Tensor>()};
  choice.operandSpans = {call.span};
  Value weights = apply(std::move(choice));
  if (!weights.as<Tensor>())
    return Poison();
  out.operands.resize(1);
  out.operands.push_back(*weights.as<Tensor>());
  out.operandSpans.resize(1);
  out.operandSpans.push_back(call.span);
  OperatorCall sent;
  sent.kind = OpKind::RouteWeights;
  sent.span = call.span;
  sent.attributes = out.attributes;
  sent.operands = {*weights.as<Tensor>()};
  sent.operandSpans = {call.span};
  bool isAsked = out.weights;
  Value tokens = apply(std::move(out));
  if (!isAsked || !tokens.as<Tensor>())
    return tokens;
  std::vector<Value> both = {tokens, apply(std::move(sent))};
  return Tuple{std::make_shared<const std::vector<Value>>(std::move(both))};
}

/// The dispatch whose rows a value holds: back along its operands.
const ops::Op *ModelBuilder::dispatchOf(ops::ValueId value) {
  const ops::Body &body = current().body;
  std::vector<bool> asked(body.values.size(), false);
  asked[value.index()] = true;
  for (auto op = body.forward.rbegin(); op != body.forward.rend(); ++op) {
    bool isAsked =
        std::any_of(op->results.begin(), op->results.end(),
                    [&](ops::ValueId result) { return asked[result.index()]; });
    if (!isAsked)
      continue;
    if (op->kind == OpKind::Dispatch)
      return &*op;
    for (ops::ValueId operand : op->operands)
      if (body.values[operand].route.isRouted())
        asked[operand.index()] = true;
  }
  return nullptr;
}

Value ModelBuilder::combine(OperatorCall out) {
  diag::Emitter &emitter = elaboration_.emitter();
  if (out.operands.size() != 1) {
    emitter.report(out.span, Kind::ShapeMismatch,
                   "found {} operand{} where `combine` takes one",
                   out.operands.size(), out.operands.size() == 1 ? "" : "s");
    return Poison();
  }
  const ops::Op *from = nullptr;
  if (!out.operands[0].weight.isValid())
    from = dispatchOf(use(out.operands[0]));
  if (!from) {
    emitter
        .report(out.operandSpans[0], Kind::ShapeMismatch,
                "`combine` takes what was made of dispatched tokens")
        .help("combine(f(dispatch(x, router[hidden, experts], top_k = 2)))");
    return Poison();
  }
  out.attributes.route = from->attributes.route;
  if (!out.weights)
    out.kind = OpKind::CombineSum;
  out.operands.push_back({*current_, from->operands[1], {}});
  out.operandSpans.push_back(out.span);
  return apply(std::move(out));
}

void ModelBuilder::reportCarried(const Tensor &tensor) {
  elaboration_.emitter().report(
      elaboration_.spanOf(
          bodies_[tensor.body].body.values[tensor.value].origin),
      Kind::Unsupported,
      "dispatched tokens are read outside the repeat that they are made in, "
      "which planc does not support yet");
}

} // namespace planc::sema
