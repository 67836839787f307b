#include "tests/unit/Catch.h"
#include "tests/unit/calibrate/MadeLogs.h"
#include "tests/unit/cost/TestCluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

using namespace planc;
using namespace planc::calibrate;
using program::InstructionKind;

namespace {

ReadLog read(std::string_view text, std::string name = "a.log") {
  return readNcclLog({std::move(name), text});
}

constexpr std::string_view kRow =
    "     1048576        262144     float     sum      -1    40.00   26.21   "
    "45.87      0    40.00   26.21   45.87      0\n";

} // namespace

TEST_CASE("every layout says the same") {
  const hardware::Cluster c = cost::testCluster();
  const ReadLog first = read(madeLog(c, {}));
  REQUIRE(first.tables.size() == 1);
  const LogTable &table = first.tables[0];
  CHECK(table.test == Test::AllReduce);
  CHECK(table.ranks == 8);
  CHECK(table.ranksOfHost == 8);
  CHECK(table.device == "Some Chip 80GB");
  CHECK(table.rows.size() == 21);
  CHECK(table.rows[0].bytes == 8192);
  for (Layout layout : {Layout::Old, Layout::Short}) {
    Made made;
    made.layout = layout;
    const ReadLog other = read(madeLog(c, made));
    REQUIRE(other.tables.size() == 1);
    CHECK(other.tables[0].test == Test::AllReduce);
    CHECK(other.tables[0].ranks == 8);
    REQUIRE(other.tables[0].rows.size() == table.rows.size());
    for (std::size_t i = 0; i < table.rows.size(); ++i)
      CHECK(other.tables[0].rows[i].seconds == table.rows[i].seconds);
  }
}

TEST_CASE("several tests in one file, and whatever else stands there") {
  const hardware::Cluster c = cost::testCluster();
  std::string text = "$ mpirun -np 8 ./build/all_gather_perf\nloading\n";
  text += madeLog(c, {Test::AllGather, InstructionKind::AllGather});
  text += "slurmstepd: a stray line with 3 numbers 4 5\n";
  text += madeLog(c, {Test::AllToAll, InstructionKind::AllToAll, {4, 8}});
  const ReadLog log = read(text);
  REQUIRE_FALSE(log.error);
  REQUIRE(log.tables.size() == 2);
  CHECK(log.tables[0].test == Test::AllGather);
  CHECK(log.tables[1].test == Test::AllToAll);
  CHECK(log.tables[1].ranks == 32);
  CHECK(log.tables[1].ranksOfHost == 8);
}

TEST_CASE("without lines of ranks the bandwidths say how many there were") {
  for (std::int64_t ranks : {96, 144, 5}) {
    const Made made{Test::AllReduce, InstructionKind::AllReduce, {1, ranks}};
    const ReadLog log = read(header(Layout::New) +
                             madeRow(made, std::int64_t{1} << 33, 0.0439));
    REQUIRE(log.tables.size() == 1);
    CHECK(log.tables[0].ranks == ranks);
  }
  // Two digits of a slow row allow many.
  const Made many{Test::AllReduce, InstructionKind::AllReduce, {1, 1440}};
  CHECK(read(header(Layout::New) + madeRow(many, std::int64_t{1} << 30, 0.5))
            .tables.at(0)
            .ranks == 0);
  const ReadLog cut =
      read(fmt::format("#  Rank  0 Group 0 Pid 1 on h device  0 [00] X\n"
                       "#  Rank  1 Group 0 Pid 1 on h device  1 [01] X\n{}",
                       kRow));
  REQUIRE(cut.tables.size() == 1);
  CHECK(cut.tables[0].ranks == 8);
  CHECK(cut.tables[0].ranksOfHost == 0);
  CHECK(cut.warnings.size() == 1);
}

TEST_CASE("what the test is follows from its columns, or from the name") {
  const std::string gather =
      "1048576 16384 float none -1 40.00 26.21 22.94 0 40.00 26.21 22.94 0\n";
  CHECK(read(kRow).tables.at(0).test == Test::AllReduce);
  REQUIRE(read(gather).error);
  CHECK(read(gather).error->kind == LogProblemKind::UnknownCollective);
  CHECK(read(gather, "x/AllToAll-8.txt").tables.at(0).test == Test::AllToAll);
  CHECK(read(gather, "all_gather.txt").tables.at(0).ranks == 8);
  CHECK(read("1048576 262144 float none 0 40.00 26.21 26.21 0\n")
            .tables.at(0)
            .test == Test::Broadcast);
  CHECK(read("1048576 262144 float none -1 40.00 26.21 26.21 0\n")
            .tables.at(0)
            .test == Test::SendRecv);
}

TEST_CASE("prefixes of mpirun, colours, carriage returns, repeated sizes") {
  const std::string text = fmt::format("[1,0]<stdout>: {}\x1b[0m{}\r\n", kRow,
                                       kRow.substr(0, kRow.size() - 1));
  const ReadLog log = read(text);
  REQUIRE(log.tables.size() == 1);
  CHECK(log.tables[0].rows.size() == 1);
  CHECK(log.tables[0].rows[0].seconds == Approx(40e-6));
}

TEST_CASE("json as nccl-tests writes it") {
  const std::string text =
      R"({"version": 1, "start_time": "2026-03-02 11:22:33",
    "args": ["./reduce_scatter_perf"], "config": {"devices": [
    {"rank": 0, "hostname": "a", "device": 0, "device_info": "Chip"},
    {"rank": 1, "hostname": "b", "device": 0, "device_info": "Chip"}]},
    "results": [{"size": 1000000, "count": 1, "type": "float", "redop": "sum",
    "root": "    -1", "out_of_place": null,
    "in_place": {"time": 50.0, "alg_bw": 20.0, "bus_bw": 10.0, "nwrong": null}
    }]})";
  const ReadLog log = read(text);
  REQUIRE(log.tables.size() == 1);
  CHECK(log.tables[0].test == Test::ReduceScatter);
  CHECK(log.tables[0].ranks == 2);
  CHECK(log.tables[0].ranksOfHost == 1);
  CHECK(log.tables[0].date == "2026-03-02 11:22:33");
  CHECK(log.tables[0].rows[0].seconds == Approx(50e-6));
}

TEST_CASE("what is damaged is named, with its line") {
  const auto problem = [](std::string_view text) {
    const ReadLog log = read(text);
    REQUIRE(log.error);
    CHECK(log.tables.empty());
    CHECK_FALSE(helpOf(log.error->kind).empty());
    return std::string(codeOf(log.error->kind)) + ":" +
           std::to_string(log.error->line);
  };
  CHECK(problem("") == "log-no-rows:0");
  CHECK(problem("# nothing\n\0\xff"
                "more") == "log-no-rows:0");
  // A digit of the time is gone: its bandwidth says so.
  CHECK(problem("#\n1048576 262144 float sum -1 4.00 26.21 45.87 0\n") ==
        "log-bad-row:2");
  CHECK(problem("1048576 262144 float sum -1 -40.0 26.21 45.87 0\n") ==
        "log-bad-row:1");
  CHECK(problem("1048576 262144 float sum -1\n") == "log-bad-row:1");
  CHECK(problem("1048576 262144 float sum -1 40.0 N/A 45.87 0\n") ==
        "log-bad-row:1");
  CHECK(problem("1048576 262144 float sum -1 0.0001 26.21 45.87 0\n") ==
        "log-bad-row:1");
  // One check for both kinds of log.
  const auto json = [&](std::string_view time, std::string_view speed) {
    return problem(fmt::format(
        R"({{"args":["all_reduce_perf"],"results":[{{"size":1048576,)"
        R"("out_of_place":{{"time":{},"alg_bw":{},"bus_bw":45.87}}}}]}})",
        time, speed));
  };
  CHECK(json("4.0", "26.21") == "log-bad-row:0");
  CHECK(json("0.0001", "10485760") == "log-bad-row:0");
  CHECK(json("-40.0", "26.21") == "log-bad-row:0");
  CHECK(problem("{\"results\": 3") == "log-bad-json:0");
  CHECK(problem("{\"results\": 3}") == "log-no-rows:0");
  CHECK(problem("{\"results\": [{\"size\": 3}]}") == "log-bad-row:0");
  CHECK(problem(std::string(100000, '{')) == "log-bad-json:0");
  CHECK(problem(std::string(kLargestLog + 1, '#')) == "log-too-large:0");
  std::string rows;
  for (std::size_t i = 0; i <= kMostRows; ++i)
    rows += "8 2 float sum -1 9.0 0.00 0.00 0\n";
  CHECK(problem(rows) == "log-too-large:100001");
}

TEST_CASE("mutated logs are read or refused, and what is read is sound") {
  const hardware::Cluster c = cost::testCluster();
  const std::string json =
      R"({"args":["all_reduce_perf"],"results":[{"size":4096,"out_of_place":)"
      R"({"time":5.0,"alg_bw":0.8,"bus_bw":1.4}}]})";
  const std::string seeds[] = {madeLog(c, {}), json, std::string(kRow)};
  std::uint64_t state = 88172645463325252ull;
  const auto next = [&](std::size_t below) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return static_cast<std::size_t>(state % below);
  };
  constexpr std::string_view kBytes =
      "0123456789.-+eE#\n\r\t {}[]\",:xNinf\0\xff";
  std::size_t readable = 0;
  for (int round = 0; round < 6000; ++round) {
    std::string text = seeds[next(3)];
    for (std::size_t edits = 1 + next(4); edits > 0 && !text.empty(); --edits) {
      const std::size_t at = next(text.size());
      switch (next(4)) {
      case 0:
        text[at] = kBytes[next(kBytes.size())];
        break;
      case 1:
        text.erase(at, 1 + next(40));
        break;
      case 2:
        text.insert(at, text.substr(next(text.size()), next(80)));
        break;
      default:
        text.insert(at, 1 + next(3), kBytes[next(kBytes.size())]);
      }
    }
    const ReadLog log = read(text);
    CHECK(log.error.has_value() == log.tables.empty());
    readable += log.tables.empty() ? 0 : 1;
    for (const LogTable &table : log.tables) {
      CHECK(table.test != Test::Unknown);
      for (std::size_t i = 0; i < table.rows.size(); ++i) {
        CHECK(table.rows[i].bytes > (i == 0 ? 0 : table.rows[i - 1].bytes));
        CHECK((table.rows[i].seconds > 0 &&
               std::isfinite(table.rows[i].seconds)));
      }
      (void)place(table, {}, c);
    }
  }
  CHECK(readable > 1000);
  CHECK(readable < 6000);
}
