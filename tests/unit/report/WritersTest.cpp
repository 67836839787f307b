#include "tests/unit/Catch.h"
#include "tests/unit/report/Parsed.h"
#include "tests/unit/report/Toy.h"

#include "runtime/report/NumberText.h"
#include "runtime/report/Trace.h"
#include "runtime/report/Writers.h"

#include <limits>

using namespace planc;
using namespace planc::report;
using namespace planc::report::test;

namespace {

/// Every part of a report filled in, with names that are too long.
Report fullReport() {
  const Toy toy = layerToy(Recomputed::Yes);
  ReportInputs inputs = toy.inputs();
  inputs.planned.plan = "pretrain_with_a_name_that_does_not_end_anywhere_soon";
  inputs.planned.model = std::string(70, 'm');
  inputs.planned.place = {"a/very/long/folder/" + std::string(80, 'x'), 123456};
  inputs.planned.mesh = {
      {"replica", 128}, {"fsdp", 64}, {"pp", 16}, {"cp", 16}, {"tp", 8}};
  inputs.planned.schedule = "Interleaved1F1B × 8";
  inputs.planned.leftOver = 24;
  inputs.printedPeak = NamedPeak{"sparse", FlopRate(2 * kFlopsPerSecond)};
  inputs.pipeline = PipelineShape{16, 16, 8, 15, 143};
  inputs.orders = Orders{{Duration(900), 600, 0, 0},
                         {Duration(800), 300, 0, 0},
                         {},
                         Duration(500),
                         Duration(400),
                         "megatron"};
  inputs.expectations = {{"mfu",
                          "",
                          Expectation::Comparison::Greater,
                          0.9,
                          std::string(90, 'e'),
                          {}}};
  Report report = buildReport(inputs);
  report.lines[0].text = "shard  " + std::string(120, 's') + "\t\x1b[31m";
  report.diagnostics = {{"odd", "warning", "it is \xff odd", "a.plan", 1, 2}};
  return report;
}

} // namespace

TEST_CASE("text: at most 100 columns, no escapes in a pipe") {
  const std::string text = toText(fullReport());
  CHECK(text.find('\x1b') == std::string::npos);
  std::size_t lines = 0;
  for (std::size_t at = 0; at < text.size(); ++lines) {
    const std::size_t end = text.find('\n', at);
    REQUIRE(end != std::string::npos);
    const std::string line = text.substr(at, end - at);
    INFO(line);
    CHECK(columnsOf(line) <= 100);
    CHECK((line.empty() || line.back() != ' '));
    at = end + 1;
  }
  CHECK(lines < 40);
}

TEST_CASE("text: colour only marks, it changes no words") {
  const Report report = fullReport();
  std::string coloured = toText(report, {Color::Always});
  CHECK(coloured.find("\x1b[31m") != std::string::npos);
  for (std::size_t at; (at = coloured.find('\x1b')) != std::string::npos;)
    coloured.erase(at, coloured.find('m', at) - at + 1);
  CHECK(coloured == toText(report));
}

TEST_CASE("text: the rows add up to 100.0") {
  const std::string text = toText(fullReport());
  std::size_t at = text.find("where 100 % goes\n");
  REQUIRE(at != std::string::npos);
  at = text.find('\n', at) + 1;
  double sum = 0;
  for (int rows = 0;; ++rows) {
    const std::string line = text.substr(at, text.find('\n', at) - at);
    if (line.find("at the printed peak") != std::string::npos) {
      CHECK(rows == 10);
      break;
    }
    REQUIRE(line.size() > 30);
    sum += std::stod(line.substr(20, 7));
    at = text.find('\n', at) + 1;
  }
  CHECK(sum == Approx(100.0).margin(1e-9));
}

TEST_CASE("json: parses, says what the schema says, twice the same bytes") {
  const Report report = fullReport();
  const std::string text = toJson(report);
  CHECK(text == toJson(report));
  const llvm::json::Value value = parsed(text);
  const llvm::json::Object &top = *value.getAsObject();
  for (const char *key : {"schema_version",
                          "status",
                          "plan",
                          "model",
                          "cluster",
                          "accelerators",
                          "parameters",
                          "active_parameters",
                          "step_time_s",
                          "tokens_per_s",
                          "tokens_per_s_per_accelerator",
                          "model_tflops_per_accelerator",
                          "mfu",
                          "hfu",
                          "peak",
                          "bubble",
                          "communication",
                          "memory",
                          "waterfall",
                          "lines",
                          "orders",
                          "expectations",
                          "diagnostics"}) {
    INFO(key);
    CHECK(top.get(key) != nullptr);
  }
  CHECK(text.find("\"step_time_s\": 0.00000000073,") != std::string::npos);
  CHECK(top.getString("status") == llvm::StringRef("expectation_failed"));
  double sum = 0;
  for (const llvm::json::Value &row : *top.getArray("waterfall"))
    sum += *row.getAsObject()->getNumber("fraction");
  CHECK(sum == Approx(1.0).margin(1e-9));
  CHECK(*top.getObject("bubble")->getNumber("formula_fraction") ==
        Approx(15.0 / 143).epsilon(1e-5));
}

TEST_CASE("json: a compile without a report still says why") {
  const DiagnosticRow rows[] = {
      {"unknown-name", "error", "no `x`", "a.plan", 3, 4}};
  const llvm::json::Value value = parsed(toJson("illegal", rows));
  const llvm::json::Object &top = *value.getAsObject();
  CHECK(top.getString("status") == llvm::StringRef("illegal"));
  REQUIRE(top.getArray("diagnostics")->size() == 1);
  CHECK((*top.getArray("diagnostics"))[0].getAsObject()->getInteger("line") ==
        std::int64_t(3));
}

TEST_CASE("markdown: names cannot break out of their cells") {
  Report report = fullReport();
  report.planned.model = "a|b`c";
  const std::string text = toMarkdown(report);
  CHECK(text.find("a\\|b\\`c") != std::string::npos);
  CHECK(text.find("| model arithmetic |") != std::string::npos);
  CHECK(text.size() < 64'000);
}

TEST_CASE("trace: parses; a run and what is in it share a track") {
  const Toy toy = gpipeToy(2, 3);
  const llvm::json::Value value = parsed(toTrace(toy.programs, toy.timeline));
  const llvm::json::Array *events =
      value.getAsObject()->getArray("traceEvents");
  REQUIRE(events != nullptr);
  std::size_t slices = 0, names = 0;
  for (const llvm::json::Value &event : *events) {
    const llvm::json::Object &fields = *event.getAsObject();
    slices += fields.getString("ph") == llvm::StringRef("X");
    names += fields.getString("name") == llvm::StringRef("process_name");
  }
  CHECK(names == 2);
  // 6 runs with one kernel each and two stages; stage 0 waits once (before its
  // first backward), stage 1 once (before its first forward).
  CHECK(slices == 2 * 6 * 2 + 2);
  const auto few = toTrace(toy.programs, toy.timeline, {0, {}});
  CHECK(few.size() < toTrace(toy.programs, toy.timeline).size());
}

TEST_CASE("numbers: three digits and a unit") {
  CHECK(durationText(Duration(6'310'000'000'000)) == "6.31 s");
  CHECK(durationText(Duration(999'960'000'000)) == "1.00 s");
  CHECK(durationText(Duration(43'100'000)) == "43.1 µs");
  CHECK(durationText(Duration(7)) == "7 ps");
  CHECK(durationText(Duration(0)) == "0 s");
  CHECK(exactSeconds(Duration(6'310'000'000'001)) == "6.310000000001");
  CHECK(exactSeconds(Duration(-500'000'000'000)) == "-0.5");
  CHECK(bytesText(Bytes(std::int64_t(76) << 30)) == "76.0 GiB");
  CHECK(bytesText(Bytes(12)) == "12 B");
  CHECK(scaledCount(2'660'000) == "2.66 M");
  CHECK(scaledCount(1234) == "1,234");
  CHECK(grouped(405'853'388'800) == "405,853,388,800");
  CHECK(grouped(-1000) == "-1,000");
  CHECK(jsonNumber(88817000123.0) == "88817000123");
  CHECK(jsonNumber(0.38204999) == "0.38205");
  CHECK(jsonNumber(std::numeric_limits<double>::infinity()) == "null");
  CHECK(digits(Int128(10'000'000'000) * 10'000'000'000) ==
        "100000000000000000000");
}

TEST_CASE("numbers: parts keep their sum, the first its nearest") {
  const Int128 thirds[] = {1, 1, 1};
  CHECK(apportion(thirds, 3, 100) == std::vector<std::int64_t>{33, 34, 33});
  const Int128 half[] = {15, 984, 1};
  CHECK(apportion(half, 1000, 100) == std::vector<std::int64_t>{2, 98, 0});
  const Int128 signs[] = {60, 50, -10};
  CHECK(apportion(signs, 100, 10) == std::vector<std::int64_t>{6, 5, -1});
}

TEST_CASE("texts: control characters go, what is too long says so") {
  CHECK(oneLine("  a \t\x1b b\n") == "a b");
  CHECK(shortened("αβγδ", 3) == "αβ…");
  CHECK(shortenedAtStart("αβγδ", 3) == "…γδ");
  CHECK(shortened("αβγ", 3) == "αβγ");
}
