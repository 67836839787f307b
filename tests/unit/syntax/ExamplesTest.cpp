#include "tests/unit/Catch.h"

#include "tests/unit/syntax/Parsed.h"

using namespace planc;

TEST_CASE("every example of the language parses") {
  auto files = plansIn(PLANC_EXAMPLES);
  CHECK(files.size() >= 11);
  for (const auto &path : files) {
    CAPTURE(path);
    Parsed parsed(readFile(path));
    CHECK(parsed.kinds() == std::vector<std::string>());
    CHECK(parsed.file != nullptr);
  }
}

TEST_CASE("an AST prints a line a thing, the same every time") {
  std::string text = readFile(PLANC_EXAMPLES "/plans.plan");
  Parsed parsed(text);
  CHECK(parsed.print() == R"(language 1
plan pretrain for llama3_405b on h100_pods[gpus]
  batch 2048 sequences of 8192 tokens, micro 1 sequences
  mesh dp = rest, pp = pp, tp = tp
  shard batch over dp
  shard heads, kv_heads, ffn, vocab, seq over tp
  shard optimizer over dp
  pipeline over pp
    schedule Interleaved1F1B
    virtual 8
  precision compute = bf16, gradients = fp32
  overlap gradients, parameters, pipeline
  bucket auto
  expect mfu(full) >= 36%, memory <= 76GiB
plan no_overlap = pretrain with
  overlap none
plan smaller = pretrain on h100_pods[8192]
)");
  CHECK(Parsed(text).print() == parsed.print());
}

TEST_CASE("every clause, with all its parts") {
  Parsed parsed(readFile(PLANC_EXAMPLES "/every_clause.plan"));
  CHECK(parsed.print() == R"(language 1
plan zero3(of_model, on_cluster, micro = 1) for of_model on on_cluster
  batch 16777216 tokens in sequences of 8192, micro micro sequences, documents of 1024 tokens
  mesh replica = rest, fsdp = 8, pp = 4, cp = 2
  shard batch over replica, fsdp
  shard decoder.ffn, heads, seq over cp
  shard parameters, gradients, optimizer over fsdp
  pipeline over pp
    schedule 1F1B
    virtual 2
    group 4
    layers [5] + 10 * [6] + [5]
  attention over cp using ring
  recompute attention, decoder.swiglu, all for 4 layers
  optimizer adamw
    master fp32
    moments bf16
    clip 1.0
  precision compute = fp8, attention = bf16, gradients = fp32
  train decoder.lora
  freeze table, decoder.wq
  kernels attention = flash3, norm = fused, loss = eager, accumulation = unfused, modules = te, graphs = true
  overlap gradients, parameters, pipeline
  bucket 25MiB
  prefetch 2
  reshard after forward
  offload optimizer, activations to host
  target megatron
  expect mfu(full) >= 36%, memory <= 76GiB
  minimize step_time where memory <= 70GiB, mfu >= 40%
plan own for llama(layers = 4, hidden = 64) on ours.pods[2 * 4]
  batch 8 sequences of 64 tokens
  mesh pp = 2, dp = rest
  pipeline over pp
    schedule ZBH1
    layers balanced
    order [F0, F1, B0, B1]
  reshard never
  recompute none
plan variant = zero3(m, c) on d with
  batch micro 2 sequences
  mesh not cp, fsdp = 16
  overlap not pipeline, tensor
  kernels not graphs
  expect not mfu(full)
  not pipeline
)");
}

TEST_CASE("where newlines stand changes nothing but statements") {
  Parsed parsed(readFile(PLANC_EXAMPLES "/newlines.plan"));
  CHECK(parsed.print() == R"(language 1
let a = 1 + 2
let b = f(1, 2, 3)
let c = [1, 2, 4]
let d = if a == 1 then 2 else 3
param e = 1 in [1, 2]
model m(hidden, ffn = 4 * hidden)
  x = matmul(x, up[hidden, ffn])
  y = x
  z = y
plan p for m on c[8]
  batch 1 sequences of 8 tokens, micro 1 sequences
  mesh dp = 2, tp = 4
  shard batch over dp
  shard ffn over tp
)");
}

TEST_CASE("a target prints its fields and rules") {
  Parsed parsed(readFile(PLANC_EXAMPLES "/target.plan"));
  CHECK(parsed.print() == R"(language 1
target trainer
  version "2.1"
  pads vocab = 128 * ways(vocab)
  rule layers
    when stages > 1
    needs layers mod (stages * virtual) == 0
    says [layers, " layers on ", stages, " stages"]
    source "config.py"
  rule rule
    needs true
    says "a soft word may be a name"
)");
}
