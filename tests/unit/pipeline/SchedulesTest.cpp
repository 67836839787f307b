#include "compiler/pipeline/AssignStages.h"
#include "compiler/schedules/Generators.h"

#include "tests/unit/Catch.h"

#include <fmt/format.h>

using namespace planc;
using namespace planc::pipeline;
using schedules::Schedule;
using schedules::Shape;

namespace {

StageGraph graphOf(Schedule schedule, const Shape &shape) {
  StageGraph graph;
  graph.stages = shape.stages;
  graph.virtualStages = shape.virtualStages;
  graph.microBatches = shape.microBatches;
  for (std::int64_t c = 0; c < shape.stages * shape.virtualStages; ++c) {
    graph.units.push_back({{ops::BodyId(0)}, true, "u"});
    auto at = static_cast<std::size_t>(c);
    graph.chunks.push_back({at, at + 1});
    graph.crossing.push_back({ops::SlotId(0)});
  }
  graph.orders = schedules::infoOf(schedule).orders(shape);
  graph.holders =
      schedules::holdersOf(schedules::infoOf(schedule).placement, shape);
  return graph;
}

} // namespace

TEST_CASE("in-flight micro-batches follow the order") {
  CHECK(peakInFlight(graphOf(Schedule::OneFOneB, {4, 1, 8, 0})) ==
        std::vector<std::int64_t>{4, 3, 2, 1});
  CHECK(peakInFlight(graphOf(Schedule::GPipe, {4, 1, 8, 0})) ==
        std::vector<std::int64_t>{8, 8, 8, 8});
  CHECK(peakInFlight(graphOf(Schedule::Interleaved1F1B, {4, 2, 8, 0})) ==
        std::vector<std::int64_t>{11, 9, 7, 5});
}

TEST_CASE("Q4: shapes known to deadlock are found") {
  // p = 4, m = 8, v = 2 with groups of 2 or 3; p = 8, m = 12, groups of 8.
  for (auto [p, m, group] : {std::array<std::int64_t, 3>{4, 8, 2},
                             std::array<std::int64_t, 3>{4, 8, 3},
                             std::array<std::int64_t, 3>{8, 12, 8}}) {
    auto broken =
        verify(graphOf(Schedule::Interleaved1F1B, Shape{p, 2, m, group}));
    REQUIRE(!broken.empty());
    CHECK(broken[0].substr(0, 3) == "Q4:");
  }
}

TEST_CASE("Q1, Q2, Q3 and Q5 are found") {
  StageGraph sound = graphOf(Schedule::OneFOneB, {2, 1, 2, 0});
  StageGraph gap = sound;
  gap.chunks[1].begin = 2;
  CHECK(verify(gap)[0].substr(0, 3) == "Q1:");
  StageGraph missing = sound;
  missing.orders[0].pop_back();
  CHECK(verify(missing)[0].substr(0, 3) == "Q2:");
  StageGraph early = sound;
  std::swap(early.orders[1][0], early.orders[1][1]);
  CHECK(verify(early)[0].substr(0, 3) == "Q3:");
  StageGraph moved = sound;
  moved.holders.ranks[1] = 0;
  CHECK(verify(moved)[0].substr(0, 3) == "Q5:");
}
