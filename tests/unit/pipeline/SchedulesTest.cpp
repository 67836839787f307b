#include "compiler/pipeline/Schedules.h"

#include "tests/unit/Catch.h"

#include <fmt/format.h>

using namespace planc;
using namespace planc::pipeline;

namespace {

std::string text(const std::vector<Pass> &order, bool withChunk) {
  std::string out;
  for (const Pass &pass : order) {
    if (!out.empty())
      out += ' ';
    out += pass.kind == program::PassKind::Forward ? 'F' : 'D';
    out += withChunk ? fmt::format("{}.{}", pass.microBatch, pass.chunk)
                     : fmt::format("{}", pass.microBatch);
  }
  return out;
}

StageGraph graphOf(sema::Schedule schedule, const ScheduleShape &shape) {
  StageGraph graph;
  graph.stages = shape.stages;
  graph.virtualStages = shape.virtualStages;
  graph.microBatches = shape.microBatches;
  for (std::int64_t c = 0; c < shape.stages * shape.virtualStages; ++c) {
    graph.units.push_back({{ops::BodyId(0)}, true, "u"});
    auto at = static_cast<std::size_t>(c);
    graph.chunks.push_back({at, at + 1, c % shape.stages});
    graph.crossing.push_back({ops::SlotId(0)});
  }
  graph.orders = scheduleTable(schedule, shape);
  return graph;
}

/// Makespan with forward and backward times per chunk and free transfers, by
/// plain longest path: what the closed forms are about.
std::int64_t makespan(const StageGraph &graph, std::int64_t f, std::int64_t b) {
  auto chunks = static_cast<std::int64_t>(graph.chunks.size());
  auto key = [&](int kind, std::int64_t chunk, std::int64_t micro) {
    return static_cast<std::size_t>(
        (kind * chunks + chunk) * graph.microBatches + micro);
  };
  std::vector<std::int64_t> end(
      static_cast<std::size_t>(2 * chunks * graph.microBatches), -1);
  std::vector<std::size_t> next(graph.orders.size(), 0);
  std::vector<std::int64_t> free(graph.orders.size(), 0);
  std::int64_t last = 0;
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t s = 0; s < graph.orders.size(); ++s)
      while (next[s] < graph.orders[s].size()) {
        const Pass &pass = graph.orders[s][next[s]];
        bool forward = pass.kind == program::PassKind::Forward;
        std::int64_t ready = 0;
        if (forward && pass.chunk > 0)
          ready = end[key(0, pass.chunk - 1, pass.microBatch)];
        if (!forward)
          ready = pass.chunk + 1 < chunks
                      ? end[key(1, pass.chunk + 1, pass.microBatch)]
                      : end[key(0, pass.chunk, pass.microBatch)];
        if (ready < 0)
          break;
        free[s] = std::max(free[s], ready) + (forward ? f : b);
        end[key(!forward, pass.chunk, pass.microBatch)] = free[s];
        last = std::max(last, free[s]);
        ++next[s];
        moved = true;
      }
  }
  return last;
}

} // namespace

TEST_CASE("1F1B: four stages, eight micro-batches, as published") {
  auto orders = oneFOneB({4, 1, 8, 0});
  CHECK(text(orders[0], false) ==
        "F0 F1 F2 F3 D0 F4 D1 F5 D2 F6 D3 F7 D4 D5 D6 D7");
  CHECK(text(orders[1], false) ==
        "F0 F1 F2 D0 F3 D1 F4 D2 F5 D3 F6 D4 F7 D5 D6 D7");
  CHECK(text(orders[3], false) ==
        "F0 D0 F1 D1 F2 D2 F3 D3 F4 D4 F5 D5 F6 D6 F7 D7");
}

TEST_CASE("interleaved 1F1B: two chunks a stage, groups of four") {
  auto orders = interleaved1F1B({4, 2, 8, 0});
  CHECK(text(orders[0], true) ==
        "F0.0 F1.0 F2.0 F3.0 F0.4 F1.4 F2.4 F3.4 F4.0 F5.0 F6.0 D0.4 F7.0 D1.4 "
        "F4.4 D2.4 F5.4 D3.4 F6.4 D0.0 F7.4 D1.0 D2.0 D3.0 D4.4 D5.4 D6.4 D7.4 "
        "D4.0 D5.0 D6.0 D7.0");
  CHECK(text(orders[3], true) ==
        "F0.3 F1.3 F2.3 F3.3 F0.7 D0.7 F1.7 D1.7 F2.7 D2.7 F3.7 D3.7 F4.3 D0.3 "
        "F5.3 D1.3 F6.3 D2.3 F7.3 D3.3 F4.7 D4.7 F5.7 D5.7 F6.7 D6.7 F7.7 D7.7 "
        "D4.3 D5.3 D6.3 D7.3");
}

TEST_CASE("in-flight micro-batches follow the order") {
  CHECK(peakInFlight(graphOf(sema::Schedule::OneFOneB, {4, 1, 8, 0})) ==
        std::vector<std::int64_t>{4, 3, 2, 1});
  CHECK(peakInFlight(graphOf(sema::Schedule::GPipe, {4, 1, 8, 0})) ==
        std::vector<std::int64_t>{8, 8, 8, 8});
  CHECK(peakInFlight(graphOf(sema::Schedule::Interleaved1F1B, {4, 2, 8, 0})) ==
        std::vector<std::int64_t>{11, 9, 7, 5});
}

TEST_CASE("the closed form of the bubble is the makespan's, exactly") {
  using sema::Schedule;
  for (std::int64_t p : {1, 2, 3, 4, 8, 16})
    for (std::int64_t m : {p, 2 * p, 3 * p, 4 * p})
      for (std::int64_t v : {1, 2, 3})
        for (Schedule schedule :
             {Schedule::GPipe, Schedule::OneFOneB, Schedule::Interleaved1F1B}) {
          if (schedule != Schedule::Interleaved1F1B && v > 1)
            continue;
          ScheduleShape shape{p, v, m, 0};
          StageGraph graph = graphOf(schedule, shape);
          REQUIRE(verify(graph).empty());
          std::int64_t f = 3, b = 5, work = m * v * (f + b);
          std::int64_t span = makespan(graph, f, b);
          BubbleFormula formula = bubbleFormula(schedule, shape);
          // (span − work) / span = numerator / denominator
          CHECK((span - work) * formula.denominator ==
                span * formula.numerator);
        }
}

TEST_CASE("a group size other than the stages keeps the closed form") {
  for (std::int64_t group : {4, 5, 6, 8}) {
    ScheduleShape shape{4, 2, 4 * group, group};
    StageGraph graph = graphOf(sema::Schedule::Interleaved1F1B, shape);
    REQUIRE(verify(graph).empty());
    CHECK(makespan(graph, 1, 2) ==
          3 * (2 * shape.microBatches + shape.stages - 1));
  }
}

TEST_CASE("Q4: shapes known to deadlock are found") {
  // p = 4, m = 8, v = 2 with groups of 2 or 3; p = 8, m = 12, groups of 8.
  for (auto [p, m, group] : {std::array<std::int64_t, 3>{4, 8, 2},
                             std::array<std::int64_t, 3>{4, 8, 3},
                             std::array<std::int64_t, 3>{8, 12, 8}}) {
    auto broken = verify(graphOf(sema::Schedule::Interleaved1F1B,
                                 ScheduleShape{p, 2, m, group}));
    REQUIRE(!broken.empty());
    CHECK(broken[0].substr(0, 3) == "Q4:");
  }
}

TEST_CASE("Q1, Q2, Q3 and Q5 are found") {
  StageGraph sound = graphOf(sema::Schedule::OneFOneB, {2, 1, 2, 0});
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
  moved.chunks[1].stage = 0;
  CHECK(verify(moved)[0].substr(0, 3) == "Q5:");
}
