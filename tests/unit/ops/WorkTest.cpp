#include "tests/unit/Catch.h"

#include "compiler/ops/Roles.h"
#include "compiler/ops/Work.h"
#include "tests/unit/ops/TinyModels.h"

using namespace planc;
using namespace planc::ops;
using program::Work;

namespace {

/// Work of the operator giving `result`, in bf16, by the sizes of the whole
/// model.
Work workOfResult(const Model &model, const Body &body,
                  const std::string &result) {
  for (const Op &op : body.forward) {
    if (body.values[op.results[0]].name != result)
      continue;
    WorkRequest request;
    request.op = &op;
    request.model = &model;
    auto sizes = [&](ValueId value) {
      std::vector<std::int64_t> out;
      for (DimId dim : body.values[value].dims)
        out.push_back(model.dims[dim].size);
      return out;
    };
    for (ValueId value : op.operands)
      request.shapes.operands.push_back(sizes(value));
    for (ValueId value : op.results)
      request.shapes.results.push_back(sizes(value));
    request.operandPrecisions.assign(op.operands.size(), Precision::Bf16);
    request.resultPrecisions.assign(op.results.size(), Precision::Bf16);
    return workOf(request);
  }
  FAIL("no operator gives " << result);
  return {};
}

struct OneAttention {
  tiny::Builder b;
  Op op;
  std::int64_t keys = 64;

  explicit OneAttention(Attributes attributes) {
    b.model.batch = b.dim("batch", 1);
    b.model.seq = b.dim("seq", 64);
    DimId heads = b.dim("heads", 2), size = b.dim("head_size", 8);
    SlotId slot = b.slot("q", {b.model.batch, b.model.seq, heads, size});
    b.body("a");
    ValueId q = b.input(slot);
    b.op(OpKind::Attention, "out", {q, q, q}, attributes);
    op = b.here().forward[0];
  }
  Work forward() {
    return run({{1, 64, 2, 8}, {1, keys, 2, 8}, {1, keys, 2, 8}});
  }
  Work backward() {
    op.kind = OpKind::AttentionGrad;
    op.rules = {op.rules[0]};
    OperandUse query = op.rules[0].operands[0];
    op.rules[0].operands.insert(op.rules[0].operands.begin(), query);
    return run(
        {{1, 64, 2, 8}, {1, 64, 2, 8}, {1, keys, 2, 8}, {1, keys, 2, 8}});
  }
  Work run(std::vector<std::vector<std::int64_t>> operands) {
    WorkRequest request;
    request.op = &op;
    request.model = &b.model;
    request.operandPrecisions.assign(operands.size(), Precision::Bf16);
    request.shapes.operands = std::move(operands);
    request.shapes.results = {{1, 64, 2, 8}};
    request.resultPrecisions = {Precision::Bf16};
    return workOf(request);
  }
};

} // namespace

TEST_CASE("a product's m, n, k follow its roles") {
  Model model = tiny::llamaLike();
  Work work = workOfResult(model, model.bodies[BodyId(1)], "wk");
  CHECK(work.m == 2 * 4);
  CHECK(work.n == 2 * 2);
  CHECK(work.k == 8);
  CHECK(work.batch == 1);
  CHECK(work.flops.value == 2 * 8 * 4 * 8);
  CHECK(work.modelFlops == work.flops);
  CHECK(work.bytesRead.value == 2 * (8 * 8 + 8 * 4));
  CHECK(work.bytesWritten.value == 2 * 8 * 4);
}

TEST_CASE("a lookup has no FLOPs and touches only its rows") {
  Model model = tiny::llamaLike();
  Work work = workOfResult(model, model.bodies[BodyId(0)], "x");
  CHECK(work.flops.value == 0);
  CHECK(work.bytesRead.value == 2 * 8 + 2 * 8 * 8);
}

TEST_CASE("attention_m2: causal counts half the square, a window its band") {
  Attributes attributes;
  const std::int64_t square = 64 * 64, heads = 2, size = 8;
  CHECK(OneAttention(attributes).forward().modelFlops.value ==
        4 * square * heads * size);
  attributes.causal = true;
  Work causal = OneAttention(attributes).forward();
  CHECK(causal.modelFlops.value == 4 * square / 2 * heads * size);
  CHECK(causal.modelFlopsFull.value == 4 * square * heads * size);
  CHECK(causal.flops == causal.modelFlops);
  CHECK(causal.m == 64);
  CHECK(causal.k == 8);
  CHECK(causal.batch == 2);
  attributes.window = 16;
  CHECK(OneAttention(attributes).forward().modelFlops.value ==
        4 * (64 * 16 - 16 * 16 / 2) * heads * size);
  attributes.window = 1000; // no wider than the sequence
  CHECK(OneAttention(attributes).forward().modelFlops == causal.modelFlops);
}

TEST_CASE("attention_m2: pieces of a cut sequence add up to the whole") {
  Attributes attributes;
  attributes.causal = true;
  attributes.window = 100;
  OneAttention half(attributes);
  half.keys = 256; // 64 of 256 positions on this rank
  CHECK(4 * half.forward().modelFlops.value ==
        4 * (256 * 100 - 100 * 100 / 2) * 2 * 8);
}

TEST_CASE("a flash backward runs five products for the model's four") {
  Attributes attributes;
  attributes.causal = true;
  Work forward = OneAttention(attributes).forward();
  Work backward = OneAttention(attributes).backward();
  CHECK(backward.modelFlops.value == 2 * forward.modelFlops.value);
  CHECK(2 * backward.flops.value == 5 * forward.flops.value);

  attributes.unfused = true;
  Work eager = OneAttention(attributes).backward();
  CHECK(eager.modelFlops == backward.modelFlops);
  CHECK(eager.flops == eager.modelFlopsFull);
  CHECK(eager.kernels == 5);
  CHECK(eager.bytesRead.value > backward.bytesRead.value + 2 * 64 * 64 * 2);
}

TEST_CASE("products added into one value cost a reading, not a kernel") {
  Model model = tiny::llamaLike();
  Body &layer = model.bodies[BodyId(1)];
  for (Op &op : layer.forward)
    op.attributes.accumulated = op.kind == OpKind::Add;
  Work work = workOfResult(model, layer, "y");
  CHECK(work.kernels == 0);
  CHECK(work.bytesRead.value == 2 * 2 * 4 * 8);
  CHECK(work.bytesWritten.value == 0);
}

TEST_CASE("a norm's weight gradient rides along unless norms are eager") {
  Model model = tiny::llamaLike();
  const Body &layer = model.bodies[BodyId(1)];
  Op op = layer.forward[0];
  DimId hidden = op.rules[0].dims.back();
  op.kind = OpKind::RmsNormWeightGrad;
  op.phase = program::Phase::WeightGradient;
  op.rules = {{{hidden}, {op.rules[0].operands[0], op.rules[0].operands[0]}}};
  WorkRequest request;
  request.op = &op;
  request.model = &model;
  request.shapes = {{{2, 4, 8}, {2, 4, 8}}, {{8}}};
  request.operandPrecisions = {Precision::Bf16, Precision::Bf16};
  request.resultPrecisions = {Precision::Fp32};
  CHECK(workOf(request).bytesRead.value == 4 * 8);
  CHECK(workOf(request).bytesWritten.value == 4 * 8);
  op.attributes.unfused = true;
  CHECK(workOf(request).bytesRead.value > 2 * 2 * 2 * 4 * 8);
}

TEST_CASE("a weight's gradient is summed by its product or after it") {
  Model model = tiny::llamaLike();
  const Body &layer = model.bodies[BodyId(1)];
  Op op = layer.forward[0];
  // [rows, a] × [rows, b] → [a, b], over 32 rows.
  const DimId rows = op.rules[0].dims[0], a = op.rules[0].dims[1],
              b = op.rules[0].dims[2];
  op.kind = OpKind::MatMul;
  op.phase = program::Phase::WeightGradient;
  const auto use = [&](DimId kept) {
    OperandUse out = mapAll({rows, kept});
    out.dims[0].role = Role::Contract;
    return out;
  };
  op.rules = {{{a, b}, {use(a), use(b)}}};
  WorkRequest request;
  request.op = &op;
  request.model = &model;
  request.shapes = {{{32, 8}, {32, 4}}, {{8, 4}}};
  request.operandPrecisions = {Precision::Bf16, Precision::Bf16};
  request.resultPrecisions = {Precision::Fp32};
  const Work fused = workOf(request);
  CHECK(fused.bytesRead.value == 2 * 32 * (8 + 4) + 4 * 8 * 4);
  CHECK(fused.bytesWritten.value == 4 * 8 * 4);
  CHECK(fused.bytesAfter.value == 0);
  op.attributes.unfused = true;
  const Work apart = workOf(request);
  CHECK(apart.bytesRead.value == 2 * 32 * (8 + 4));
  CHECK(apart.bytesWritten.value == 2 * 8 * 4);
  CHECK(apart.bytesAfter.value == (2 + 4 + 4) * 8 * 4);
  CHECK(apart.kernels == fused.kernels + 1);
  CHECK(apart.flops == fused.flops);
}

TEST_CASE("a user's formulas are evaluated over local sizes") {
  tiny::Builder b;
  b.model.batch = b.dim("batch", 8);
  b.model.seq = b.dim("seq", 64);
  UserOp scan;
  scan.name = "scan";
  scan.flops = {{9, {b.model.batch, b.model.seq}}};
  scan.bytes = {{4, {b.model.batch, b.model.seq}}};
  scan.backward = 3;
  Op op;
  op.kind = OpKind::User;
  op.attributes.userOp = b.model.userOps.add(scan);
  op.rules = {
      {{b.model.batch, b.model.seq}, {mapAll({b.model.batch, b.model.seq})}}};
  WorkRequest request;
  request.op = &op;
  request.model = &b.model;
  request.shapes = {{{2, 64}}, {{2, 64}}}; // batch cut four ways
  request.operandPrecisions = request.resultPrecisions = {Precision::Bf16};
  Work work = workOf(request);
  CHECK(work.flops.value == 9 * 2 * 64);
  CHECK(work.modelFlops.value == 0);
  CHECK((work.bytesRead + work.bytesWritten).value == 4 * 2 * 64);
  op.kind = OpKind::UserGrad;
  CHECK(workOf(request).flops.value == 3 * 9 * 2 * 64);
}

TEST_CASE("recomputed work is executed, not asked for") {
  Attributes attributes;
  OneAttention again(attributes);
  again.op.phase = program::Phase::Recompute;
  Work work = again.forward();
  CHECK(work.modelFlops.value == 0);
  CHECK(work.flops.value > 0);
}

TEST_CASE("work past 63 bits stays at the largest number") {
  tiny::Sizes sizes;
  sizes.batch = sizes.seq = sizes.hidden = 1LL << 40;
  Model model = tiny::llamaLike(sizes);
  Work work = workOfResult(model, model.bodies[BodyId(1)], "gate");
  CHECK(work.flops.value == std::numeric_limits<std::int64_t>::max());
}

TEST_CASE("attention_m2: packed documents see themselves only") {
  Attributes attributes;
  attributes.causal = true;
  attributes.document = 16;
  const std::int64_t heads = 2, size = 8;
  Work packed = OneAttention(attributes).forward();
  // Four triangles of 16 by 16; the full square stays the sequence's.
  CHECK(packed.modelFlops.value == 4 * (64 * 16 / 2) * heads * size);
  CHECK(packed.flops == packed.modelFlops);
  CHECK(packed.modelFlopsFull.value == 4 * 64 * 64 * heads * size);
  // A window wider than a document changes nothing.
  attributes.window = 40;
  CHECK(OneAttention(attributes).forward().modelFlops == packed.modelFlops);
  // A narrower one counts inside it: 16 w - w^2 / 2 for each document.
  attributes.window = 4;
  CHECK(OneAttention(attributes).forward().modelFlops.value ==
        4 * 4 * (16 * 4 - 8) * heads * size);
}

TEST_CASE("attention of keys and values that differ in size") {
  Attributes attributes;
  OneAttention one(attributes);
  Work work = one.run({{1, 64, 2, 12}, {1, 64, 2, 12}, {1, 64, 2, 8}});
  CHECK(work.modelFlops.value == 2 * 64 * 64 * 2 * (12 + 8));
  CHECK(work.k == 10);
}
