#include "tests/unit/Catch.h"
#include "tests/unit/sema/Elaborated.h"

using namespace planc;

namespace {

constexpr const char *kMachine = R"(
accelerator chip {
  peak   bf16 = 1000TFLOP/s
  memory 80GiB at 3TB/s
}
cluster nodes {
  accelerator chip
  level node of 8 { link 400GB/s, latency 1us }
}
)";

/// A model `m` elaborated under a plan that cuts nothing but the batch.
Elaborated elaborate(const std::string &text, const std::string &call) {
  return Elaborated(std::string(kMachine) + text + "\nplan p for " + call +
                    " on nodes {\n  batch 8 sequences of 16 tokens\n"
                    "  mesh dp = rest\n  shard batch over dp\n}\n");
}

std::vector<std::string> weightNames(const Elaborated &found) {
  std::vector<std::string> out;
  for (const ops::Weight &weight : found.model().weights)
    out.push_back(weight.name);
  return out;
}

std::string iterationsOf(const Elaborated &found, std::size_t segment) {
  std::string out;
  for (ops::BodyId body : found.model().segments[segment].iterations)
    out += found.model().bodies[body].name + " ";
  return out;
}

using Names = std::vector<std::string>;

} // namespace

TEST_CASE("a model's formals name its dimensions", "[model]") {
  Elaborated found = elaborate(R"(
let width = 64
model m(hidden, vocab, half = hidden // 2) {
  x = embed(tokens, table[vocab, hidden])
  x = matmul(matmul(x, down[hidden, half]), up[half, hidden])
  loss = cross_entropy(matmul(x, table))
}
)",
                               "m(hidden = width, vocab = 100)");
  CAPTURE(found.text());
  REQUIRE(found.module);
  CHECK(found.dim("hidden")->size == 64);
  CHECK(found.dim("half")->size == 32);
  CHECK(found.dim("width") == nullptr);
  CHECK(found.dim("seq")->size == 16);
  CHECK(found.dim("batch")->size == 8);
  CHECK(found.plan().batch.microBatches == 1);
}

TEST_CASE("a block is passed a dimension by name, or makes one", "[model]") {
  Elaborated found = elaborate(R"(
block mlp(x[batch, seq, width], ffn) {
  return matmul(silu(matmul(x, up[width, ffn])), down[ffn, width])
}
model m(hidden, ffn, vocab) {
  x = embed(tokens, table[vocab, hidden])
  x = x + mlp(x, ffn)
  repeat 2 as decoder {
    x = x + mlp(x, 4 * hidden)
    x = x + mlp(x, 48)
  }
  loss = cross_entropy(matmul(x, table))
}
)",
                               "m(hidden = 8, ffn = 12, vocab = 100)");
  CAPTURE(found.text());
  REQUIRE(found.module);
  CHECK(found.dim("ffn")->size == 12);
  CHECK(found.dim("decoder.mlp.ffn")->size == 32);
  CHECK(found.dim("decoder.mlp_2.ffn")->size == 48);
  CHECK(found.dim("width") == nullptr); // binds hidden by position
  CHECK(weightNames(found) == Names{"table", "mlp.up", "mlp.down",
                                    "decoder.mlp.up", "decoder.mlp.down",
                                    "decoder.mlp_2.up", "decoder.mlp_2.down"});
  CHECK(found.weight("decoder.mlp.up")->instances == 2);
}

TEST_CASE("`let` in a model makes a dimension", "[model]") {
  Elaborated found = elaborate(R"(
model m(hidden, vocab) {
  let wide = 2 * hidden
  x = embed(tokens, table[vocab, hidden])
  x = matmul(matmul(x, up[hidden, wide]), down[wide, hidden])
  loss = cross_entropy(matmul(x, table))
}
)",
                               "m(hidden = 8, vocab = 100)");
  REQUIRE(found.module);
  CHECK(found.dim("wide")->size == 16);
}

TEST_CASE("one name is one weight", "[model]") {
  Elaborated found = elaborate(R"(
model m(hidden, vocab) {
  x = embed(tokens, table[vocab, hidden])
  weight shared[hidden]
  repeat 5 as decoder {
    x = x + shared
    x = x * own[hidden] * own
  }
  loss = cross_entropy(matmul(x, table))
}
)",
                               "m(hidden = 8, vocab = 100)");
  CAPTURE(found.text());
  REQUIRE(found.module);
  CHECK(weightNames(found) == Names{"table", "shared", "decoder.own"});
  CHECK(found.weight("table")->instances == 1);
  CHECK(found.weight("table")->fanout == 2);
  CHECK(found.weight("shared")->instances == 1);
  CHECK(found.weight("shared")->fanout == 5);
  CHECK(found.weight("decoder.own")->instances == 5);
  CHECK(found.weight("decoder.own")->fanout == 1);
  CHECK(ops::parameterCount(found.model()) == 800 + 8 + 5 * 8);
}

TEST_CASE("norms declare their own weights, in order", "[model]") {
  Elaborated found = elaborate(R"(
model m(hidden, vocab) {
  x = embed(tokens, table[vocab, hidden])
  repeat 3 as decoder {
    x = x + rms_norm(layer_norm(x))
    x = x + rms_norm(x)
  }
  loss = cross_entropy(matmul(rms_norm(x), table))
}
)",
                               "m(hidden = 8, vocab = 100)");
  REQUIRE(found.module);
  CHECK(weightNames(found) ==
        Names{"table", "decoder.layer_norm.gain", "decoder.layer_norm.bias",
              "decoder.rms_norm", "decoder.rms_norm_2", "rms_norm"});
}

TEST_CASE("equal iterations share a body", "[model]") {
  const std::string text = R"(
block mlp(x[batch, seq, hidden], ffn) {
  return matmul(silu(matmul(x, up[hidden, ffn])), down[ffn, hidden])
}
model m(hidden, ffn, vocab, layers, dense) {
  x = embed(tokens, table[vocab, hidden])
  repeat layers as decoder(i) {
    x = x + (if i < dense then mlp(x, ffn) else silu(x))
  }
  loss = cross_entropy(matmul(x, table))
}
)";
  Elaborated found = elaborate(
      text, "m(hidden = 8, ffn = 12, vocab = 100, layers = 5, dense = 2)");
  REQUIRE(found.module);
  CHECK(found.model().bodies.size() == 4);
  CHECK(iterationsOf(found, 1) ==
        "decoder decoder decoder#1 decoder#1 decoder#1 ");
  CHECK(found.weight("decoder.mlp.up")->instances == 2);
  CHECK(found.weight("decoder.mlp.up")->fanout == 1);
  // Without a use of the index a hundred thousand cost as much as one.
  Elaborated many =
      elaborate(text, "m(hidden = 8, ffn = 12, vocab = 100, layers = "
                      "2, dense = 100000)");
  REQUIRE(many.module);
  CHECK(many.model().bodies.size() == 3);
}

TEST_CASE("attributes that differ by layer make classes", "[model]") {
  Elaborated found = elaborate(R"(
model m(hidden, heads, size, vocab) {
  x = embed(tokens, table[vocab, hidden])
  repeat 12 as decoder(i) {
    q = matmul(x, wq[hidden, heads, size])
    a = attention(q, q, q, causal = true, window = if i mod 6 == 5 then none else 4)
    x = x + matmul(a, wo[heads, size, hidden])
  }
  loss = cross_entropy(matmul(x, table))
}
)",
                               "m(hidden = 8, heads = 2, size = 4, vocab = 9)");
  CAPTURE(found.text());
  REQUIRE(found.module);
  CHECK(found.model().bodies.size() == 4);
  CHECK(iterationsOf(found, 1).find("decoder decoder decoder decoder decoder "
                                    "decoder#1 decoder ") == 0);
  CHECK(found.weight("decoder.wq")->instances == 12);
}

TEST_CASE("what is carried goes through a slot; the rest stays inside",
          "[model]") {
  Elaborated found = elaborate(R"(
model m(hidden, vocab) {
  x = embed(tokens, table[vocab, hidden])
  skip = silu(x)
  repeat 2 as first {
    inner = silu(x)
    x = x + inner * skip
  }
  repeat 3 as second { x = silu(x) }
  x = x + skip
  loss = cross_entropy(matmul(x, table))
}
)",
                               "m(hidden = 8, vocab = 100)");
  CAPTURE(found.text());
  REQUIRE(found.module);
  std::string slots;
  for (const ops::Slot &slot : found.model().slots)
    slots += slot.name + " ";
  CHECK(slots == "tokens positions x skip targets ");
  REQUIRE(found.model().segments.size() == 4);
  const ops::Body &first = *found.body("first");
  CHECK(first.inputs.size() == 2);
  REQUIRE(first.outputs.size() == 1);
  CHECK(found.model().slots[first.outputs[0].slot].name == "x");
  CHECK(found.body("embed")->outputs.size() == 2);
  CHECK(found.body("second")->inputs.size() == 1);
  CHECK(found.body("head")->inputs.size() == 3);
}

TEST_CASE("a repeat inside a block cuts the model as any", "[model]") {
  Elaborated found = elaborate(R"(
block tower(x[batch, seq, hidden], layers) {
  y = x
  repeat layers as layer { y = silu(y) + x }
  return y
}
model m(hidden, vocab) {
  x = embed(tokens, table[vocab, hidden])
  x = x + tower(x, 2) * tower(x, 3)
  loss = cross_entropy(matmul(x, table))
}
)",
                               "m(hidden = 8, vocab = 100)");
  CAPTURE(found.text());
  REQUIRE(found.module);
  std::string names;
  for (const ops::Segment &segment : found.model().segments)
    names +=
        segment.name + ":" + std::to_string(segment.iterations.size()) + " ";
  CHECK(names == ":1 tower.layer:2 tower_2.layer:3 :1 ");
  // `x` before both towers is needed after them.
  CHECK(found.body("head")->inputs.size() == 4);
}

TEST_CASE("a repeat inside a repeat is unrolled", "[model]") {
  Elaborated found = elaborate(R"(
model m(hidden, vocab) {
  x = embed(tokens, table[vocab, hidden])
  repeat 2 as outer {
    repeat 3 as inner { x = x * scale[hidden] }
    x = silu(x)
  }
  loss = cross_entropy(matmul(x, table))
}
)",
                               "m(hidden = 8, vocab = 100)");
  CAPTURE(found.text());
  REQUIRE(found.module);
  CHECK(found.body("outer")->forward.size() == 4);
  CHECK(weightNames(found) == Names{"table", "outer.inner[0].scale",
                                    "outer.inner[1].scale",
                                    "outer.inner[2].scale"});
  CHECK(found.weight("outer.inner[1].scale")->instances == 2);
}

TEST_CASE("products of activations say what they contract", "[model]") {
  Elaborated found = elaborate(R"(
model m(hidden, vocab, low) {
  x = embed(tokens, table[vocab, hidden])
  y = matmul(x, w[hidden, low])
  z = matmul(x, y, over = [seq])
  x = matmul(z, y, over = low) + x * gain[hidden]
  loss = cross_entropy(matmul(x, table))
}
)",
                               "m(hidden = 8, vocab = 100, low = 4)");
  CAPTURE(found.text());
  REQUIRE(found.module);
  const ops::Body &body = *found.body("body");
  CHECK(body.values[body.forward[2].results[0]].dims.size() == 3);
  CHECK(body.values[body.forward[3].results[0]].dims.size() == 3);
}

TEST_CASE("an op of one's own", "[model]") {
  Elaborated found = elaborate(R"(
op ssm_scan(x[batch, seq, inner], state) -> [batch, seq, inner] {
  over seq in order
  flops 9 * batch * seq * inner * state
  bytes 4 * batch * seq * inner + 2
  saves x
  backward 2.5
}
model m(hidden, vocab) {
  x = embed(tokens, table[vocab, hidden])
  repeat 2 as decoder(i) {
    x = ssm_scan(x, 16 + 0 * i)
  }
  loss = cross_entropy(matmul(x, table))
}
)",
                               "m(hidden = 8, vocab = 100)");
  CAPTURE(found.text());
  REQUIRE(found.module);
  REQUIRE(found.model().userOps.size() == 1);
  const ops::UserOp &op = found.model().userOps[ops::UserOpId(0)];
  REQUIRE(op.flops.size() == 1);
  CHECK(op.flops[0].coefficient == 9 * 16);
  CHECK(op.flops[0].factors.size() == 3);
  REQUIRE(op.bytes.size() == 2);
  CHECK(op.bytes[1].coefficient == 2);
  CHECK(op.saves == std::vector<std::size_t>{0});
  CHECK(op.inOrder == ops::Dims{found.model().seq});
  CHECK(op.backward == 2.5);
  CHECK(found.model().bodies.size() == 3);
}

TEST_CASE("dropout of nothing is no operator", "[model]") {
  for (auto [rate, count] : {std::pair("0.0", 3u), {"0.1", 4u}}) {
    Elaborated found = elaborate(R"(
model m(hidden, vocab, drop) {
  x = dropout(embed(tokens, table[vocab, hidden]), drop)
  loss = cross_entropy(matmul(x, table))
}
)",
                                 std::string("m(hidden = 8, vocab = 100, "
                                             "drop = ") +
                                     rate + ")");
    REQUIRE(found.module);
    CHECK(found.body("body")->forward.size() == count);
  }
}
