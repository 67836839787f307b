#include "tests/unit/Catch.h"

#include "compiler/ops/Gradient.h"
#include "compiler/ops/Roles.h"
#include "tests/unit/ops/TinyModels.h"

using namespace planc;
using namespace planc::ops;
using program::Phase;

namespace {

struct Differentiated {
  Gradient gradient;
  std::vector<Dims> operands;
};

Differentiated gradientOf(const Body &body, const std::string &result) {
  for (const Op &op : body.forward) {
    if (body.values[op.results[0]].name != result)
      continue;
    GradientRequest request;
    request.op = &op;
    for (ValueId operand : op.operands) {
      request.operandDims.push_back(body.values[operand].dims);
      request.isWeight.push_back(body.values[operand].kind ==
                                 ValueKind::Weight);
      request.wanted.push_back(body.values[operand].kind != ValueKind::Given);
    }
    for (ValueId value : op.results)
      request.resultDims.push_back(body.values[value].dims);
    return {differentiate(request), request.operandDims};
  }
  FAIL("no operator gives " << result);
  return {};
}

Role roleOf(const OperandUse &use, DimId dim) {
  for (const DimUse &entry : use.dims)
    if (entry.dim == dim)
      return entry.role;
  FAIL("no such dimension");
  return Role::Map;
}

DimId named(const Model &model, const std::string &name) {
  for (DimId dim : model.dims.ids())
    if (model.dims[dim].name == name)
      return dim;
  return {};
}

} // namespace

TEST_CASE("the weight gradient of a product contracts batch and seq") {
  Model model = tiny::llamaLike();
  const Body &layer = model.bodies[BodyId(1)];
  auto [gradient, dims] = gradientOf(layer, "o");
  REQUIRE(gradient.ops.size() == 2);
  const GradientOp &input = gradient.ops[0], &weight = gradient.ops[1];
  CHECK(input.kind == OpKind::MatMul);
  CHECK(input.phase == Phase::InputGradient);
  CHECK(weight.phase == Phase::WeightGradient);
  CHECK(input.rules[0].dims == dims[0]);
  CHECK(weight.rules[0].dims == dims[1]);
  DimId heads = named(model, "heads"), hidden = named(model, "hidden");
  CHECK(roleOf(input.rules[0].operands[0], hidden) == Role::Contract);
  CHECK(roleOf(input.rules[0].operands[1], heads) == Role::Map);
  for (const OperandUse &use : weight.rules[0].operands) {
    CHECK(roleOf(use, model.batch) == Role::Contract);
    CHECK(roleOf(use, model.seq) == Role::Contract);
  }
  CHECK(roleOf(weight.rules[0].operands[0], heads) == Role::Map);
  CHECK(roleOf(weight.rules[0].operands[1], hidden) == Role::Map);
}

TEST_CASE("the gradient of a weight with one dimension twice keeps its order") {
  tiny::Builder b;
  b.model.batch = b.dim("batch", 3);
  DimId hidden = b.dim("hidden", 5);
  SlotId slot = b.slot("x", {b.model.batch, hidden});
  b.body("join");
  b.matmul("y", b.input(slot), "join", {hidden, hidden});
  auto [gradient, dims] = gradientOf(b.here(), "y");
  REQUIRE(gradient.ops.size() == 2);
  const ResultRule &input = gradient.ops[0].rules[0];
  CHECK(input.operands[1].dims[0].role == Role::Map);
  CHECK(input.operands[1].dims[1].role == Role::Contract);
  CHECK(roleOf(input.operands[0], hidden) == Role::Contract);
  const ResultRule &weight = gradient.ops[1].rules[0];
  CHECK(weight.dims == Dims{hidden, hidden});
  CHECK(roleOf(weight.operands[0], hidden) == Role::Map);
  CHECK(roleOf(weight.operands[1], hidden) == Role::Map);
}

TEST_CASE("gradients of k and v contract query positions; q's maps them") {
  Model model = tiny::llamaLike();
  const Body &layer = model.bodies[BodyId(1)];
  auto [gradient, dims] = gradientOf(layer, "attention");
  REQUIRE(gradient.ops.size() == 1);
  const GradientOp &op = gradient.ops[0];
  REQUIRE(op.operands.size() == 6); // dout q k v out lse
  REQUIRE(op.rules.size() == 3);
  DimId heads = named(model, "heads"), kv = named(model, "kv_heads");
  CHECK(roleOf(op.rules[0].operands[0], model.seq) == Role::Map);
  CHECK(roleOf(op.rules[0].operands[2], model.seq) == Role::Gather);
  CHECK(op.rules[0].operands[2].dims[2].as == heads);
  for (std::size_t i : {1, 2}) {
    CHECK(op.rules[i].dims == dims[i]);
    CHECK(roleOf(op.rules[i].operands[0], model.seq) == Role::Contract);
    CHECK(roleOf(op.rules[i].operands[5], model.seq) == Role::Contract);
    CHECK(op.rules[i].operands[0].dims[2].as == kv);
    CHECK(roleOf(op.rules[i].operands[3], model.seq) == Role::Gather);
  }
}

TEST_CASE("a bias sums its gradient; a residual passes it on") {
  Model model = tiny::gptLike({2, 2, 4, 8, 4, 4, 2, 12, 16, 0.1, {}, false});
  const Body &layer = model.bodies[BodyId(1)];
  auto bias = gradientOf(layer, "up_biased").gradient;
  CHECK(bias.passed == std::vector<std::size_t>{0});
  REQUIRE(bias.ops.size() == 1);
  CHECK(bias.ops[0].kind == OpKind::ReduceSum);
  CHECK(bias.ops[0].phase == Phase::WeightGradient);
  CHECK(roleOf(bias.ops[0].rules[0].operands[0], model.seq) == Role::Contract);
  auto residual = gradientOf(layer, "y").gradient;
  CHECK(residual.passed == std::vector<std::size_t>{0, 1});
  CHECK(residual.ops.empty());
  auto norm = gradientOf(layer, "h").gradient;
  REQUIRE(norm.ops.size() == 2);
  CHECK(norm.ops[1].targets == std::vector<std::size_t>{1, 2});
  CHECK(roleOf(norm.ops[0].rules[0].operands[0], named(model, "hidden")) ==
        Role::Gather);
}

TEST_CASE("a product of a broadcast factor reduces after multiplying") {
  tiny::Builder b;
  b.model.batch = b.dim("batch", 3);
  DimId hidden = b.dim("hidden", 5);
  SlotId slot = b.slot("x", {b.model.batch, hidden});
  b.body("scale");
  b.op(OpKind::Mul, "y", {b.input(slot), b.weight("scale", {hidden})});
  Gradient gradient = gradientOf(b.here(), "y").gradient;
  REQUIRE(gradient.ops.size() == 3);
  CHECK(gradient.ops[1].targets.empty());
  CHECK(gradient.ops[2].kind == OpKind::ReduceSum);
  CHECK(gradient.ops[2].operands[0].kind == GradientSource::Kind::Step);
  CHECK(gradient.ops[2].operands[0].index == 1);
}

TEST_CASE("embedding and loss: one-hot contraction and its mirror") {
  Model model = tiny::llamaLike();
  auto embed = gradientOf(model.bodies[BodyId(0)], "x").gradient;
  REQUIRE(embed.ops.size() == 1);
  DimId vocab = named(model, "vocab");
  const ResultRule &rule = embed.ops[0].rules[0];
  CHECK(rule.operands[0].oneHot);
  CHECK(roleOf(rule.operands[0], vocab) == Role::Map);
  CHECK(roleOf(rule.operands[0], model.batch) == Role::Contract);
  CHECK(roleOf(rule.operands[1], model.seq) == Role::Contract);

  auto loss = gradientOf(model.bodies[BodyId(2)], "loss").gradient;
  REQUIRE(loss.ops.size() == 1);
  REQUIRE(loss.ops[0].operands.size() == 5);
  for (const OperandUse &use : loss.ops[0].rules[0].operands)
    for (const DimUse &dim : use.dims)
      CHECK(dim.role == Role::Map);
}
