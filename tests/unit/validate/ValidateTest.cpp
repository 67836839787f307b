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
        "fit,x,fit,h100,8,llama2_7b,4096,1,32,fsdp,15000,,,",
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
  REQUIRE(found.rows[4].step);
  CHECK(found.step.count == 4); // not that of `fit`
  CHECK(found.memory.count == 1);
  REQUIRE(found.groups.front().by == "source");
  CHECK(found.groups.front().tau.has_value());
}

namespace {

/// The one row of a table.
RowResult only(const std::string &columns, const std::string &values) {
  const Validated all = validate::validate(
      {{{"runs.csv",
         "id,accelerator,gpus,arch,seq,mbs,gbs,zero," + columns +
             "\na,h100,8,llama2_7b,4096,1,32,fsdp," + values + "\n",
         "."}},
       "",
       1});
  REQUIRE(all.result);
  REQUIRE(all.result->rows.size() == 1);
  return all.result->rows.front();
}

} // namespace

TEST_CASE("a share is one, however it is written") {
  const double step = only("mfu,mfu_def", "0.45,palm").step->measured;
  for (const auto &[column, value] :
       {std::pair("mfu", "45%"), std::pair("mfu", "45"),
        std::pair("mfu_pct", "45"), std::pair("mfu_pct", "45 %"),
        std::pair("mfu_percent", "45%")})
    CHECK(only(std::string(column) + ",mfu_def", std::string(value) + ",palm")
              .step->measured == Approx(step));
  for (const char *value : {"145%", "145", "-3", "0%"})
    CHECK(only("mfu,mfu_def", std::string(value) + ",palm").reason ==
          "`mfu` is a share above zero and up to one, or in percent, found `" +
              std::string(value) + "`");
  CHECK(!only("step_s", "5%").isExpressed());
}

TEST_CASE("commas set off three digits, and are nothing else") {
  CHECK(only("step_s", "\"1,234.5\"").step->measured == Approx(1234.5));
  CHECK(only("step_s", "\"1,234,567\"").step->measured == Approx(1234567));
  for (const char *value : {"1,5", "1,23", "1,2345", "0,125", ",125",
                            "1234,567", "1,234,5", "1.234,567", "1,,234", "1,"})
    CHECK(only("step_s", fmt::format("\"{}\"", value)).reason ==
          fmt::format("`step_s` is a number above zero, found `{}`", value));
}

TEST_CASE("a rate above the peak is that of something else") {
  // 8 of 9,000 each, in the column of one.
  CHECK(only("tokens/s", "72000").reason ==
        "its step would be above the peak: is the rate of all accelerators?");
  CHECK(only("samples_each_s", "18").reason ==
        "its step would be above the peak: is the rate of all accelerators?");
  CHECK(only("tokens_per_s", "72000").step->by == "tokens_all_s");
  CHECK(only("tokens_s", "9000").isExpressed());
  const RowResult fast = only("step_s,memory_gib", "0.01,30");
  CHECK(fast.reason == "its step would be above the peak");
  CHECK(!fast.step);
  CHECK(!fast.mfuMeasured);
}

TEST_CASE("nothing compared is not nothing wrong") {
  const Validated none = validated(1, "none");
  REQUIRE(none.result);
  const std::string json = toJson(*none.result);
  for (const char *key : {"median_abs_error", "mean_abs_error", "p90_abs_error",
                          "worst_abs_error", "median_error"})
    CHECK(json.find(fmt::format("\"{}\": 0", key)) == std::string::npos);
  CHECK(json.find("\"median_abs_error\": null") != std::string::npos);
  CHECK(toText(*none.result)
            .find("step time                  0      –        –        –"
                  "        –        –     –\n") != std::string::npos);
  CHECK(
      toMarkdown(*none.result).find("| step time | 0 | – | – | – | – | – |") !=
      std::string::npos);
  const std::string some = toJson(*validated(1, "one").result);
  CHECK(some.find("\"median_abs_error\": 0.") != std::string::npos);
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
