#include "tests/unit/Catch.h"
#include "tests/unit/sema/Elaborated.h"

#include "compiler/sema/ModulePrinter.h"

using namespace planc;
using sema::AxisId;

namespace {

const std::string kBase = R"(
import std.models.llama

accelerator chip {
  peak   bf16 = 1000TFLOP/s, fp8 = 2000TFLOP/s
  memory 80GiB at 3TB/s
}
cluster nodes {
  accelerator chip
  level node of 8   { link 400GB/s, latency 1us }
  level rack of 4   { link 50GB/s, latency 3us }
  level hall of 100 { link 50GB/s, latency 5us, oversubscription 2 }
}
param tp = 4 in [1, 2, 4, 8]
param kind = 1F1B
model tiny = llama(layers = 6, hidden = 64, heads = 8, kv_heads = 4, ffn = 128, vocab = 256)
)";

const std::string kPlan = kBase + R"(
plan base for tiny on nodes[64] {
  batch     64 sequences of 128 tokens, micro 2 sequences
  mesh      dp = rest, pp = 2, tp = tp
  shard     batch over dp
  shard     heads, kv_heads, ffn, vocab, seq over tp
  shard     optimizer over dp
  pipeline  over pp { schedule kind }
  kernels   attention = flash2, norm = unfused
  expect    mfu(full) >= 36%, memory <= 76GiB
}
)";

Elaborated plan(const std::string &more, const std::string &name,
                std::vector<sema::Override> overrides = {}) {
  return Elaborated(kPlan + more, {name, std::move(overrides)});
}

std::vector<std::int64_t> meshOf(const Elaborated &found) {
  std::vector<std::int64_t> out;
  for (const sema::Axis &axis : found.plan().mesh.axes)
    out.push_back(axis.size);
  return out;
}

using Sizes = std::vector<std::int64_t>;

} // namespace

TEST_CASE("`rest` is what the others leave", "[plan]") {
  Elaborated found = plan("", "");
  CAPTURE(found.text());
  REQUIRE(found.module);
  CHECK(found.plan().name == "base");
  CHECK(meshOf(found) == Sizes{8, 2, 4});
  CHECK(found.plan().mesh.stride(AxisId(0)) == 8);
  CHECK(found.plan().mesh.stride(AxisId(2)) == 1);
  CHECK(found.plan().batch.microBatches == 4);
  CHECK(found.dim("batch")->size == 16);
  CHECK(found.plan().optimizerState.axes == std::vector{AxisId(0)});
  REQUIRE(found.plan().expectations.size() == 2);
  CHECK(found.plan().expectations[0].metric == "mfu");
  CHECK(found.plan().expectations[0].argument == "full");
  CHECK(found.plan().expectations[0].value == 0.36);
  CHECK(found.plan().expectations[1].value == 76.0 * (1 << 30));
}

TEST_CASE("parameters are set from outside", "[plan]") {
  Elaborated found = plan("", "base", {{"tp", "8"}, {"kind", "GPipe"}});
  // kv_heads = 4 under tp = 8 are held twice.
  CHECK(found.kinds() == std::vector<std::string>{"kv-heads-copied"});
  REQUIRE(found.module);
  Elaborated two = plan("", "base", {{"tp", "2"}, {"kind", "GPipe"}});
  CAPTURE(two.text());
  REQUIRE(two.module);
  CHECK(meshOf(two) == Sizes{16, 2, 2});
  CHECK(two.plan().pipeline->schedule == sema::Schedule::GPipe);
}

TEST_CASE("overrides that do not fit", "[plan][errors]") {
  using Kinds = std::vector<std::string>;
  auto kinds = [](sema::Override override) {
    return plan("", "base", {std::move(override)}).kinds();
  };
  CHECK(kinds({"tp", "3"}) == Kinds{"outside-domain"});
  CHECK(kinds({"tp", "4.0"}) == Kinds{"bad-override"});
  CHECK(kinds({"tp", "4GB"}) == Kinds{"bad-override"});
  CHECK(kinds({"tp", "4 4"}) == Kinds{"bad-override"});
  CHECK(kinds({"pt", "4"}) == Kinds{"unknown-parameter"});
  CHECK(kinds({"tiny", "4"}) == Kinds{"unknown-parameter"});
  CHECK(kinds({"x.tp", "4"}) == Kinds{"unknown-parameter"});
  // A parameter that this plan does not read is looked at as well.
  CHECK(Elaborated(kPlan + "param other = 1 in 1..4\n",
                   {"base", {{"other", "9"}}})
            .kinds() == Kinds{"outside-domain"});
}

TEST_CASE("a variant replaces, merges and drops", "[plan]") {
  Elaborated found = plan(R"(
plan other = base with {
  batch    micro 4 sequences
  mesh     tp = 2
  shard    batch, seq over dp
  shard    optimizer, gradients over dp
  kernels  attention = unfused
  overlap  not pipeline
  expect   not mfu(full), memory <= 70GiB
  bucket   25MiB
  not pipeline
  mesh     not pp
}
)",
                          "other");
  // Two `mesh` in one plan.
  CHECK(found.kinds() == std::vector<std::string>{"duplicate-field"});
  Elaborated other = plan(R"(
plan other = base with {
  batch    micro 1 sequence
  mesh     tp = 2, not pp
  shard    batch, seq over dp
  shard    gradients over dp
  kernels  attention = unfused
  overlap  not pipeline
  expect   not mfu(full), memory <= 70GiB
  bucket   25MiB
  not pipeline
}
)",
                          "other");
  CAPTURE(other.text());
  REQUIRE(other.module);
  CHECK(meshOf(other) == Sizes{32, 2});
  CHECK(other.plan().batch.sequences == 64);
  CHECK(other.plan().batch.micro == 1);
  CHECK(other.plan().lists[AxisId(0)].list.size() == 2);
  CHECK(other.plan().lists[AxisId(1)].list.size() == 5);
  CHECK(other.plan().optimizerState.axes.size() == 1);
  CHECK(other.plan().gradients.axes.size() == 1);
  CHECK(other.plan().kernels.unfusedNorm);
  CHECK(other.plan().kernels.attention == sema::AttentionKernel::Unfused);
  CHECK_FALSE(other.plan().overlap.pipeline);
  CHECK(other.plan().overlap.gradients);
  CHECK(other.plan().bucket.size.value == 25 << 20);
  CHECK_FALSE(other.plan().pipeline.has_value());
  REQUIRE(other.plan().expectations.size() == 1);
  CHECK(other.plan().expectations[0].value == 70.0 * (1 << 30));
}

TEST_CASE("variants of variants, and other clusters", "[plan]") {
  const std::string text = R"(
plan a = base with { overlap none }
plan b = a on nodes[32]
plan c = b with {
  overlap tensor
  not optimizer
}
plan d = c with {
  not pipeline
  mesh not pp
  not shard
  shard batch over dp, tp
}
)";
  Elaborated b = plan(text, "b");
  CAPTURE(b.text());
  REQUIRE(b.module);
  CHECK(b.module->accelerators == 32);
  CHECK(meshOf(b) == Sizes{4, 2, 4});
  CHECK_FALSE(b.plan().overlap.gradients);
  Elaborated c = plan(text, "c");
  REQUIRE(c.module);
  CHECK(c.plan().overlap.tensor);
  CHECK_FALSE(c.plan().overlap.gradients);
  CHECK(c.plan().optimizerState.axes.empty());
  Elaborated d = plan(text, "d");
  CAPTURE(d.text());
  REQUIRE(d.module);
  CHECK(meshOf(d) == Sizes{8, 4});
  CHECK(d.plan().batch.microBatches == 1);
}

TEST_CASE("a recipe is called", "[plan]") {
  const std::string text = kBase + R"(
plan zero3(of_model, on_cluster, micro = 1) for of_model on on_cluster {
  batch  64 sequences of 128 tokens, micro micro sequences
  mesh   fsdp = rest
  shard  batch, experts over fsdp
  shard  parameters, gradients, optimizer over fsdp
}
let half = 16
plan p = zero3(of_model = tiny, on_cluster = nodes[half], micro = 2)
plan q = zero3(llama2_7b, nodes, micro = 1) on nodes[64]
)";
  Elaborated p(text, {"", {}});
  CAPTURE(p.text());
  REQUIRE(p.module); // the recipe itself cannot be run, p is the first that can
  CHECK(p.plan().name == "p");
  CHECK(p.module->accelerators == 16);
  CHECK(p.plan().batch.microBatches == 2);
  // Written for many models, so a name this one lacks is only a remark.
  CHECK(p.kinds() == std::vector<std::string>{"dimension-idle"});
  Elaborated q(text, {"q", {}});
  REQUIRE(q.module);
  CHECK(q.model().name == "llama2_7b");
  CHECK(q.module->accelerators == 64);
  Elaborated recipe(text, {"zero3", {}});
  CHECK(recipe.kinds() == std::vector<std::string>{"missing-argument"});
  std::vector<sema::PlanInfo> plans = sema::plansOf(*p.program, p.origins);
  REQUIRE(plans.size() == 3);
  CHECK(plans[0].hasFormals);
  CHECK_FALSE(plans[1].hasFormals);
}

TEST_CASE("imports under a prefix", "[plan]") {
  const std::map<std::string, std::string> files = {
      {"parts/machine.plan", kBase}};
  Elaborated found(R"(
import "parts/machine.plan" as ours
import std.models.gpt as g
plan p for ours.tiny on ours.nodes[16] {
  batch  64 sequences of 128 tokens
  mesh   dp = rest, tp = ours.tp
  shard  batch over dp
  shard  ffn, vocab over tp
}
)",
                   {"", {{"ours.tp", "2"}}}, files);
  CAPTURE(found.text());
  REQUIRE(found.module);
  CHECK(meshOf(found) == Sizes{8, 2});
  // What an imported file imports is not handed on.
  Elaborated nested("import \"parts/machine.plan\"\n"
                    "plan p for llama2_7b on nodes { mesh a = 1 }\n",
                    {}, files);
  CHECK(nested.kinds() == std::vector<std::string>{"unknown-name"});
}

TEST_CASE("import cycles name the chain", "[plan][errors]") {
  Elaborated found(
      "import \"a.plan\"\n", {},
      {{"a.plan", "import \"b.plan\"\n"}, {"b.plan", "import \"a.plan\"\n"}});
  REQUIRE(found.kinds() == std::vector<std::string>{"import-cycle"});
  CHECK(found.captured.diagnostics[0].notes[0].text ==
        "a.plan → b.plan → a.plan");
  Elaborated escape("import \"../a.plan\"\n");
  CHECK(escape.kinds() == std::vector<std::string>{"import-escapes-root"});
  Elaborated missing("import std.models.lama\n");
  REQUIRE(missing.kinds() == std::vector<std::string>{"file-not-found"});
  CHECK(missing.text().find("std.models.llama") != std::string::npos);
}

TEST_CASE("a plan takes whole inner groups first", "[plan]") {
  auto take = [](const std::string &count) {
    return Elaborated(kBase + "plan p for tiny on nodes[" + count +
                      "] {\n  batch 25600 sequences of 128 tokens\n"
                      "  mesh dp = rest\n  shard batch over dp\n}\n");
  };
  CHECK(take("4").module->leftOver == 4);
  CHECK(take("8").module->leftOver == 0);
  CHECK(take("10").module->leftOver == 6);
  CHECK(take("64").module->leftOver == 0);
  CHECK(take("80").module->leftOver == 16);
  CHECK(take("100").kinds() == std::vector<std::string>{"partial-group"});
  CHECK(take("0").kinds() == std::vector<std::string>{"value-out-of-range"});
  CHECK(take("3201").kinds() ==
        std::vector<std::string>{"too-few-accelerators"});
}

TEST_CASE("micro-batches against interleaving", "[plan]") {
  auto found = [](int sequences, const std::string &options) {
    return Elaborated(kBase + "plan p for tiny on nodes[4] {\n  batch " +
                      std::to_string(sequences) +
                      " sequences of 128 tokens\n  mesh pp = rest\n"
                      "  pipeline over pp { schedule Interleaved1F1B, " +
                      options + " }\n}\n");
  };
  using Kinds = std::vector<std::string>;
  // p = 4, v = 2: the remainder is none or at least p (schedules that are left
  // out deadlock or stall).
  CHECK(found(8, "virtual 2").module.has_value());
  CHECK(found(9, "virtual 2").kinds() == Kinds{"micro-batches-do-not-fit"});
  CHECK(found(9, "virtual 2, group 5").module.has_value());
  CHECK(found(8, "virtual 2, group 3").kinds() ==
        Kinds{"micro-batches-do-not-fit"});
  CHECK(found(8, "virtual 2, group 9").kinds() ==
        Kinds{"micro-batches-do-not-fit"});
  CHECK(found(3, "virtual 2").kinds() == Kinds{"micro-batches-do-not-fit"});
  CHECK(found(3, "virtual 1").module.has_value());
  CHECK(found(8, "virtual 3").kinds() == Kinds{"more-chunks-than-units"});
  Elaborated layers = found(8, "virtual 2, layers [1] + 4 * [1] + 3 * [0]");
  CHECK(layers.kinds() == Kinds{"layers-do-not-add-up"});
  layers = found(8, "virtual 2, layers [2] + 4 * [1] + 3 * [0]");
  REQUIRE(layers.module);
  CHECK(layers.plan().pipeline->layers ==
        std::vector<std::int64_t>{2, 1, 1, 1, 1, 0, 0, 0});
}

TEST_CASE("a dimension cut by several axes", "[plan]") {
  auto found = [](const std::string &mesh) {
    return Elaborated(kBase +
                      "plan p for tiny on nodes[48] {\n"
                      "  batch 96 sequences of 96 tokens\n  mesh " +
                      mesh +
                      "\n  shard batch over dp\n  shard seq over cp\n"
                      "  shard ffn, seq over tp\n}\n");
  };
  CHECK(found("dp = rest, cp = 3, tp = 4").module.has_value());
  Elaborated wrong = found("dp = 3, cp = 4, tp = 4");
  CHECK(wrong.module.has_value());
  Elaborated refused = Elaborated(
      kBase + "plan p for tiny on nodes[48] {\n"
              "  batch 96 sequences of 96 tokens\n"
              "  mesh dp = 1, cp = 3, tp = 16\n  shard batch over dp\n"
              "  shard seq over cp\n  shard ffn, seq over tp\n}\n");
  REQUIRE(refused.kinds().empty()); // 96 = 3 × 32
  Elaborated odd = Elaborated(
      kBase + "plan p for tiny on nodes[48] {\n"
              "  batch 96 sequences of 40 tokens\n"
              "  mesh dp = 3, cp = 2, tp = 8\n  shard batch over dp\n"
              "  shard seq over cp\n  shard ffn, seq over tp\n}\n");
  REQUIRE(odd.kinds() == std::vector<std::string>{"not-divisible"});
  CHECK(odd.text().find("`seq` = 40 cannot be cut 16 ways") !=
        std::string::npos);
  CHECK(odd.text().find("tp may be 1, 2 or 4; nearest: `tp = 4`") !=
        std::string::npos);
}

TEST_CASE("expectations read both ways, in any convention", "[plan]") {
  Elaborated found = plan("plan q = base with { expect 30% <= mfu(6nd), "
                          "exposed(tensor) < 5%, step_time <= 7s }\n",
                          "q");
  CAPTURE(found.text());
  REQUIRE(found.module);
  REQUIRE(found.plan().expectations.size() == 5);
  const sema::Expectation &turned = found.plan().expectations[2];
  CHECK(turned.metric == "mfu");
  CHECK(turned.argument == "6nd");
  CHECK(turned.value == 0.3);
  CHECK(turned.comparison == sema::Expectation::Comparison::GreaterEqual);
  CHECK(found.plan().expectations[3].argument == "tensor");
  CHECK(found.plan().expectations[4].value == 7);
}

TEST_CASE("parameters are listed for tuners", "[plan]") {
  Elaborated found = plan("", "");
  std::vector<sema::ParameterInfo> all =
      sema::parametersOf(*found.program, found.origins);
  REQUIRE(all.size() == 2);
  CHECK(all[0].name == "tp");
  CHECK(all[0].defaultText == "4");
  CHECK(all[0].domainText == "[1, 2, 4, 8]");
  CHECK(all[1].domainText.empty());
}

TEST_CASE("one program elaborates many times, equally", "[plan]") {
  Elaborated found = plan("", "");
  REQUIRE(found.module);
  std::string first = sema::printModule(*found.module);
  source::OriginTable origins;
  auto again = sema::elaborate(*found.program, {"base", {{"tp", "2"}}}, origins,
                               found.emitter);
  REQUIRE(again);
  CHECK(sema::printModule(*again) != first);
  again = sema::elaborate(*found.program, {"base", {}}, origins, found.emitter);
  REQUIRE(again);
  CHECK(sema::printModule(*again) == first);
}
