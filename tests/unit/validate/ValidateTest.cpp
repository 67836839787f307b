#include "tests/unit/Catch.h"

#include "compiler/validate/Writers.h"

#include <fmt/format.h>

using namespace planc;
using namespace planc::validate;

namespace {

std::string runs() {
  std::string text = "id,source,split,accelerator,gpus,arch,seq,mbs,gbs,zero,"
                     "tokens_s,mfu,mfu_def,memory_gib\n";
  // The last two say in other words what the first does.
  for (const char *row :
       {"one,x,validate,h100,8,llama2_7b,4096,1,32,fsdp,9000,,,30",
        "two,x,validate,h100,16,llama2_7b,4096,1,64,fsdp,8900,,,",
        "four,x,validate,h100,32,llama2_7b,4096,1,128,fsdp,8800,,,",
        "mfu,x,validate,h100,8,llama2_7b,4096,1,32,fsdp,,44,palm,",
        "fit,x,fit,h100,8,llama2_7b,4096,1,32,fsdp,90000,,,",
        "none,x,validate,h100,8,babel,4096,1,32,fsdp,9000,,,"})
    text += std::string(row) + "\n";
  return text;
}

Validated validated(std::size_t threads, const std::string &only = "") {
  return validate::validate({{{"runs.csv", runs(), "."}}, only, threads});
}

} // namespace

TEST_CASE("rows are compared, and those that cannot be are listed") {
  const Validated all = validated(1);
  REQUIRE(all.result);
  const Validation &found = *all.result;
  REQUIRE(found.rows.size() == 6);
  const RowResult &one = found.rows[0];
  REQUIRE(one.isExpressed());
  CHECK(one.step->by == "tokens_s");
  CHECK(one.step->measured == Approx(32 * 4096 / (9000.0 * 8)));
  CHECK(one.step->error() ==
        Approx(one.step->predicted / one.step->measured - 1));
  CHECK(one.mfu * one.step->predicted ==
        Approx(*one.mfuMeasured * one.step->measured));
  CHECK(one.memory->measured == Approx(30));
  double whole = 0;
  for (double share : one.waterfall)
    whole += share;
  CHECK(whole == Approx(1));

  // 44 % by 6N + attention in full squares.
  const RowResult &mfu = found.rows[3];
  CHECK(mfu.step->by == "mfu (palm)");
  CHECK(mfu.stepSeconds == one.stepSeconds);
  CHECK(*mfu.mfuMeasured < 0.44);
  CHECK(*mfu.mfuMeasured > 0.40);

  CHECK(found.rows[5].reason == "the library has no model `babel`");
  CHECK(found.step.count == 4); // not that of `fit`
  CHECK(found.memory.count == 1);
  REQUIRE(found.groups.front().by == "source");
  CHECK(found.groups.front().tau.has_value());
}

TEST_CASE("nothing depends on how many threads there are") {
  const Validated one = validated(1), three = validated(3);
  CHECK(toJson(*one.result) == toJson(*three.result));
  CHECK(toCsv(*one.result) == toCsv(*three.result));
  CHECK(toMarkdown(*one.result) == toMarkdown(*three.result));
  CHECK(toSvg(*one.result) == toSvg(*three.result));
}

TEST_CASE("rows are chosen by patterns of their ids") {
  CHECK(validated(1, "*o*").result->rows.size() == 4);
  CHECK(validated(1, "???").result->rows.size() == 4);
  CHECK(matches("a*b*c", "aXbYYc"));
  CHECK(!matches("a*b", "aXbY"));
  CHECK(matches("*", ""));
  CHECK(!matches("", "a"));
}

TEST_CASE("every table of the library is read without a word") {
  for (const validate::Table &table : standardTables()) {
    const Validated read = validate::validate({{table}, "no row", 1});
    INFO(table.name);
    CHECK(read.result.has_value());
    CHECK(read.diagnostics.empty());
  }
}
