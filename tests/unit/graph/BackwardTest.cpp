#include "tests/unit/Catch.h"

#include "tests/unit/graph/Graphs.h"

using namespace planc;
using namespace planc::graph;
using program::Phase;
namespace tiny = planc::ops::tiny;

namespace {

std::int64_t whole(Int128 value) { return static_cast<std::int64_t>(value); }

/// FLOPs of products with weights, per token and micro-batch, by hand.
std::int64_t llamaForward(const tiny::Sizes &z, bool full) {
  std::int64_t tokens = z.batch * z.seq, ad = z.heads * z.headSize,
               kd = z.keyHeads * z.headSize;
  std::int64_t layer =
      2 * tokens * z.hidden * (2 * ad + 2 * kd + 3 * z.ffn) +
      4 * z.batch * z.heads * z.headSize * z.seq * z.seq / (full ? 1 : 2);
  return z.layers * layer + 2 * tokens * z.hidden * z.vocab;
}

} // namespace

TEST_CASE("flops_m2: the backward's products are twice the forward's") {
  for (auto attention : {GraphOptions::AttentionKernel::Flash,
                         GraphOptions::AttentionKernel::Unfused}) {
    GraphOptions options;
    options.attention = attention;
    for (const ops::Model &model :
         {tiny::llamaLike(), tiny::gptLike(gptSizes())}) {
      ModelFlops flops = modelFlops(buildGraph(model, options));
      CHECK(whole(flops.forwardExact) > 0);
      CHECK(whole(flops.exact) == 3 * whole(flops.forwardExact));
    }
  }
}

TEST_CASE("flops_m2: exact and full differ by half the attention square") {
  tiny::Sizes z;
  ModelFlops flops = modelFlops(buildGraph(tiny::llamaLike(z), {}));
  CHECK(whole(flops.forwardExact) == llamaForward(z, false));
  CHECK(whole(flops.full) == 3 * llamaForward(z, true));
}

TEST_CASE("every weight has a gradient, in the order they get ready") {
  OpGraph graph = buildGraph(tiny::gptLike(gptSizes()), {});
  std::set<std::string> found;
  for (const Body &body : graph.bodies)
    for (const Body::WeightGradient &gradient : body.weightGradients) {
      const ops::Value &value = body.forward.values[gradient.value];
      CHECK(value.kind == ops::ValueKind::WeightGradient);
      CHECK(value.precision == Precision::Fp32);
      found.insert(graph.model.weights[gradient.weight].name);
    }
  CHECK(found.size() == graph.model.weights.size());
  const Body &layer = bodyOf(graph, "decoder");
  CHECK(graph.model.weights[layer.weightGradients[0].weight].name ==
        "decoder.bdown");
  CHECK(graph.model.weights[layer.weightGradients[1].weight].name ==
        "decoder.wdown");
}

TEST_CASE("contributions to one value are added once") {
  OpGraph graph = buildGraph(tiny::llamaLike(), {});
  const Body &layer = bodyOf(graph, "decoder");
  std::vector<std::string> sums;
  for (const ops::Op &op : layer.backward)
    if (op.kind == ops::OpKind::Add) {
      sums.push_back(op.name);
      if (op.name == "grad h")
        CHECK(op.operands.size() == 3); // q, k, v
      CHECK(op.attributes.accumulated ==
            (op.name == "grad g" || op.name == "grad h"));
    }
  CHECK(sums ==
        std::vector<std::string>{"grad g", "grad y", "grad h", "grad x"});
  REQUIRE(layer.gradientInputs.size() == 1);
  REQUIRE(layer.gradientOutputs.size() == 1);
  CHECK(layer.forward.values[layer.gradientOutputs[0].value].name == "grad x");
}

TEST_CASE("the first body sends no gradient, the last receives the seed") {
  OpGraph graph = buildGraph(tiny::llamaLike(), {});
  const Body &embed = bodyOf(graph, "embed");
  CHECK(embed.gradientOutputs.empty());
  REQUIRE(embed.backward.size() == 1);
  CHECK(embed.backward[0].kind == ops::OpKind::EmbedGrad);
  CHECK(embed.backward[0].phase == Phase::WeightGradient);
  const Body &head = bodyOf(graph, "head");
  CHECK(head.gradientInputs.empty());
  REQUIRE(head.lossGradient.isValid());
  CHECK(head.forward.values[head.lossGradient].kind == ops::ValueKind::Given);
  ops::ValueId logits = valueOf(head, "grad logits");
  REQUIRE(logits.isValid());
  CHECK(head.forward.values[logits].precision == Precision::Bf16);
  CHECK(head.forward.values[valueOf(head, "logits")].precision ==
        Precision::Fp32);
}

TEST_CASE("a tied table gets a contribution from each body that reads it") {
  tiny::Sizes z = gptSizes();
  z.tied = true;
  OpGraph graph = buildGraph(tiny::gptLike(z), {});
  int contributions = 0;
  for (const Body &body : graph.bodies)
    for (const Body::WeightGradient &gradient : body.weightGradients)
      contributions += graph.model.weights[gradient.weight].name == "table";
  CHECK(contributions == 2);
  CHECK(verify(graph).empty());
}

TEST_CASE("a weight read twice in a body has its uses added") {
  tiny::Builder b;
  b.model.batch = b.dim("batch", 2);
  b.model.seq = b.dim("seq", 3);
  ops::DimId hidden = b.dim("hidden", 4), vocab = b.dim("vocab", 8);
  ops::SlotId tokens = b.slot("tokens", {b.model.batch, b.model.seq}, true);
  b.body("all");
  ops::ValueId given = b.input(tokens);
  ops::ValueId table = b.weight("table", {vocab, hidden});
  ops::ValueId x = b.op(ops::OpKind::Embed, "x", {given, table});
  ops::ValueId logits = b.op(ops::OpKind::MatMul, "logits", {x, table});
  b.model.loss = b.op(ops::OpKind::CrossEntropy, "loss", {logits, given});
  OpGraph graph = buildGraph(b.model, {});
  CHECK(verify(graph).empty());
  const Body &body = graph.bodies[ops::BodyId(0)];
  REQUIRE(body.weightGradients.size() == 1);
  const ops::Op &sum = body.backward.back();
  CHECK(sum.kind == ops::OpKind::Add);
  CHECK(sum.phase == Phase::WeightGradient);
  CHECK(sum.operands.size() == 2);
  CHECK(sum.results[0] == body.weightGradients[0].value);
}

TEST_CASE("a value every iteration reads gets one gradient added per reading") {
  tiny::Builder b;
  b.model.batch = b.dim("batch", 2);
  b.model.seq = b.dim("seq", 3);
  ops::DimId hidden = b.dim("hidden", 4), vocab = b.dim("vocab", 8);
  ops::SlotId tokens = b.slot("tokens", {b.model.batch, b.model.seq}, true);
  ops::SlotId memory = b.slot("memory", {b.model.batch, b.model.seq, hidden});
  ops::SlotId carried = b.slot("x", {b.model.batch, b.model.seq, hidden});
  b.body("start");
  ops::ValueId start =
      b.op(ops::OpKind::Embed, "x",
           {b.input(tokens), b.weight("table", {vocab, hidden})});
  b.output(carried, start);
  b.output(memory, b.matmul("memory", start, "w", {hidden, hidden}));
  b.body("layer", 3);
  b.output(carried, b.op(ops::OpKind::Mul, "x_out",
                         {b.input(carried), b.input(memory)}));
  b.body("end");
  ops::ValueId logits =
      b.matmul("logits", b.input(carried), "out", {hidden, vocab});
  b.model.loss =
      b.op(ops::OpKind::CrossEntropy, "loss", {logits, b.input(tokens)});
  OpGraph graph = buildGraph(b.model, {});
  CHECK(verify(graph).empty());
  const Body &layer = bodyOf(graph, "layer");
  CHECK(layer.gradientInputs.size() == 1); // of x
  REQUIRE(layer.gradientOutputs.size() == 2);
  CHECK(layer.gradientOutputs[1].slot == memory);
  CHECK(bodyOf(graph, "start").gradientInputs.size() == 2);
}

TEST_CASE("a user's operator keeps what it says and sends every gradient") {
  tiny::Builder b;
  b.model.batch = b.dim("batch", 2);
  b.model.seq = b.dim("seq", 3);
  ops::DimId hidden = b.dim("hidden", 4), vocab = b.dim("vocab", 8);
  ops::SlotId tokens = b.slot("tokens", {b.model.batch, b.model.seq}, true);
  b.body("all");
  ops::ValueId given = b.input(tokens);
  ops::ValueId x = b.op(ops::OpKind::Embed, "x",
                        {given, b.weight("table", {vocab, hidden})});
  ops::ValueId decay = b.weight("decay", {hidden});
  ops::UserOp scan;
  scan.name = "scan";
  scan.result = {b.model.batch, b.model.seq, hidden};
  scan.inOrder = {b.model.seq};
  scan.saves = {0};
  ops::Attributes attributes;
  attributes.userOp = b.model.userOps.add(scan);
  ops::ValueId y = b.op(ops::OpKind::User, "y", {x, decay}, attributes);
  ops::ValueId logits = b.matmul("logits", y, "out", {hidden, vocab});
  b.model.loss = b.op(ops::OpKind::CrossEntropy, "loss", {logits, given});
  OpGraph graph = buildGraph(b.model, {});
  CHECK(verify(graph) == std::vector<std::string>{});
  const Body &body = graph.bodies[ops::BodyId(0)];
  CHECK(body.weightGradients.size() == 3);
  CHECK(has(namesOf(body, body.saved), "x"));
}

TEST_CASE("operators of a backward name their formats and phases") {
  GraphOptions options;
  options.compute = Precision::Fp8;
  OpGraph graph = buildGraph(tiny::llamaLike(), options);
  const Body &layer = bodyOf(graph, "decoder");
  for (const ops::Op &op : layer.backward)
    if (op.kind == ops::OpKind::MatMul)
      CHECK(op.attributes.compute == Precision::Fp8);
  CHECK(layer.forward.values[valueOf(layer, "h")].precision == Precision::Bf16);
}
