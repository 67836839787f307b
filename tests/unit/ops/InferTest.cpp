#include "tests/unit/Catch.h"

#include "compiler/ops/Roles.h"
#include "tests/unit/ops/TinyModels.h"

using namespace planc;
using namespace planc::ops;

namespace {

struct Shapes {
  DimTable dims;
  DimId batch = add("batch", 2), seq = add("seq", 4), hidden = add("hidden", 8),
        heads = add("heads", 4), kv = add("kv_heads", 2),
        size = add("head_size", 2), ffn = add("ffn", 12),
        experts = add("experts", 3);

  DimId add(std::string name, std::int64_t n) {
    return dims.add({std::move(name), "", n, {}});
  }
  Inferred infer(OpKind kind, std::vector<OperandShape> operands,
                 Attributes attributes = {}, Dims over = {}) {
    InferRequest request;
    request.kind = kind;
    request.attributes = &attributes;
    request.operands = std::move(operands);
    request.over = std::move(over);
    return inferShapes(request, dims);
  }
};

std::vector<Role> rolesOf(const OperandUse &use) {
  std::vector<Role> roles;
  for (const DimUse &dim : use.dims)
    roles.push_back(dim.role);
  return roles;
}

const Role kMap = Role::Map, kSum = Role::Contract, kWhole = Role::Gather;

} // namespace

TEST_CASE("matmul contracts what a weight shares and keeps the rest in order") {
  Shapes s;
  auto out = s.infer(OpKind::MatMul, {{{s.batch, s.seq, s.heads, s.size}},
                                      {{s.heads, s.size, s.hidden}, true}});
  REQUIRE(!out.error);
  CHECK(out.results[0].rule.dims == Dims{s.batch, s.seq, s.hidden});
  CHECK(rolesOf(out.results[0].rule.operands[0]) ==
        std::vector<Role>{kMap, kMap, kSum, kSum});

  // A table used as the head: its second dimension is the one shared.
  DimId vocab = s.add("vocab", 16);
  out = s.infer(OpKind::MatMul,
                {{{s.batch, s.seq, s.hidden}}, {{vocab, s.hidden}, true}});
  CHECK(out.results[0].rule.dims == Dims{s.batch, s.seq, vocab});
}

TEST_CASE("a weight may name a dimension twice, and count a batch of itself") {
  Shapes s;
  auto out = s.infer(OpKind::MatMul, {{{s.batch, s.seq, s.hidden}},
                                      {{s.hidden, s.hidden}, true}});
  REQUIRE(!out.error);
  CHECK(out.results[0].rule.dims == Dims{s.batch, s.seq, s.hidden});
  CHECK(rolesOf(out.results[0].rule.operands[1]) ==
        std::vector<Role>{kSum, kMap});

  DimId tokens = s.add("tokens", 8);
  out = s.infer(OpKind::MatMul, {{{s.experts, tokens, s.hidden}},
                                 {{s.experts, s.hidden, s.ffn}, true, 1}});
  REQUIRE(!out.error);
  CHECK(out.results[0].rule.dims == Dims{s.experts, tokens, s.ffn});
  CHECK(rolesOf(out.results[0].rule.operands[1]) ==
        std::vector<Role>{kMap, kSum, kMap});
}

TEST_CASE("matmul says why operands do not fit") {
  Shapes s;
  auto out = s.infer(OpKind::MatMul, {{{s.batch, s.seq, s.hidden}}});
  REQUIRE(out.error);
  CHECK(out.error->kind == ShapeError::Kind::Count);
  CHECK(out.error->text == "found 1 operand where `matmul` takes 2");

  out = s.infer(OpKind::MatMul,
                {{{s.batch, s.seq, s.hidden}}, {{s.ffn, s.heads}, true}});
  REQUIRE(out.error);
  CHECK(out.error->kind == ShapeError::Kind::NothingShared);
  CHECK(out.error->text == "[batch, seq, hidden] and [ffn, heads] share no "
                           "dimension to contract");

  out = s.infer(OpKind::MatMul, {{{s.batch, s.hidden}}, {{s.hidden, s.ffn}}});
  REQUIRE(out.error); // two activations, no `over`
  CHECK(out.error->kind == ShapeError::Kind::NothingShared);

  out = s.infer(OpKind::MatMul, {{{s.batch, s.hidden}}, {{s.hidden, s.ffn}}},
                {}, {s.hidden});
  REQUIRE(!out.error);
  CHECK(out.results[0].rule.dims == Dims{s.batch, s.ffn});

  out = s.infer(OpKind::MatMul, {{{s.batch, s.seq, s.hidden}},
                                 {{s.experts, s.hidden, s.ffn}, true, 1}});
  REQUIRE(out.error);
  CHECK(out.error->kind == ShapeError::Kind::Missing);

  out = s.infer(OpKind::MatMul,
                {{{s.batch, s.hidden}}, {{s.hidden, s.ffn, s.ffn}, true}});
  REQUIRE(out.error);
  CHECK(out.error->kind == ShapeError::Kind::Repeated);
}

TEST_CASE("attention maps queries and ties key heads to heads") {
  Shapes s;
  Dims q = {s.batch, s.seq, s.heads, s.size},
       k = {s.batch, s.seq, s.kv, s.size};
  auto out = s.infer(OpKind::Attention, {{q}, {k}, {k}});
  REQUIRE(!out.error);
  REQUIRE(out.results.size() == 2);
  const ResultRule &rule = out.results[0].rule;
  CHECK(rule.dims == q);
  CHECK(rolesOf(rule.operands[0]) ==
        std::vector<Role>{kMap, kMap, kMap, kWhole});
  CHECK(rolesOf(rule.operands[1]) ==
        std::vector<Role>{kMap, kWhole, kMap, kWhole});
  CHECK(rule.operands[1].dims[2].as == s.heads);
  CHECK(rolesOf(rule.operands[2]) ==
        std::vector<Role>{kMap, kWhole, kMap, kMap});
  CHECK(out.results[1].rule.dims == Dims{s.batch, s.heads, s.seq});
  CHECK(out.results[1].precision == Precision::Fp32);

  DimId odd = s.add("odd_heads", 3);
  out = s.infer(
      OpKind::Attention,
      {{q}, {{s.batch, s.seq, odd, s.size}}, {{s.batch, s.seq, odd, s.size}}});
  REQUIRE(out.error);
  CHECK(out.error->text == "4 query heads (`heads`) cannot share 3 key heads "
                           "(`odd_heads`) evenly");
}

TEST_CASE("unfused attention keeps its scores, over keys of their own") {
  Shapes s;
  Dims q = {s.batch, s.seq, s.heads, s.size};
  Attributes attributes;
  attributes.unfused = true;
  attributes.dropout = 0.1;
  auto out = s.infer(OpKind::Attention, {{q}, {q}, {q}}, attributes);
  REQUIRE(out.results.size() == 4);
  Dims square = out.results[1].rule.dims;
  REQUIRE(square.size() == 4);
  CHECK(s.dims[square[3]].name == "keys");
  CHECK(s.dims[square[3]].size == 4);
  CHECK(out.results[2].precision == Precision::Int8);
  std::size_t known = s.dims.size();
  s.infer(OpKind::Attention, {{q}, {q}, {q}}, attributes);
  CHECK(s.dims.size() == known);
}

TEST_CASE("a lookup and targets are one-hot; the loss has three statistics") {
  Shapes s;
  DimId vocab = s.add("vocab", 16);
  auto out =
      s.infer(OpKind::Embed, {{{s.batch, s.seq}}, {{vocab, s.hidden}, true}});
  REQUIRE(!out.error);
  CHECK(out.results[0].rule.dims == Dims{s.batch, s.seq, s.hidden});
  CHECK(out.results[0].rule.operands[0].oneHot);
  CHECK(out.results[0].rule.operands[0].dims.back().dim == vocab);
  CHECK(out.results[0].rule.operands[0].dims.back().role == kSum);

  out = s.infer(OpKind::CrossEntropy,
                {{{s.batch, s.seq, vocab}}, {{s.batch, s.seq}}});
  REQUIRE(out.results.size() == 3);
  for (const InferredResult &result : out.results) {
    CHECK(result.rule.dims == Dims{s.batch, s.seq});
    CHECK(result.rule.statistics == 3);
    CHECK(result.precision == Precision::Fp32);
  }
  out = s.infer(OpKind::CrossEntropy, {{{s.batch, s.seq, vocab}}, {{s.batch}}});
  REQUIRE(out.error);
  CHECK(out.error->kind == ShapeError::Kind::Mismatch);
}

TEST_CASE("addition broadcasts what one operand lacks") {
  Shapes s;
  auto out =
      s.infer(OpKind::Add, {{{s.seq, s.hidden}}, {{s.batch, s.seq, s.hidden}}});
  CHECK(out.results[0].rule.dims == Dims{s.batch, s.seq, s.hidden});
  out = s.infer(OpKind::Mul, {{{s.hidden}}});
  CHECK(out.error);
  out = s.infer(OpKind::RmsNorm, {{{s.batch, s.hidden}}, {{s.ffn}, true}});
  REQUIRE(out.error);
  CHECK(out.error->kind == ShapeError::Kind::Mismatch);
}

TEST_CASE("a user's operator maps what it does not gather, contract or walk") {
  Shapes s;
  UserOp scan;
  scan.result = {s.batch, s.seq, s.hidden};
  scan.inOrder = {s.seq};
  scan.contracts = {s.ffn};
  InferRequest request;
  request.kind = OpKind::User;
  request.userOp = &scan;
  request.operands = {{{s.batch, s.seq, s.hidden, s.ffn}}};
  auto out = inferShapes(request, s.dims);
  REQUIRE(!out.error);
  CHECK(rolesOf(out.results[0].rule.operands[0]) ==
        std::vector<Role>{kMap, kWhole, kMap, kSum});
}

TEST_CASE("parameters are counted once an instance") {
  tiny::Sizes sizes;
  Model model = tiny::llamaLike(sizes);
  // table, head, last norm; a layer: two norms, wq, wk + wv, wo, three of ffn.
  std::int64_t layer = 2 * 8 + 64 + 2 * 32 + 64 + 3 * 96;
  CHECK(parameterCount(model) == 2 * 16 * 8 + 8 + 2 * layer);
}

TEST_CASE("split and concat name their parts") {
  Shapes s;
  DimId nope = s.add("nope", 5), rope = s.add("rope", 3);
  InferRequest request;
  request.kind = OpKind::Split;
  request.operands = {{{s.batch, s.hidden, s.seq}}};
  request.along = s.hidden;
  request.parts = {nope, rope};
  Inferred out = inferShapes(request, s.dims);
  REQUIRE(out.results.size() == 2);
  CHECK(out.offsets == std::vector<std::int64_t>{0, 5});
  CHECK(out.results[1].rule.dims == Dims{s.batch, rope, s.seq});
  CHECK(rolesOf(out.results[1].rule.operands[0]) ==
        std::vector<Role>{kMap, kWhole, kMap});

  request = {};
  request.kind = OpKind::Concat;
  request.operands = {{{s.batch, s.heads, nope}}, {{s.batch, rope}}};
  request.along = s.hidden;
  out = inferShapes(request, s.dims);
  REQUIRE(!out.error);
  CHECK(out.results[0].rule.dims == Dims{s.batch, s.heads, s.hidden});
  CHECK(out.offsets == std::vector<std::int64_t>{0, 5});
  request.operands[1] = {{s.batch, s.ffn}};
  REQUIRE(inferShapes(request, s.dims).error);
}

TEST_CASE("a sink has one logit a head") {
  Shapes s;
  OperandShape q{{s.batch, s.seq, s.heads, s.size}},
      k{{s.batch, s.seq, s.kv, s.size}};
  Inferred out = s.infer(OpKind::Attention, {q, k, k, {{s.heads}, true}});
  REQUIRE(!out.error);
  CHECK(rolesOf(out.results[0].rule.operands[3]) == std::vector<Role>{kMap});
  CHECK(s.infer(OpKind::Attention, {q, k, k, {{s.kv}, true}}).error);
}
