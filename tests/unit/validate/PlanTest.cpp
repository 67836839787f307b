// From a row to a plan's text.
#include "tests/unit/Catch.h"

#include "compiler/diag/Consumers.h"
#include "compiler/validate/RowPlan.h"
#include "compiler/validate/StandardNames.h"

#include <fmt/format.h>

using namespace planc;
using namespace planc::validate;

namespace {

/// The plan of one row, or the reason why there is none.
std::string planText(const std::string &columns, const std::string &values) {
  source::SourceSet sources;
  const source::FileId id =
      sources.add("runs.csv", columns + "\n" + values + "\n");
  diag::CaptureConsumer captured;
  diag::Emitter emitter(captured);
  const auto rows = readRows(id, sources[id], emitter);
  REQUIRE(rows);
  REQUIRE(rows->size() == 1);
  const auto plan = planOf(rows->front());
  if (const auto *no = std::get_if<NotExpressed>(&plan))
    return "no: " + no->reason;
  return std::get<RowPlan>(plan).text;
}

bool has(const std::string &text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

constexpr const char *kHeader =
    "id,accelerator,gpus,arch,layers,hidden,heads,ffn,vocab,seq_len,tp,pp,dp,"
    "mbs,gbs,zero,recompute,precision,attention,framework,year,step_s";

} // namespace

TEST_CASE("a row of a transformer is a plan that reads like one") {
  const std::string text = planText(
      kHeader, "a,A100-SXM4-80GB,64,gpt,24,2048,16,8192,50257,2048,4,2,8,2,64,"
               "1,full,fp16,unfused,megatron,2021,1.5");
  CHECK(has(text, "import std.models.gpt\nimport std.clusters.a100\n"));
  CHECK(has(text, "plan measured for measured_model on dgx_a100[64] {\n"
                  "  batch      64 sequences of 2048 tokens, micro 2 "
                  "sequences\n"
                  "  mesh       pp = 2, dp = 8, tp = 4\n"
                  "  shard      batch over dp\n"
                  "  shard      heads, ffn, vocab over tp\n"
                  "  shard      optimizer over dp\n"
                  "  pipeline   over pp { schedule 1F1B, layers 2 * [12] }\n"
                  "  recompute  all\n"
                  "  precision  compute = fp16\n"
                  "  kernels    attention = unfused, loss = inplace, "
                  "accumulation = unfused, norm_weights = apart, "
                  "outputs = kept, gradients = apart, modules = megatron\n"
                  "  overlap    none\n"
                  "  bucket     eager\n}\n"));
  // 50,257 is no multiple of 4: padded to one of 128 · 4.
  CHECK(has(text, "vocab = 50688, context = 2048)"));
}

TEST_CASE("Megatron-LM's vocabularies are padded, others where they must") {
  const auto vocabulary = [](std::string_view framework, int tp) {
    return planText(
        kHeader, fmt::format("a,a100,8,gpt,24,2048,16,8192,50257,2048,{},1,{},"
                             "2,64,1,full,fp16,unfused,{},2023,1.5",
                             tp, 8 / tp, framework));
  };
  CHECK(has(vocabulary("megatron", 1), "vocab = 50304,"));
  CHECK(has(vocabulary("deepspeed", 2), "vocab = 50432,"));
  CHECK(has(vocabulary("vtrain", 1), "vocab = 50257,"));
  CHECK(has(vocabulary("llm-foundry", 1), "vocab = 50257,"));
  CHECK(has(vocabulary("llm-foundry", 2), "vocab = 50432,"));
}

TEST_CASE("a model of the library by name, its sizes given or not") {
  const char *columns = "id,accelerator,gpus,arch,layers,seq,mbs,gbs,zero,ep,"
                        "clauses,mfu_pct";
  CHECK(has(planText(columns, "a,h100,8,llama3_8b,,8192,1,128,fsdp,,,40"),
            "plan measured for llama3_8b on dgx_h100[8]"));
  CHECK(has(planText(columns, "a,h100,8,llama3_8b,32,8192,1,128,fsdp,,,40"),
            "plan measured for llama3_8b on"));
  const std::string twelve =
      planText(columns, "a,h100,8,llama3_70b,12,4096,1,32,1,,,40");
  CHECK(has(twelve, "model measured_model = llama(layers = 12, hidden = 8192"));
  CHECK(has(twelve, "shard      optimizer over dp"));
  const std::string experts = planText(
      columns, "a,b200,64,gpt_oss_120b,,4096,4,512,1,8,overlap none,40");
  CHECK(has(experts, "mesh       dp = 8, ep = 8"));
  CHECK(has(experts, "shard      experts, batch over ep"));
  CHECK(has(experts, "shard      optimizer over dp, ep"));
  CHECK(has(experts, "overlap    none"));
}

TEST_CASE("clusters of other sizes and networks are the library's, changed") {
  const char *columns = "id,accelerator,gpus,per_node,network_gbps,arch,seq,"
                        "mbs,gbs,zero,step_s";
  const std::string text =
      planText(columns, "a,h200,16,4,100,llama3_8b,8192,1,128,hybrid 4,40");
  CHECK(has(text, "cluster measured_cluster {\n  accelerator h200_sxm\n  level "
                  "node of 4 {"));
  CHECK(has(text, "    link 12.5GB/s\n"));
  CHECK(has(text, "mesh       replica = 4, dp = 4"));
  CHECK(has(text, "shard      batch over replica, dp"));
  CHECK(has(planText(columns, "a,tpu_v5p,128,128,,llama3_8b,8192,1,128,3,40"),
            "level z of 8 {"));
}

TEST_CASE("what a row does not say, or cannot be, is said") {
  CHECK(planText(kHeader, "a,abacus,64,gpt,24,2048,16,,50257,2048,4,2,8,2,64,"
                          "1,full,fp16,unfused,megatron,2021,1.5") ==
        "no: the library has no accelerator `abacus`");
  CHECK(has(planText(kHeader, "a,a100,60,gpt,24,2048,16,,50257,2048,8,1,8,2,"
                              "64,1,full,fp16,unfused,megatron,2021,1.5"),
            "no: tp 8 × cp 1 × pp 1 do not divide 60"));
  CHECK(has(planText(kHeader, "a,a100,64,gpt,24,2048,16,,50257,2048,8,2,8,2,"
                              "64,1,full,fp16,unfused,megatron,2021,1.5"),
            "no: dp 8 × tp 8"));
  CHECK(planText(kHeader, "a,a100,64,gpt,24,2048,,,50257,2048,4,2,8,2,64,1,"
                          "full,fp16,unfused,megatron,2021,1.5") ==
        "no: `heads` of `gpt` is not in the row");
  CHECK(has(planText(kHeader, "a,a100,64,gpt,24,2048,16,,50257,2048,4,2,8,2,"
                              "64,maybe,full,fp16,unfused,megatron,2021,1.5"),
            "no: `maybe` says nothing of how state is cut"));
  CHECK(planText("id,seq,step_s", "a,8,1") ==
        "no: the number of accelerators is not in the row");
}

TEST_CASE("a row's own clauses of a pipeline, whatever they are") {
  const char *columns = "id,accelerator,gpus,arch,seq,mbs,gbs,pp,clauses,mfu";
  const auto with = [&](const std::string &pp, const std::string &clauses) {
    return planText(
        columns,
        fmt::format("a,h100,16,llama3_8b,8192,1,128,{},{},0.4", pp, clauses));
  };
  CHECK(has(with("2", "pipeline virtual 2"),
            "  pipeline   over pp { schedule 1F1B, virtual 2 }\n"));
  // No braces to put it into: instead.
  CHECK(has(with("2", "pipeline over pp;pipeline virtual 2"),
            "  pipeline   virtual 2\n"));
  CHECK(has(with("1", "pipeline x;pipeline y"), "  pipeline   y\n"));
  CHECK(has(with("1", "pipeline;pipeline y"), "  pipeline   y\n"));
}

TEST_CASE("experts span the tensor axis whole, or the row is not written") {
  const char *columns = "id,accelerator,gpus,arch,seq,mbs,gbs,tp,ep,mfu";
  const auto with = [&](const std::string &tp, const std::string &ep) {
    return planText(
        columns,
        fmt::format("a,h100,64,gpt_oss_120b,4096,1,512,{},{},0.4", tp, ep));
  };
  CHECK(has(with("2", "8"), "  mesh       dp = 8, ep = 4, tp = 2\n"));
  CHECK(has(with("4", "4"), "  mesh       dp = 16, tp = 4\n"));
  CHECK(has(with("8", "1"), "  mesh       dp = 8, tp = 8\n"));
  CHECK(has(with("8", "4"), "no: ep 4 is no multiple of tp 8"));
  CHECK(has(with("2", "3"), "no: ep 3 is no multiple of tp 2"));
}

TEST_CASE("formats by whatever name") {
  const char *columns =
      "id,accelerator,gpus,arch,seq,mbs,gbs,zero,precision,mfu";
  const auto with = [&](const std::string &accelerator,
                        const std::string &precision) {
    return planText(columns, fmt::format("a,{},8,llama3_8b,8192,1,128,3,{},0.4",
                                         accelerator, precision));
  };
  for (const char *name : {"mxfp8", "mxfp8_bf16", "fp8-mx", "MXFP8"})
    CHECK(has(with("b200", name), "compute = mxfp8, attention = bf16\n"));
  for (const char *name : {"fp8", "bf16_fp8", "FP8-CS"})
    CHECK(has(with("h100", name), "compute = fp8, attention = bf16\n"));
  CHECK(has(with("b200", "nvfp4"), "compute = nvfp4, attention = bf16\n"));
  CHECK(has(with("NVIDIA V100", ""), "compute = fp16\n"));
  CHECK(has(with("v100", ""), "compute = fp16\n"));
  CHECK(has(with("h100", ""), "# assumed: products in bf16 assumed\n"));
  CHECK_FALSE(has(with("h100", ""), "  precision"));
  CHECK_FALSE(has(with("h100", "bfloat16"), "products in"));
  CHECK(has(with("h100", "float32"), "compute = fp32\n"));
  CHECK(has(with("h100", "posit16"), "no: `posit16` is no precision"));
}

TEST_CASE("what planc does not have is refused, what is assumed is said") {
  const auto with = [&](const std::string &gradients,
                        const std::string &optimizer,
                        const std::string &clauses) {
    return planText("id,accelerator,gpus,arch,seq,mbs,gbs,zero,gradients,"
                    "optimizer,clauses,mfu",
                    fmt::format("a,h100,8,llama3_8b,8192,1,128,3,{},{},{},0.4",
                                gradients, optimizer, clauses));
  };
  const std::string open = with("", "", "");
  CHECK(has(open, "# assumed: optimizer adamw assumed\n"));
  CHECK(has(open, "# assumed: gradients in fp32 assumed\n"));
  const std::string own = with("", "",
                               "optimizer sgd;precision gradients = "
                               "bf16");
  CHECK(!has(own, "adamw"));
  CHECK(!has(own, "gradients in fp32"));
  for (const char *name : {"Adam", "adamw", "FusedAdam"})
    CHECK(!has(with("fp32", name, ""), "optimizer adamw"));
  CHECK(has(with("float32", "muon", ""), "  optimizer  muon\n"));
  CHECK(has(with("bfloat16", "adam", ""), "gradients = bf16\n"));
  CHECK(with("fp32", "lion", "") == "no: the library has no optimizer `lion`");
  CHECK(with("fp8", "adam", "") == "no: `fp8` is no format of gradients");
}

TEST_CASE("a part of a rack is 64 of it where the row does not say") {
  const auto with = [&](const char *node) {
    return planText(
        "id,accelerator,gpus,per_node,arch,seq,mbs,gbs,zero,mfu",
        fmt::format("a,gb200,128,{},llama3_8b,8192,1,128,3,0.4", node));
  };
  CHECK(has(with(""), "level rack of 64 {"));
  CHECK(has(with("72"), "level rack of 64 {"));
  CHECK(has(with("32"), "level rack of 32 {"));
}

TEST_CASE("words are found whole") {
  CHECK(hasWords("NVIDIA A100-SXM4-80GB", "A100"));
  CHECK(hasWords("NVIDIA H100 PCIe", "H100 PCIe"));
  CHECK(hasWords("A1000 and A100", "A100"));
  CHECK(!hasWords("NVIDIA RTX A1000", "A100"));
  CHECK(!hasWords("NVIDIA GB200", "B200"));
  CHECK(!hasWords("", "A100"));
}

TEST_CASE("the clusters that logs are fitted to are the library's") {
  for (const char *name : {
#define PLANC_KNOWN_CLUSTER(NAME, DEVICE) NAME,
#include "tools/planc/KnownClusters.def"
       }) {
    INFO(name);
    CHECK(findCluster(name) != nullptr);
  }
}
