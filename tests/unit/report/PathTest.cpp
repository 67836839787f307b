#include "tests/unit/Catch.h"

#include "runtime/report/Explanation.h"
#include "runtime/timeline/CriticalPath.h"
#include "tests/unit/report/Toy.h"
#include "tests/unit/sim/Pipelines.h"
#include "tests/unit/sim/RandomPrograms.h"

using namespace planc;
using timeline::PathPart;

namespace {

Result<timeline::Timeline> simulate(const planc::test::RandomProgram &program,
                                    sim::Mode mode) {
  return sim::simulate(program.set, program.costs,
                       sim::frameworkIssue(program.set, {}),
                       {2, sim::Contention::On, mode});
}

Duration idleOf(const std::vector<PathPart> &path) {
  Duration idle;
  for (const PathPart &part : path)
    if (part.what == PathPart::What::Idle)
      idle += part.length();
  return idle;
}

} // namespace

TEST_CASE("path: parts of random programs are adjacent and make the step") {
  int ran = 0;
  Duration idle;
  for (std::uint32_t seed = 1; seed <= 150; ++seed) {
    planc::test::RandomPrograms random(seed, {});
    const planc::test::RandomProgram program = random.make();
    INFO("seed " << seed);
    const auto reused = simulate(program, sim::Mode::Reuse);
    if (!reused)
      continue; // an order that can never run
    const auto path = timeline::criticalPath(*reused, program.set);
    REQUIRE(!path.empty());
    CHECK(path.back().end - path.front().begin == reused->stepTime);
    for (std::size_t i = 0; i < path.size(); ++i) {
      CHECK(path[i].begin < path[i].end);
      if (i > 0)
        CHECK(path[i].begin == path[i - 1].end);
    }
    idle += idleOf(path);
    const auto flat = simulate(program, sim::Mode::Flat);
    REQUIRE(flat);
    const auto other = timeline::criticalPath(*flat, program.set);
    REQUIRE(other.size() == path.size());
    for (std::size_t i = 0; i < path.size(); ++i)
      CHECK((other[i].begin == path[i].begin &&
             other[i].rankClass == path[i].rankClass &&
             other[i].instruction == path[i].instruction));
    ++ran;
  }
  CHECK(ran > 100);
  CHECK(idle == Duration(0));
}

TEST_CASE("path: of GPipe it is the closed form, messages once a hop") {
  planc::test::PipelineShape shape;
  shape.ranks = 4;
  shape.micros = 6;
  shape.hop = Duration(7);
  const auto set =
      planc::test::pipelineProgram(shape, planc::test::gpipe(shape));
  Result<sim::Costs> costs = sim::statedCosts(set, {Duration(0), Duration(0)});
  REQUIRE(costs);
  const auto timeline =
      sim::simulate(set, *costs, sim::frameworkIssue(set, {}),
                    {2, sim::Contention::Off, sim::Mode::Reuse});
  REQUIRE(timeline);
  const auto path = timeline::criticalPath(*timeline, set);
  Duration messages;
  for (const PathPart &part : path)
    if (part.what == PathPart::What::Communication)
      messages += part.length();
  CHECK(messages == Duration(2 * 3 * 7));
  CHECK(idleOf(path) == Duration(0));
}
