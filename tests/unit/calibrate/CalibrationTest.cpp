#include "tests/unit/Catch.h"
#include "tests/unit/calibrate/MadeLogs.h"
#include "tests/unit/cost/TestCluster.h"

#include <algorithm>
#include <array>
#include <cmath>

using namespace planc;
using namespace planc::calibrate;
using program::InstructionKind;

namespace {

Placed placedOf(const hardware::Cluster &base, const std::string &text,
                Shape said = {}) {
  const ReadLog log = readNcclLog({"made.log", text});
  REQUIRE(log.tables.size() == 1);
  const Placement placement = place(log.tables[0], said, base);
  REQUIRE(placement.placed);
  return *placement.placed;
}

/// Two levels, switches that do not sum.
hardware::Cluster truth() {
  hardware::Cluster c = cost::testCluster();
  c.name = "truth";
  c.levels.resize(2);
  c.accelerator.constants.collectiveStart = 8e-6;
  c.levels[0].constants.efficiency = 0.77;
  c.levels[0].constants.messageHalf = 3e6;
  c.levels[0].constants.messageRamp = 8e6;
  c.levels[1].constants.efficiency = 0.85;
  c.levels[1].constants.messageHalf = 1e6;
  c.levels[1].constants.messageRamp = 2e6;
  return c;
}

hardware::Cluster plain() {
  hardware::Cluster c = cost::testCluster();
  c.name = "plain";
  c.levels.resize(2);
  c.accelerator.constants.collectiveStart = 8e-6;
  return c;
}

const FittedConstant &constantOf(const Calibration &c, std::size_t level,
                                 std::string_view name) {
  for (const FittedConstant &constant : c.constants)
    if (constant.level == level && constant.knob.name == name)
      return constant;
  FAIL("no constant " + std::string(name));
  return c.constants.front();
}

} // namespace

TEST_CASE("a log made from a cluster's costs gives its constants back") {
  const hardware::Cluster base = plain();
  const Calibration c =
      fitCluster(base, std::array{placedOf(base, madeLog(truth(), {}))});
  CHECK(c.tables[0].fitted.mean < 0.01);
  CHECK(c.tables[0].before.mean > 0.2);
  CHECK(constantOf(c, 0, "efficiency").value == Approx(0.77).epsilon(0.02));
  CHECK(c.tables[0].left == FittedTable::Left::EverySecondSize);
  CHECK(c.tables[0].heldOut.mean < 0.02);
  // The level outside was not measured.
  CHECK(c.cluster.levels[1].constants.efficiency == 1);
}

TEST_CASE("levels are told apart by ranks and hosts, the inner one first") {
  const hardware::Cluster base = plain();
  const Made gather{Test::AllGather, InstructionKind::AllGather, {4, 8}};
  const Made reduce{Test::AllReduce, InstructionKind::AllReduce, {16, 8}};
  const Calibration c =
      fitCluster(base, std::array{placedOf(base, madeLog(truth(), reduce)),
                                  placedOf(base, madeLog(truth(), {})),
                                  placedOf(base, madeLog(truth(), gather))});
  CHECK(c.tables[0].placed.level == 1);
  CHECK(c.tables[1].placed.level == 0);
  CHECK(constantOf(c, 0, "efficiency").value == Approx(0.77).epsilon(0.02));
  CHECK(constantOf(c, 1, "efficiency").value == Approx(0.85).epsilon(0.03));
  // Each log over nodes is predicted by a fit that did not see it.
  CHECK(c.tables[0].left == FittedTable::Left::Table);
  // A gather of 4 nodes says less of the latency than a tree over 16 takes.
  CHECK(c.tables[0].heldOut.mean < 0.15);
  CHECK(c.tables[2].heldOut.mean < 0.03);
}

TEST_CASE("a level measured first keeps its fit where the innermost has none") {
  hardware::Cluster base = plain(), made = truth();
  base.levels = cost::testCluster().levels;
  made.levels = base.levels;
  for (std::size_t level = 0; level < 3; ++level)
    made.levels[level].constants.efficiency = level == 0   ? 0.77
                                              : level == 1 ? 0.85
                                                           : 0.6;
  const Made pod{Test::AllGather, InstructionKind::AllGather, {16, 8}};
  const Made fabric{Test::AllGather, InstructionKind::AllGather, {64, 8}};
  const Placed inner = placedOf(base, madeLog(made, pod)),
               outer = placedOf(base, madeLog(made, fabric));
  REQUIRE(inner.level == 1);
  REQUIRE(outer.level == 2);
  const Calibration alone = fitCluster(base, std::array{inner});
  const Calibration both = fitCluster(base, std::array{inner, outer});
  CHECK(constantOf(both, 1, "efficiency").value ==
        constantOf(alone, 1, "efficiency").value);
  CHECK(both.cluster.levels[1].constants.efficiency ==
        alone.cluster.levels[1].constants.efficiency);
  CHECK(both.cluster.levels[0].constants.efficiency ==
        alone.cluster.levels[0].constants.efficiency);
  CHECK(constantOf(both, 2, "efficiency").value > 0);
}

TEST_CASE("sums in the switch, and transfers, have constants of their own") {
  hardware::Cluster base = truth(), made = truth();
  base.levels[0].inNetworkReduction = made.levels[0].inNetworkReduction = true;
  made.levels[0].constants.reductionEfficiency = 0.6;
  made.levels[0].constants.transferEfficiency = 0.5;
  const Made send{Test::SendRecv, InstructionKind::CollectivePermute};
  const Calibration c =
      fitCluster(base, std::array{placedOf(base, madeLog(made, {})),
                                  placedOf(base, madeLog(made, send))});
  CHECK(constantOf(c, 0, "reduction_efficiency").value ==
        Approx(0.6).epsilon(0.02));
  CHECK(c.tables[0].fitted.mean < 0.01);
  CHECK(c.cluster.levels[0].constants.efficiency == 0.77);
  CHECK(constantOf(c, 0, "transfer_efficiency").value ==
        Approx(0.5).epsilon(0.05));
  // Before, the other constants stood in for these.
  CHECK(constantOf(c, 0, "reduction_efficiency").before == 0.77);
  CHECK(constantOf(c, 0, "reduction_half").before == 3e6);
  CHECK(constantOf(c, 0, "reduction_ramp").before == 8e6);
  CHECK(constantOf(c, 0, "transfer_efficiency").before == 0.77);
}

TEST_CASE("one bad row does not move the fit") {
  const hardware::Cluster base = plain();
  Placed placed = placedOf(base, madeLog(truth(), {}));
  placed.table.rows[14].seconds *= 40;
  const Calibration c = fitCluster(base, std::array{placed});
  CHECK(constantOf(c, 0, "efficiency").value == Approx(0.77).epsilon(0.03));
}

TEST_CASE("what a log does not tell is said") {
  // Messages of 34 GB and up: half or twice of 3 MB is nothing to them.
  hardware::Cluster base = truth();
  base.levels[0].constants.messageRamp = 0;
  Made large;
  large.smallest = std::int64_t{1} << 38;
  large.largest = std::int64_t{1} << 40;
  const Calibration c =
      fitCluster(base, std::array{placedOf(base, madeLog(base, large))});
  for (const FittedConstant &constant : c.constants)
    CHECK(constant.knob.name != "latency");
  CHECK(c.cluster.levels[0].latency == base.levels[0].latency);
  CHECK(constantOf(c, 0, "efficiency").isTold);
  CHECK_FALSE(constantOf(c, 0, "message_half").isTold);
  CHECK(std::count(c.notes.begin(), c.notes.end(),
                   fmt::format("message_half of level {} is not told by these "
                               "logs: twice or half of it fits as well",
                               base.levels[0].name)) == 1);
  CHECK_FALSE(c.tables[0].fitted.mean > 0.01);
}

TEST_CASE("faster than any ring is said, with what it may be") {
  hardware::Cluster base = plain(), made = plain();
  made.levels[0].link = ByteRate(200'000'000'000);
  const Calibration c =
      fitCluster(base, std::array{placedOf(base, madeLog(made, {}))});
  REQUIRE_FALSE(c.notes.empty());
  std::string notes;
  for (const std::string &note : c.notes)
    notes += note;
  CHECK(notes.find("switches sum (SHARP), or the link is faster") !=
        std::string::npos);
}

TEST_CASE("logs that contradict each other are named") {
  const hardware::Cluster base = plain();
  const Placed good = placedOf(base, madeLog(base, {}));
  Placed slow = good, slower = good;
  for (Placed *placed : {&slow, &slower})
    for (LogRow &row : placed->table.rows)
      row.seconds *= 2;
  const Calibration c = fitCluster(base, std::array{good, slow, slower});
  std::string notes;
  for (const std::string &note : c.notes)
    notes += note;
  CHECK(notes.find("fits worse than before") != std::string::npos);
}

TEST_CASE("equal logs give equal text") {
  const hardware::Cluster base = plain();
  const auto placed = std::array{placedOf(base, madeLog(truth(), {}))};
  const Calibration a = fitCluster(base, placed), b = fitCluster(base, placed);
  CHECK(toText(a) == toText(b));
  CHECK(toJson(a) == toJson(b));
  CHECK(toPlan(a, {"x", "std.m"}) == toPlan(b, {"x", "std.m"}));
}

TEST_CASE("ranks that no level holds, and shapes that disagree") {
  hardware::Cluster one = plain();
  one.levels.resize(1);
  const auto table = [&](Shape shape) {
    const Made made{Test::AllReduce, InstructionKind::AllReduce, shape};
    return readNcclLog({"m", madeLog(truth(), made)}).tables.at(0);
  };
  const auto kindOf = [](const Placement &placement) {
    REQUIRE(placement.error);
    return placement.error->kind;
  };
  CHECK(kindOf(place(table({2, 8}), {}, one)) == LogProblemKind::NoLevel);
  CHECK(kindOf(place(table({2, 8}), {3, 8}, plain())) ==
        LogProblemKind::RanksDisagree);
  LogTable small = table({2, 8});
  small.rows.resize(3);
  CHECK(kindOf(place(small, {}, plain())) == LogProblemKind::TooFewSizes);
  LogTable unknown = table({2, 8});
  unknown.ranks = 0;
  CHECK(kindOf(place(unknown, {}, plain())) == LogProblemKind::UnknownRanks);
  unknown.test = Test::Broadcast;
  CHECK(kindOf(place(unknown, {2, 8}, plain())) == LogProblemKind::NotFitted);
  // A rack of 72 on one switch takes 128 ranks as two halves.
  hardware::Cluster racks = plain();
  racks.levels[0].of = 72;
  racks.host.accelerators = 4;
  const Placement placed = place(table({32, 4}), {}, racks);
  REQUIRE(placed.placed);
  CHECK(placed.placed->shape.groups == 2);
  CHECK(placed.placed->shape.ranks == 64);
}

TEST_CASE("grids print without loss and end where they say") {
  for (KnobSet set : {KnobSet::Ring, KnobSet::Switch, KnobSet::Transfer})
    for (const Knob &knob : knobsOf(set)) {
      double before = -1;
      for (int i = 0; i <= knob.last(); ++i) {
        CHECK(knob.valueAt(i) > before);
        CHECK(knob.indexOf(knob.valueAt(i)) == i);
        before = knob.valueAt(i);
      }
      CHECK(before <= (knob.grid == Grid::Share ? 1.0 : 1e12));
    }
}

TEST_CASE("a test of too many sizes is refused, many tests are fitted once") {
  const hardware::Cluster base = plain();
  const Made made{Test::AllReduce, InstructionKind::AllReduce, {1, 8}};
  const auto logOf = [&](std::size_t sizes) {
    std::string text = header(Layout::New);
    for (std::size_t i = 0; i < sizes; ++i)
      text += madeRow(made, std::int64_t(1 + i) << 20,
                      5e-5 + 1e-5 * static_cast<double>(i));
    return text;
  };
  const ReadLog many = readNcclLog({"made.log", logOf(kMostSizes + 1)});
  REQUIRE(many.tables.size() == 1);
  const Placement placement = place(many.tables[0], {1, 8}, base);
  REQUIRE(placement.error);
  CHECK(placement.error->kind == LogProblemKind::TooLarge);

  std::vector<Placed> tables(9, placedOf(base, logOf(7), {1, 8}));
  tables.back().table.device = "B";
  tables.front().table.device = "A";
  const Calibration c = fitCluster(base, tables);
  CHECK(std::count(c.notes.begin(), c.notes.end(),
                   "of more than 8 tests none is left out in turn") == 1);
  CHECK(std::count(c.notes.begin(), c.notes.end(),
                   "logs of different devices (A, B) are fitted as one "
                   "cluster") == 1);
  CHECK(c.tables.front().left == FittedTable::Left::Nothing);
}
