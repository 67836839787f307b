// Programs of the simulator's tests, run in the framework's order.
#pragma once

#include "tests/unit/Catch.h"
#include "tests/unit/sim/RandomPrograms.h"

namespace planc::report::test {

inline Result<timeline::Timeline>
simulate(const planc::test::RandomProgram &program, sim::Contention contention,
         sim::Mode mode) {
  return sim::simulate(program.set, program.costs,
                       sim::frameworkIssue(program.set, {}),
                       {2, contention, mode});
}

/// Of one that states its durations.
inline timeline::Timeline simulate(const program::ProgramSet &set) {
  Result<sim::Costs> costs = sim::statedCosts(set, {Duration(0), Duration(0)});
  REQUIRE(costs);
  Result<timeline::Timeline> timeline =
      sim::simulate(set, *costs, sim::frameworkIssue(set, {}),
                    {2, sim::Contention::Off, sim::Mode::Reuse});
  REQUIRE(timeline);
  return *timeline;
}

} // namespace planc::report::test
