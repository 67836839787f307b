// The examples of the language's description.
#include "compiler/diag/Kinds.h"
#include "tests/unit/Catch.h"
#include "tests/unit/sema/Elaborated.h"

using namespace planc;

namespace {

const std::string kExample = R"(
language 1

param tp = 8  in [1, 2, 4, 8]            # a knob: its default, and the domain a tuner may search
param pp = 16 in legal                   # domain: whatever the compiler finds legal
let gpus = 16384

block swiglu(x[batch, seq, hidden], ffn) {
  u = silu(matmul(x, gate[hidden, ffn])) * matmul(x, up[hidden, ffn])
  return matmul(u, down[ffn, hidden])
}

model llama(layers, hidden, heads, kv_heads = heads, head_size = hidden // heads, ffn, vocab) {
  x = embed(tokens, table[vocab, hidden])
  repeat layers as decoder {
    h = rms_norm(x)
    q = rope(matmul(h, wq[hidden, heads, head_size]))
    k = rope(matmul(h, wk[hidden, kv_heads, head_size]))
    v = matmul(h, wv[hidden, kv_heads, head_size])
    x = x + matmul(attention(q, k, v, causal = true), wo[heads, head_size, hidden])
    x = x + swiglu(rms_norm(x), ffn)
  }
  loss = cross_entropy(matmul(rms_norm(x), output[hidden, vocab]))
}

model llama3_405b = llama(layers = 126, hidden = 16384, heads = 128, kv_heads = 8, ffn = 53248, vocab = 128256)

accelerator h100_sxm {
  peak    bf16 = 989.4TFLOP/s, fp8 = 1978.9TFLOP/s, fp32 = 66.9TFLOP/s
  memory  79.6GiB at 3.35TB/s          # what the driver reports, not the label
  units   132                          # streaming multiprocessors
  power   700W
  # measured efficiencies and overheads, each with its source in a comment
}

cluster h100_pods {
  accelerator h100_sxm
  level node   of 8    { link 450GB/s, latency 1.5us, in_network_reduction true }    # NVLink and NVSwitch
  level pod    of 384  { link 50GB/s, latency 5us }                                  # one 400Gb/s NIC a GPU
  level fabric of 8    { link 50GB/s, latency 8us, oversubscription 7 }
  failures 419 per 54d of 16384                                                      # optional: goodput
}

plan pretrain for llama3_405b on h100_pods[gpus] {
  batch      2048 sequences of 8192 tokens, micro 1 sequence
  mesh       dp = rest, pp = pp, tp = tp                     # outermost first: the last axis sits closest together
  shard      batch                              over dp
  shard      heads, kv_heads, ffn, vocab, seq   over tp      # `seq` last in the list: sequence parallelism
  shard      optimizer                          over dp      # ZeRO-1; also `gradients`, `parameters`
  pipeline   over pp { schedule Interleaved1F1B, virtual 8 }
  precision  compute = bf16, gradients = fp32
  overlap    gradients, parameters, pipeline
  bucket     auto
  expect     mfu(full) >= 36%, memory <= 76GiB
}

plan no_overlap = pretrain with { overlap none }
plan smaller    = pretrain on h100_pods[8192]
)";

} // namespace

TEST_CASE("the description's plan", "[language]") {
  Elaborated found(kExample);
  CAPTURE(found.text());
  REQUIRE(found.module);
  CHECK(found.kinds().empty());
  CHECK(ops::parameterCount(found.model()) == 405'853'388'800);
  CHECK(found.plan().batch.microBatches == 16);
  CHECK(found.module->accelerators == 16384);
  CHECK(found.module->leftOver == 2048); // of the sixth pod of 3,072
  const hardware::Cluster &cluster = found.module->cluster;
  CHECK(cluster.accelerator.memory.value == 85469849190);
  CHECK(cluster.levels[0].latency.value == 1'500'000);
  CHECK(cluster.levels[0].inNetworkReduction);
  CHECK(cluster.levels[2].oversubscription == 7);
  CHECK(cluster.failures->seconds == 54 * 86400.0);
  CHECK(hardware::verify(cluster).empty());
  CHECK(found.plan().pipeline->virtualStages == 8);
}

TEST_CASE("the description's variants", "[language]") {
  Elaborated quiet(kExample, {"no_overlap", {}});
  REQUIRE(quiet.module);
  CHECK_FALSE(quiet.plan().overlap.gradients);
  CHECK_FALSE(quiet.plan().overlap.pipeline);
  Elaborated smaller(kExample, {"smaller", {}});
  REQUIRE(smaller.module);
  CHECK(smaller.plan().mesh.axes[sema::AxisId(0)].size == 64);
  CHECK(smaller.plan().batch.microBatches == 32);
  Elaborated other(kExample, {"pretrain", {{"pp", "8"}, {"tp", "8"}}});
  REQUIRE(other.module);
  CHECK(other.plan().mesh.axes[sema::AxisId(0)].size == 256);
}

TEST_CASE("the description's layers that differ", "[language]") {
  Elaborated found(kExample + R"(
block attend(x[batch, seq, hidden], window, heads, head_size) {
  q = matmul(x, wq[hidden, heads, head_size])
  return matmul(attention(q, q, q, causal = true, window = window), wo[heads, head_size, hidden])
}
model gemma(layers, dense_layers, hidden, heads, head_size, ffn, vocab) {
  x = embed(tokens, table[vocab, hidden])
  repeat layers as decoder(i) {
    x = x + attend(rms_norm(x), window = if i mod 6 == 5 then none else 1024, heads = heads, head_size = head_size)
    x = x + (if i < dense_layers then swiglu(rms_norm(x), ffn) else swiglu(rms_norm(x), 2 * ffn))
  }
  loss = cross_entropy(matmul(rms_norm(x), table))
}
plan p for gemma(layers = 12, dense_layers = 3, hidden = 64, heads = 4, head_size = 16, ffn = 128, vocab = 1000) on h100_pods[8] {
  batch 8 sequences of 2048 tokens
  mesh  dp = rest
  shard batch over dp
}
)",
                   {"p", {}});
  CAPTURE(found.text());
  REQUIRE(found.module);
  // Dense with a window, not dense with one, not dense without.
  CHECK(found.model().segments[1].iterations.size() == 12);
  CHECK(found.model().bodies.size() == 2 + 3);
  CHECK(found.weight("decoder.attend.wq")->instances == 12);
  // One name, two sizes of its first dimension: two entries of the table.
  CHECK(found.weight("decoder.swiglu.gate")->instances == 3);
  CHECK(found.weight("decoder.swiglu.gate#1")->instances == 9);
}

TEST_CASE("experts: scores, a choice, and what every expert gets",
          "[language]") {
  Elaborated found(kExample + R"(
block moe(x[batch, seq, hidden], experts, top_k, ffn) {
  t = dispatch(x, router[hidden, experts], top_k = top_k, imbalance = 1.1)
  u = silu(matmul(t, gate[experts | hidden, ffn])) * matmul(t, up[experts | hidden, ffn])
  return combine(matmul(u, down[experts | ffn, hidden]))
}
model mixture(layers, hidden, experts, ffn, vocab) {
  x = embed(tokens, table[vocab, hidden])
  repeat layers as decoder {
    x = x + moe(x, experts, 2, ffn)
  }
  loss = cross_entropy(matmul(x, table))
}
plan p for mixture(layers = 3, hidden = 8, experts = 4, ffn = 16, vocab = 10) on h100_pods[8] {
  batch 8 sequences of 2048 tokens
  mesh  ep = rest
  shard batch over ep
}
)",
                   {"p", {}});
  CAPTURE(found.text());
  REQUIRE(found.module);
  const ops::Model &model = found.model();
  // Equal iterations share one body.
  REQUIRE(model.bodies.size() == 3);
  std::vector<ops::OpKind> kinds;
  const ops::Body &layer = model.bodies[model.segments[1].iterations[0]];
  for (const ops::Op &op : layer.forward)
    kinds.push_back(op.kind);
  using Kind = ops::OpKind;
  CHECK(kinds == std::vector<Kind>{Kind::Router, Kind::TopK, Kind::Dispatch,
                                   Kind::MatMul, Kind::Silu, Kind::MatMul,
                                   Kind::Mul, Kind::MatMul, Kind::Combine,
                                   Kind::Add});
  const ops::Route &route = layer.forward.back().kind == Kind::Add
                                ? layer.forward[2].attributes.route
                                : ops::Route();
  CHECK(route.topK == 2);
  CHECK(route.count == 4);
  CHECK(route.imbalance == 1'100'000);
  // Router 8 · 4, three products of 8 · 16 an expert, the table.
  CHECK(ops::parameterCount(model) == 3 * (32 + 4 * 384) + 80);
  CHECK(ops::activeParameterCount(model) == 3 * (32 + 2 * 384) + 80);
}

TEST_CASE("what comes later is unsupported, not wrong", "[language]") {
  Elaborated found(kExample + R"(
model convolved(hidden, width, vocab) {
  x = embed(tokens, table[vocab, hidden])
  x = x + conv(x, kernel[width, hidden])
  loss = cross_entropy(matmul(x, table))
}
plan p for convolved(hidden = 8, width = 4, vocab = 10) on h100_pods[8] {
  batch 8 sequences of 2048 tokens
  mesh  dp = rest
  shard batch over dp
}
)",
                   {"p", {}});
  for (const std::string &kind : found.kinds())
    CHECK(kind == "unsupported");
  REQUIRE(found.emitter.hasErrors());
  CHECK(found.emitter.failure() == FailureKind::Unsupported);
}
