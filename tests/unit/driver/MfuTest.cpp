// What was printed of measured runs, from their step times (METRICS M2, M3).
#include "tests/unit/Catch.h"

#include "compiler/driver/Session.h"
#include "runtime/report/MeasuredRun.h"

#include <fmt/format.h>

using namespace planc;
using namespace planc::driver;
using report::FlopCount;

namespace {

struct Printed {
  std::string imports, plan;
  double seconds = 0;
};

report::MeasuredRun runOf(const Printed &printed) {
  Options options;
  options.file = "measured.plan";
  options.text =
      fmt::format("language 1\n{}\n{}\n", printed.imports, printed.plan);
  Session session(options);
  session.run();
  REQUIRE(session.report() != nullptr);
  return report::measuredRun(*session.report(),
                             durationFromSeconds(printed.seconds));
}

const report::MeasuredRun::Row &rowOf(const report::MeasuredRun &run,
                                      FlopCount count) {
  return run.rows[static_cast<std::size_t>(count)];
}

constexpr std::string_view kKorthikanti = R"(
plan p for {} on dgx_a100[{}] {{
  batch      {} sequences of 2048 tokens, micro {} sequences
  mesh       {}tp = 8
  shard      heads, ffn, vocab, seq over tp
  {}
  recompute  attention
  kernels    attention = unfused
}})";

} // namespace

TEST_CASE("mfu_m3: Korthikanti et al., arXiv 2205.05198, table 5") {
  struct Row {
    const char *model;
    int accelerators, batch, micro;
    const char *stages;
    const char *pipeline;
    double seconds, mfu;
  };
  const Row rows[] = {
      {"megatron_22b", 8, 4, 4, "", "", 1.10, 0.415},
      {"megatron_175b", 64, 64, 1, "pp = 8, ",
       "pipeline over pp { schedule Interleaved1F1B, virtual 3 }", 13.75,
       0.514},
      {"megatron_1t", 512, 512, 1, "pp = 64, ",
       "pipeline over pp { schedule 1F1B }", 71.49, 0.563},
  };
  for (const Row &row : rows) {
    INFO(row.model);
    const auto run = runOf(
        {"import std.models.gpt\nimport std.clusters.a100",
         fmt::format(fmt::runtime(kKorthikanti), row.model, row.accelerators,
                     row.batch, row.micro, row.stages, row.pipeline),
         row.seconds});
    // The shortest step time is printed as 1.10 s, which is 0.5 % either way.
    CHECK(*rowOf(run, FlopCount::Full).mfu ==
          Approx(row.mfu).margin(0.005 * row.mfu + 0.0005));
  }
}

TEST_CASE("mfu_m3: BLOOM's 150 TFLOP/s") {
  // bigscience-workshop/bigscience, tr11: 105 s a step on 384 A100.
  const auto run = runOf({"import std.models.bloom\nimport std.clusters.a100",
                          R"(plan p for bloom_176b on dgx_a100[384] {
  batch      2048 sequences of 2048 tokens, micro 2 sequences
  mesh       pp = 12, dp = 8, tp = 4
  shard      batch over dp
  shard      heads, ffn, vocab over tp
  pipeline   over pp { schedule 1F1B, layers [5] + 10 * [6] + [5] }
  recompute  all
})",
                          105});
  const auto &row = rowOf(run, FlopCount::Bloom);
  CHECK(row.flopsPerSecond / 1e12 == Approx(150).margin(1));
  CHECK(!row.mfu);
  // Their layers are counted twice; so are planc's, which keeps the first.
  CHECK(rowOf(run, FlopCount::Full).hfu == Approx(row.hfu).epsilon(0.01));
}

TEST_CASE("mfu_m3: PaLM 540B, arXiv 2204.02311, 4.1: 46.2 %, 45.7 without "
          "attention") {
  // 238.3 thousand tokens a second on 6,144 chips; here 64 of them.
  const auto run = runOf({"import std.models.palm\nimport std.clusters.tpu",
                          R"(plan p for palm_540b on tpu_v4_pods[64] {
  batch      64 sequences of 2048 tokens
  mesh       fsdp = rest
  shard      batch over fsdp
  shard      parameters, gradients, optimizer over fsdp
  recompute  all
})",
                          64 * 2048 / (238300.0 / 6144 * 64)});
  CHECK(*rowOf(run, FlopCount::Palm).mfu == Approx(0.462).margin(0.0006));
  CHECK(*rowOf(run, FlopCount::SixNd).mfu == Approx(0.457).margin(0.0006));
}

TEST_CASE("mfu_m3: MPT 7B, llm-foundry's H100 table") {
  // mosaicml/llm-foundry, scripts/train/benchmarking/README.md: 8 H100,
  // 10,643 tokens a second each; and with layers made again 8,611 at 4,096.
  struct Row {
    int sequence, micro, batch;
    const char *recompute;
    double tokens, mfu, hfu;
  };
  for (const Row &row : {Row{2048, 6, 48, "none", 10643, 0.4644, 0.4644},
                         Row{4096, 16, 256, "all", 8611, 0.4042, 0.5390}}) {
    const auto run = runOf(
        {"import std.models.gpt\nimport std.clusters.h100",
         fmt::format("model m = gpt(layers = 32, hidden = 4096, heads = 32, "
                     "vocab = 50368, context = {0}, drop = 0)\n"
                     "plan p for m on dgx_h100[8] {{\n"
                     "  batch      {1} sequences of {0} tokens, micro {2} "
                     "sequences\n"
                     "  mesh       fsdp = rest\n"
                     "  shard      batch over fsdp\n"
                     "  shard      parameters, gradients, optimizer over fsdp\n"
                     "  recompute  {3}\n}}\n",
                     row.sequence, row.batch, row.micro, row.recompute),
         row.batch * row.sequence / (row.tokens * 8)});
    const auto &found = rowOf(run, FlopCount::LlmFoundry);
    CHECK(*found.mfu == Approx(row.mfu).margin(0.0005));
    CHECK(found.hfu == Approx(row.hfu).margin(0.0006));
  }
}

TEST_CASE("mfu_m2: ways to count are told apart by name") {
  for (std::size_t i = 0; i < report::kFlopCounts; ++i) {
    const auto count = static_cast<FlopCount>(i);
    CHECK(report::flopCountFromKey(report::keyOf(count)) == count);
    CHECK(!report::wordsOf(count).empty());
    CHECK(!report::sourceOf(count).empty());
  }
  CHECK(!report::flopCountFromKey("megatrom"));
}
