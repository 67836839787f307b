#include "tests/unit/Catch.h"

#include "compiler/validate/Constants.h"

#include <algorithm>

using namespace planc::validate;

TEST_CASE("every constant of the library says where it is from") {
  const std::vector<FreeConstant> all = freeConstants();
  CHECK(all.size() > 200);
  for (const FreeConstant &constant : all) {
    INFO(constant.file << ": " << constant.owner << "." << constant.name);
    CHECK(constant.source.size() >= 3);
    CHECK(!constant.value.empty());
  }
}

TEST_CASE("a constant has the comment beside it, else the one above") {
  const std::vector<FreeConstant> all = freeConstants();
  auto find = [&](std::string_view owner, std::string_view name) {
    const auto at =
        std::find_if(all.begin(), all.end(), [&](const FreeConstant &c) {
          return c.owner == owner && c.name == name;
        });
    REQUIRE(at != all.end());
    return *at;
  };
  CHECK(find("dgx_a100.node", "latency").source.find("NCCL 2.30") == 0);
  CHECK(find("a100_sxm", "matmul_efficiency").source.find("271 of 312") !=
        std::string::npos);
  CHECK(!find("a100_sxm", "matmul_efficiency").isCopy());
  CHECK(find("a100_sxm_40", "matmul_efficiency").isCopy());
}

TEST_CASE("a copy is as another machine of the library") {
  const auto isCopy = [](const char *source) {
    return FreeConstant{"", "", "", "", source}.isCopy();
  };
  CHECK(isCopy("as dgx_h100"));
  CHECK(isCopy("as dgx_h100's adapters"));
  CHECK(isCopy("Half of the memory. All else As A100_SXM, at this rate."));
  CHECK(!isCopy("as a100_sxm_400"));
  CHECK(!isCopy("was dgx_h100"));
  CHECK(!isCopy("assumed as bf16"));
  CHECK(!isCopy("the same figures"));
}
