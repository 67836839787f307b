#include "tests/unit/Catch.h"

#include "runtime/report/Explanation.h"
#include "runtime/timeline/CriticalPath.h"
#include "tests/unit/report/Simulated.h"
#include "tests/unit/report/Toy.h"
#include "tests/unit/sim/Pipelines.h"

using namespace planc;
using report::test::simulate;
using report::test::Toy;
using timeline::PathPart;

namespace {

std::vector<report::PathRow> rowsOf(const planc::test::RandomProgram &program,
                                    const timeline::Timeline &timeline) {
  Toy toy;
  toy.programs = program.set;
  toy.timeline = timeline;
  return report::pathRows(toy.inputs());
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
  Duration idle, slowed;
  for (std::uint32_t seed = 1; seed <= 150; ++seed) {
    planc::test::RandomPrograms random(seed, {});
    const planc::test::RandomProgram program = random.make();
    INFO("seed " << seed);
    const auto reused =
        simulate(program, sim::Contention::On, sim::Mode::Reuse);
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
    Duration rows;
    for (const report::PathRow &row : rowsOf(program, *reused)) {
      rows += row.time;
      slowed += row.what == "slowed by communication" ? row.time : Duration(0);
    }
    CHECK(rows == reused->stepTime);
    const auto flat = simulate(program, sim::Contention::On, sim::Mode::Flat);
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
  CHECK(slowed > Duration(0));
}

TEST_CASE("path: of GPipe it is the closed form, messages once a hop") {
  planc::test::PipelineShape shape;
  shape.ranks = 4;
  shape.micros = 6;
  shape.hop = Duration(7);
  const auto set =
      planc::test::pipelineProgram(shape, planc::test::gpipe(shape));
  const timeline::Timeline timeline = simulate(set);
  const auto path = timeline::criticalPath(timeline, set);
  Duration messages;
  for (const PathPart &part : path)
    if (part.what == PathPart::What::Communication)
      messages += part.length();
  CHECK(messages == Duration(2 * 3 * 7));
  CHECK(idleOf(path) == Duration(0));
}
