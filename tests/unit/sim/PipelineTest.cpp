#include "tests/unit/Catch.h"

#include "runtime/sim/Engine.h"
#include "runtime/timeline/Queries.h"
#include "tests/unit/sim/Pipelines.h"

using namespace planc;
using namespace planc::test;
using namespace planc::timeline;

namespace {

Timeline run(const ProgramSet &set, std::int32_t steps = 2) {
  REQUIRE(program::verify(set) == std::vector<std::string>{});
  Result<sim::Costs> costs = sim::statedCosts(set, {});
  REQUIRE(costs);
  sim::Options options;
  options.steps = steps;
  Result<Timeline> timeline =
      sim::simulate(set, *costs, sim::frameworkIssue(set, {}), options);
  INFO((timeline ? "" : timeline.failure().text));
  REQUIRE(timeline);
  CHECK(timeline::verify(*timeline, set) == std::vector<std::string>{});
  return *timeline;
}

Duration spanOf(const Timeline &timeline) {
  return timeline.steps[0].pipelineEnd - timeline.steps[0].pipelineBegin;
}

/// Rank-time in which no rank computes, by METRICS M6, of the last step.
Duration bubbleOf(const Timeline &timeline, const ProgramSet &set) {
  Duration bubble(0);
  const StepTimes &step = timeline.steps.back();
  for (RankClassId id : set.classes.ids()) {
    for (const Wait &wait :
         waitsIn(timeline, id, {step.pipelineBegin, step.pipelineEnd}))
      if (wait.cause == WaitCause::Recv)
        bubble += wait.splitAt - wait.begin;
      else if (wait.cause == WaitCause::NothingLeft)
        bubble += wait.length();
  }
  return bubble;
}

std::int64_t latencyOf1F1B(int p, int m) {
  return 2 * ((p - 1) + (m - 2) - (m - 2) / p);
}

} // namespace

TEST_CASE("16 stages and 16 micro-batches have a bubble of 15/31 (M6)") {
  PipelineShape shape;
  shape.ranks = 16;
  shape.micros = 16;
  shape.update = Duration(50);
  for (const Orders &orders : {gpipe(shape), oneFOneB(shape)}) {
    ProgramSet set = pipelineProgram(shape, orders);
    Timeline timeline = run(set);
    Duration span = spanOf(timeline);
    CHECK(span == Duration(31 * 300));
    CHECK(bubbleOf(timeline, set) * 31 == span * 16 * 15);
    CHECK(timeline.stepTime == span + shape.update);
  }
}

TEST_CASE("two chunks interleaved have a bubble of 15/(2·16 + 15) (M6)") {
  PipelineShape shape;
  shape.ranks = 16;
  shape.micros = 16;
  shape.chunks = 2;
  ProgramSet set = pipelineProgram(shape, interleaved(shape, 16));
  Timeline timeline = run(set);
  Duration span = spanOf(timeline);
  CHECK(span == Duration(47 * 300));
  CHECK(bubbleOf(timeline, set) * 47 == span * 16 * 15);
}

TEST_CASE("the bubble of GPipe and 1F1B is (p − 1)(F + B) for any m") {
  for (int p = 1; p <= 6; ++p)
    for (int m = 1; m <= 9; ++m)
      for (std::int64_t b : {50, 100, 200}) {
        PipelineShape shape;
        shape.ranks = p;
        shape.micros = m;
        shape.backward = Duration(b);
        Duration expected((m + p - 1) * (100 + b));
        CHECK(spanOf(run(pipelineProgram(shape, gpipe(shape)))) == expected);
        CHECK(spanOf(run(pipelineProgram(shape, oneFOneB(shape)))) == expected);
      }
}

TEST_CASE("interleaved: (p − 1)(f + b) for every legal group size") {
  for (int p : {2, 3, 4})
    for (int m = p; m <= 9; ++m)
      for (int v : {2, 3})
        for (int n = p; n <= m; ++n) {
          if (m % n != 0 && m % n < p)
            continue;
          PipelineShape shape;
          shape.ranks = p;
          shape.micros = m;
          shape.chunks = v;
          Duration expected((m * v + p - 1) * 300);
          CHECK(spanOf(run(pipelineProgram(shape, interleaved(shape, n)))) ==
                expected);
        }
}

TEST_CASE("latency: GPipe 2(p − 1)c, 1F1B a round trip every p micro-batches") {
  for (int p = 2; p <= 6; ++p)
    for (int m = p; m <= 12; ++m)
      for (std::int64_t c : {1, 30, 250, 1000}) {
        PipelineShape shape;
        shape.ranks = p;
        shape.micros = m;
        shape.hop = Duration(c);
        Duration ideal((m + p - 1) * 300);
        CHECK(spanOf(run(pipelineProgram(shape, gpipe(shape)))) ==
              ideal + Duration(2 * (p - 1) * c));
        CHECK(spanOf(run(pipelineProgram(shape, oneFOneB(shape)))) ==
              ideal + Duration(latencyOf1F1B(p, m) * c));
      }
}

TEST_CASE("latency: interleaved with groups of p pays 2(pv − 1)c") {
  for (int p : {2, 4})
    for (int rounds : {1, 2, 3})
      for (int v : {2, 3}) {
        PipelineShape shape;
        shape.ranks = p;
        shape.micros = rounds * p;
        shape.chunks = v;
        shape.hop = Duration(7);
        std::int64_t ideal = (shape.micros * v + p - 1) * 300;
        CHECK(spanOf(run(pipelineProgram(shape, interleaved(shape, p)))) ==
              Duration(ideal + 2 * (p * v - 1) * 7));
      }
}

TEST_CASE("orders that can never run are refused and name who waits") {
  // Published shapes that deadlock: groups smaller than the pipeline.
  for (auto [p, m, n] : {std::tuple(4, 8, 2), std::tuple(4, 8, 3),
                         std::tuple(8, 12, 8), std::tuple(8, 18, 8)}) {
    PipelineShape shape;
    shape.ranks = p;
    shape.micros = m;
    shape.chunks = 2;
    ProgramSet set = pipelineProgram(shape, interleaved(shape, n));
    Result<sim::Costs> costs = sim::statedCosts(set, {});
    Result<Timeline> timeline =
        sim::simulate(set, *costs, sim::frameworkIssue(set, {}), {});
    REQUIRE_FALSE(timeline);
    CHECK(timeline.failure().kind == FailureKind::Illegal);
    CHECK(timeline.failure().text.find("`stage 0` run") != std::string::npos);
  }
}

TEST_CASE("a step of the steady state is as long as the next (M1)") {
  PipelineShape shape;
  shape.hop = Duration(30);
  shape.update = Duration(40);
  for (ProgramSet::StepEnd end :
       {ProgramSet::StepEnd::Joined, ProgramSet::StepEnd::Free}) {
    shape.end = end;
    ProgramSet set = pipelineProgram(shape, oneFOneB(shape));
    Duration two = run(set, 2).stepTime, four = run(set, 4).stepTime;
    CHECK(two == four);
  }
}
