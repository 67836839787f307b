#include "tests/unit/Catch.h"

#include "runtime/sched/Algorithms.h"
#include "runtime/sched/Chains.h"

#include <random>

using namespace planc;
using namespace planc::sched;

namespace {

Task task(std::size_t resource, std::int64_t duration,
          std::vector<Dependence> deps = {}) {
  Task out;
  out.resource = ResourceId(resource);
  out.duration = Duration(duration);
  out.deps = std::move(deps);
  return out;
}

Dependence on(std::size_t id, std::int64_t lag = 0) {
  return {TaskId(id), Duration(lag)};
}

Problem randomProblem(std::mt19937 &random, std::size_t tasks) {
  auto between = [&](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  Problem out;
  out.resources = static_cast<std::size_t>(between(1, 3));
  for (std::size_t i = 0; i < tasks; ++i) {
    Task next =
        task(static_cast<std::size_t>(between(0, int(out.resources) - 1)),
             between(0, 9));
    next.release = Duration(between(0, 3) ? 0 : between(1, 8));
    for (std::size_t dep = 0; dep < i; ++dep)
      if (between(1, 100) <= 25)
        next.deps.push_back(on(dep, between(0, 3) ? 0 : between(1, 4)));
    out.tasks.add(next);
  }
  return out;
}

std::string firstRule(const std::vector<std::string> &broken) {
  return broken.empty() ? "" : broken[0].substr(0, 2);
}

} // namespace

TEST_CASE("check finds what cannot be scheduled (S1 to S4)") {
  Problem problem;
  problem.resources = 1;
  problem.tasks.add(task(0, 5));
  problem.tasks.add(task(0, 5, {on(0)}));
  CHECK(check(problem).empty());
  Problem broken = problem;
  broken.tasks[TaskId(1)].resource = ResourceId(1);
  CHECK(firstRule(check(broken)) == "S1");
  broken = problem;
  broken.tasks[TaskId(1)].duration = Duration(-1);
  CHECK(firstRule(check(broken)) == "S2");
  broken = problem;
  broken.tasks[TaskId(1)].duration = Duration(std::int64_t(1) << 62);
  CHECK(firstRule(check(broken)) == "S3");
  broken = problem;
  broken.tasks[TaskId(0)].deps = {on(1)};
  CHECK(firstRule(check(broken)) == "S4");
}

TEST_CASE("verify finds what is no schedule (S5 to S8)") {
  Problem problem;
  problem.resources = 2;
  problem.tasks.add(task(0, 5));
  problem.tasks.add(task(1, 5, {on(0, 2)}));
  problem.tasks.add(task(1, 5));
  problem.tasks[TaskId(2)].release = Duration(12);
  Schedule good = *scheduleInProgramOrder(problem);
  CHECK(good.makespan == Duration(17));
  CHECK(verify(problem, good).empty());
  Schedule bad = good;
  bad.begin[TaskId(2)] = Duration(11);
  CHECK(firstRule(verify(problem, bad)) == "S5");
  bad = good;
  bad.begin[TaskId(1)] = Duration(6);
  CHECK(firstRule(verify(problem, bad)) == "S6");
  bad = good;
  bad.begin[TaskId(1)] = Duration(13);
  CHECK(firstRule(verify(problem, bad)) == "S7");
  bad = good;
  bad.makespan = Duration(18);
  CHECK(firstRule(verify(problem, bad)) == "S8");
}

TEST_CASE("every algorithm between the bound and the baseline") {
  std::mt19937 random(3);
  int improved = 0, boundTight = 0;
  constexpr int kInstances = 600;
  for (int instance = 0; instance < kInstances; ++instance) {
    Problem problem = randomProblem(random, 1 + instance % 8);
    REQUIRE(check(problem).empty());
    Schedule baseline = scheduleOneByOne(problem);
    std::optional<Schedule> order = scheduleInProgramOrder(problem);
    Schedule list = scheduleCriticalPath(problem);
    std::optional<Schedule> exact = scheduleExact(problem);
    REQUIRE(order);
    REQUIRE(exact);
    for (const Schedule *schedule : {&baseline, &*order, &list, &*exact})
      REQUIRE(verify(problem, *schedule) == std::vector<std::string>{});
    Duration bound = lowerBound(problem);
    REQUIRE(bound <= exact->makespan);
    REQUIRE(exact->makespan <= list.makespan);
    REQUIRE(exact->makespan <= order->makespan);
    REQUIRE(order->makespan <= baseline.makespan);
    improved += exact->makespan < order->makespan;
    boundTight += bound == exact->makespan;
  }
  CHECK(improved > kInstances / 20);
  CHECK(boundTight > kInstances / 4);
  CHECK(boundTight < kInstances);
}

TEST_CASE("loaded chains: above plain ones, below every schedule") {
  std::mt19937 random(11);
  int higher = 0, tight = 0;
  constexpr int kInstances = 600;
  for (int instance = 0; instance < kInstances; ++instance) {
    // Some longer than the window of ancestors.
    const bool isLong = instance % 20 == 0;
    Problem problem = randomProblem(random, isLong ? 150 : 2 + instance % 8);
    const Chains plain = chainsOf(problem), loaded = loadedChainsOf(problem);
    const Duration bound = sweptBound(problem, loaded);
    REQUIRE(lowerBound(problem, plain) <= bound);
    std::vector<Schedule> schedules = {scheduleCriticalPath(problem)};
    if (std::optional<Schedule> order = scheduleInProgramOrder(problem))
      schedules.push_back(*order);
    if (!isLong) {
      schedules.push_back(*scheduleExact(problem));
      tight += bound == schedules.back().makespan;
    }
    for (const Schedule &schedule : schedules) {
      REQUIRE(bound <= schedule.makespan);
      for (TaskId id : problem.tasks.ids()) {
        REQUIRE(plain.head[id] <= loaded.head[id]);
        REQUIRE(plain.tail[id] <= loaded.tail[id]);
        REQUIRE(loaded.head[id] <= schedule.begin[id]);
        REQUIRE(schedule.begin[id] + problem.tasks[id].duration +
                    loaded.tail[id] <=
                schedule.makespan);
        higher += plain.head[id] < loaded.head[id];
      }
    }
  }
  CHECK(higher > kInstances);
  CHECK(tight > kInstances / 2);
}

TEST_CASE("loaded chains count what shares a machine before a meeting") {
  // Three products, then what needs all of them: not behind the longest alone.
  Problem problem;
  problem.resources = 2;
  for (int i = 0; i < 3; ++i)
    problem.tasks.add(task(0, 4));
  problem.tasks.add(task(1, 5, {on(0), on(1), on(2)}));
  problem.tasks.add(task(0, 2, {on(3)}));
  const Chains chains = loadedChainsOf(problem);
  CHECK(chains.head[TaskId(3)] == Duration(12));
  CHECK(chains.head[TaskId(4)] == Duration(17));
  CHECK(chains.tail[TaskId(0)] == Duration(7));
  CHECK(sweptBound(problem, chains) == Duration(19));
  CHECK(lowerBound(problem) == Duration(14));
}

TEST_CASE("exact is exact: all orders of all tiny problems") {
  std::mt19937 random(5);
  for (int instance = 0; instance < 200; ++instance) {
    Problem problem = randomProblem(random, 5);
    std::vector<std::size_t> order = {0, 1, 2, 3, 4};
    Duration best(1'000'000);
    // A permutation as priorities: renumber, then run in program order.
    do {
      Problem renamed = problem;
      std::vector<std::size_t> place(5);
      for (std::size_t i = 0; i < 5; ++i)
        place[order[i]] = i;
      for (TaskId id : problem.tasks.ids()) {
        Task moved = problem.tasks[id];
        for (Dependence &dep : moved.deps)
          dep.on = TaskId(place[dep.on.index()]);
        renamed.tasks[TaskId(place[id.index()])] = moved;
      }
      if (std::optional<Schedule> found = scheduleInProgramOrder(renamed))
        best = std::min(best, found->makespan);
    } while (std::next_permutation(order.begin(), order.end()));
    REQUIRE(scheduleExact(problem)->makespan == best);
  }
}

TEST_CASE("list scheduling takes the longest chain first") {
  // The order of ids sends the short one first and leaves a bubble.
  Problem problem;
  problem.resources = 2;
  problem.tasks.add(task(0, 4));
  problem.tasks.add(task(0, 4));
  problem.tasks.add(task(1, 9, {on(1)}));
  CHECK(scheduleInProgramOrder(problem)->makespan == Duration(17));
  CHECK(scheduleCriticalPath(problem).makespan == Duration(13));
  CHECK(lowerBound(problem) == Duration(13));
}

TEST_CASE("an order that waits for itself is no schedule") {
  Problem problem;
  problem.resources = 1;
  problem.tasks.add(task(0, 1, {on(1)}));
  problem.tasks.add(task(0, 1));
  CHECK(check(problem).empty());
  CHECK_FALSE(scheduleInProgramOrder(problem));
  CHECK(scheduleCriticalPath(problem).makespan == Duration(2));
}

TEST_CASE("the exact search refuses what is too large") {
  std::mt19937 random(9);
  CHECK_FALSE(scheduleExact(randomProblem(random, kExactTasks + 1)));
}
