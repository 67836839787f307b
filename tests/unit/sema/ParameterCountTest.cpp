#include "tests/unit/Catch.h"
#include "tests/unit/sema/Elaborated.h"

#include <fstream>
#include <sstream>

using namespace planc;

TEST_CASE("models of the standard library count to the last digit",
          "[stdlib]") {
  // model,import,parameters,source (the last may hold commas)
  std::ifstream in(PLANC_DATA "/parameter_counts.csv");
  std::string line;
  std::getline(in, line);
  int rows = 0;
  while (std::getline(in, line)) {
    std::istringstream fields(line);
    std::string model, file, count;
    std::getline(fields, model, ',');
    std::getline(fields, file, ',');
    std::getline(fields, count, ',');
    Elaborated found("import " + file +
                     "\nimport std.clusters.h100\n"
                     "plan p for " +
                     model +
                     " on dgx_h100[8] {\n"
                     "  batch 8 sequences of 128 tokens\n"
                     "  mesh dp = rest\n"
                     "  shard batch over dp\n}\n");
    CAPTURE(model, found.text());
    REQUIRE(found.module);
    CHECK(found.kinds().empty());
    CHECK(std::to_string(ops::parameterCount(found.model())) == count);
    ++rows;
  }
  CHECK(rows >= 30);
}

TEST_CASE("latent attention has the parameters of DeepSeek's layers",
          "[stdlib]") {
  struct Row {
    const char *sizes;
    std::int64_t attention, hidden;
  };
  // V2-Lite: q 2048 x 16 x 192; down 2048 x 576, norm 512, up 512 x 16 x 256;
  // out 16 x 128 x 2048. V3: q 7168 x 1536, norm 1536, 1536 x 128 x 192; down
  // 7168 x 576, norm 512, up 512 x 128 x 256; out 128 x 128 x 7168.
  const Row rows[] = {
      {"hidden = 2048, heads = 16, q_lora = none, kv_lora = 512", 13'763'072,
       2048},
      {"hidden = 7168, heads = 128, q_lora = 1536, kv_lora = 512", 187'107'328,
       7168}};
  for (const Row &row : rows) {
    Elaborated found(
        "import std.models.latent\nimport std.clusters.h100\n"
        "model m(hidden, heads, q_lora, kv_lora, vocab = 1024) {\n"
        "  x = embed(tokens, table[vocab, hidden])\n"
        "  repeat 1 as decoder {\n"
        "    x = x + latent_attention(x, heads, q_lora, kv_lora)\n  }\n"
        "  loss = cross_entropy(matmul(x, table))\n}\n"
        "model sized = m(" +
        std::string(row.sizes) +
        ")\nplan p for sized on dgx_h100[8] {\n"
        "  batch 8 sequences of 1024 tokens\n"
        "  mesh dp = rest\n  shard batch over dp\n}\n");
    CAPTURE(row.sizes, found.text());
    REQUIRE(found.module);
    CHECK(ops::parameterCount(found.model()) ==
          row.attention + 1024 * row.hidden);
  }
}
