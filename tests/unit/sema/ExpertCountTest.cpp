#include "tests/unit/Catch.h"
#include "tests/unit/sema/Elaborated.h"

#include <fstream>
#include <sstream>

using namespace planc;

TEST_CASE("mixtures of the standard library count to the last digit",
          "[stdlib]") {
  // model,import,parameters,active,source (the last may hold commas)
  std::ifstream in(PLANC_DATA "/expert_parameter_counts.csv");
  std::string line;
  std::getline(in, line);
  int rows = 0;
  while (std::getline(in, line)) {
    std::istringstream fields(line);
    std::string model, file, count, active;
    std::getline(fields, model, ',');
    std::getline(fields, file, ',');
    std::getline(fields, count, ',');
    std::getline(fields, active, ',');
    Elaborated found("import " + file +
                     "\nimport std.clusters.h100\n"
                     "plan p for " +
                     model +
                     " on dgx_h100[8] {\n"
                     "  batch 8 sequences of 1024 tokens\n"
                     "  mesh dp = rest\n"
                     "  shard batch over dp\n}\n");
    CAPTURE(model, found.text());
    REQUIRE(found.module);
    CHECK(found.kinds().empty());
    CHECK(std::to_string(ops::parameterCount(found.model())) == count);
    CHECK(std::to_string(ops::activeParameterCount(found.model())) == active);
    ++rows;
  }
  CHECK(rows >= 11);
}
