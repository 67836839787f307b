#include "tests/unit/Catch.h"

#include "runtime/timeline/Queries.h"
#include "tests/unit/sim/RandomPrograms.h"

#include <algorithm>
#include <random>
#include <tuple>

using namespace planc;
using namespace planc::test;
using namespace planc::program;
using namespace planc::timeline;

namespace {

using sim::Contention;
using sim::Mode;

Timeline simulate(const RandomProgram &program, const sim::IssueOrder &order,
                  Contention contention, Mode mode) {
  Result<Timeline> timeline =
      sim::simulate(program.set, program.costs, order, {3, contention, mode});
  INFO((timeline ? "" : timeline.failure().text));
  REQUIRE(timeline);
  return *timeline;
}

auto key(const Wait &wait) {
  return std::tuple(wait.begin, wait.splitAt, wait.end, wait.cause, wait.kind,
                    wait.task, wait.index, wait.step);
}

auto key(const Communication &one) {
  return std::tuple(one.begin, one.end, one.ready, one.source, one.index,
                    one.step, one.kind);
}

/// Everything that happened, whichever way it was simulated.
void requireEqual(const Timeline &a, const Timeline &b) {
  REQUIRE(a.stepTime == b.stepTime);
  for (RankClassId id : a.classes.ids()) {
    const ClassTimeline &one = a.classes[id], &two = b.classes[id];
    REQUIRE(one.runs.size() == two.runs.size());
    for (std::size_t i = 0; i < one.runs.size(); ++i) {
      REQUIRE(one.runs[i].task == two.runs[i].task);
      REQUIRE(one.runs[i].begin == two.runs[i].begin);
      REQUIRE(one.runs[i].end == two.runs[i].end);
      RunInstructions x = instructionsOf(a, one.runs[i]);
      RunInstructions y = instructionsOf(b, two.runs[i]);
      REQUIRE(x.times.size() == y.times.size());
      for (std::size_t k = 0; k < x.times.size(); ++k) {
        REQUIRE(x.origin + x.times[k].begin == y.origin + y.times[k].begin);
        REQUIRE(x.origin + x.times[k].end == y.origin + y.times[k].end);
        REQUIRE(x.times[k].slowed == y.times[k].slowed);
      }
    }
    REQUIRE(one.communications.size() == two.communications.size());
    for (std::size_t i = 0; i < one.communications.size(); ++i)
      REQUIRE(key(one.communications[i]) == key(two.communications[i]));
    Window all{Duration(0), one.runs.back().end};
    std::vector<Wait> x = waitsIn(a, id, all), y = waitsIn(b, id, all);
    REQUIRE(x.size() == y.size());
    for (std::size_t i = 0; i < x.size(); ++i)
      REQUIRE(key(x[i]) == key(y[i]));
  }
}

std::size_t reusedRuns(const Timeline &timeline) {
  std::size_t count = 0;
  for (const ClassTimeline &one : timeline.classes)
    for (const Run &run : one.runs)
      count += run.isReused();
  return count;
}

std::vector<sim::IssueOrder> ordersOf(const ProgramSet &set) {
  sim::BucketPolicy one, size;
  one.kind = sim::BucketPolicy::Kind::One;
  size.kind = sim::BucketPolicy::Kind::Size;
  size.size = Bytes(6 << 20);
  return {sim::programIssue(set), sim::frameworkIssue(set, {}),
          sim::frameworkIssue(set, one), sim::frameworkIssue(set, size)};
}

/// Instructions of a block as they become free, by lot.
std::vector<std::uint32_t> anyOrder(const Block &block, std::mt19937 &lot) {
  std::vector<std::uint32_t> order;
  std::vector<char> done(block.instructions.size());
  while (order.size() < done.size()) {
    std::vector<std::uint32_t> ready;
    for (std::uint32_t i = 0; i < done.size(); ++i) {
      const std::vector<std::uint32_t> &deps = block.instructions[i].deps;
      if (!done[i] && std::all_of(deps.begin(), deps.end(),
                                  [&](std::uint32_t dep) { return done[dep]; }))
        ready.push_back(i);
    }
    order.push_back(ready[lot() % ready.size()]);
    done[order.back()] = 1;
  }
  return order;
}

/// The same, about half of the runs in another order of their block.
sim::IssueOrder reordered(sim::IssueOrder order, const ProgramSet &set,
                          std::uint32_t seed) {
  std::mt19937 lot(seed);
  for (BlockId block : set.blocks.ids())
    order.orders.push_back({block, anyOrder(set.blocks[block], lot)});
  for (RankClassId id : set.classes.ids())
    for (TaskId task : set.classes[id].tasks.ids())
      if (set.classes[id].tasks[task].kind == TaskKind::Run && lot() % 2 == 0)
        order.classes[id].forms.push_back(
            {task, set.classes[id].tasks[task].block.index()});
  return order;
}

/// What happened on the streams of a form is what its order says.
void requireOrder(const Timeline &timeline, const sim::IssueOrder &order,
                  const ProgramSet &set) {
  for (const ClassTimeline &one : timeline.classes)
    for (const Run &run : one.runs) {
      if (run.form.index() < set.blocks.size())
        continue;
      const sim::BlockOrder &form =
          order.orders[run.form.index() - set.blocks.size()];
      RunInstructions inside = instructionsOf(timeline, run);
      Duration last[kStreamCount] = {};
      for (std::uint32_t i : form.instructions) {
        auto stream = static_cast<std::size_t>(
            set.blocks[run.block].instructions[i].stream);
        REQUIRE(inside.origin + inside.times[i].begin >= last[stream]);
        last[stream] = inside.origin + inside.times[i].end;
      }
    }
}

} // namespace

TEST_CASE("reusing runs gives what simulating every instruction gives") {
  std::size_t reused = 0, all = 0;
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    RandomProgram program = RandomPrograms(seed, {}).make();
    CAPTURE(seed);
    REQUIRE(program::verify(program.set) == std::vector<std::string>{});
    std::vector<sim::IssueOrder> orders = ordersOf(program.set);
    orders.push_back(reordered(orders[1], program.set, seed));
    orders.push_back(withHolds(orders[3], program.set, seed));
    for (auto overlap : {sim::Overlap::Reductions, sim::Overlap::Gathers})
      orders.push_back(sim::frameworkIssue(program.set, {}, overlap));
    for (const sim::IssueOrder &order : orders) {
      REQUIRE(sim::verify(order, program.set) == std::vector<std::string>{});
      for (Contention contention : {Contention::Off, Contention::On}) {
        Timeline fast = simulate(program, order, contention, Mode::Reuse);
        Timeline flat = simulate(program, order, contention, Mode::Flat);
        REQUIRE(timeline::verify(flat, program.set) ==
                std::vector<std::string>{});
        REQUIRE(timeline::verify(fast, program.set) ==
                std::vector<std::string>{});
        requireEqual(fast, flat);
        requireOrder(flat, order, program.set);
        REQUIRE(reusedRuns(flat) == 0);
        reused += reusedRuns(fast);
        for (const ClassTimeline &one : fast.classes)
          all += one.runs.size();
      }
    }
  }
  // The test says something only when both ways are taken often.
  CHECK(reused > all / 10);
  CHECK(reused < all * 9 / 10);
}

TEST_CASE("orders that begin alike give what each gives from the start") {
  std::size_t resumed = 0, all = 0;
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    RandomProgram program = RandomPrograms(seed, {}).make();
    CAPTURE(seed);
    std::vector<sim::IssueOrder> orders = ordersOf(program.set);
    orders.push_back(reordered(orders[1], program.set, seed));
    orders.push_back(withHolds(orders[3], program.set, seed));
    for (auto overlap : {sim::Overlap::Reductions, sim::Overlap::Gathers})
      orders.push_back(sim::frameworkIssue(program.set, {}, overlap));
    // Each after each other.
    const std::size_t count = orders.size();
    for (std::size_t i = count; i-- > 0;)
      orders.push_back(orders[i]);
    const sim::Simulator simulator(program.set, program.costs);
    for (Contention contention : {Contention::Off, Contention::On}) {
      sim::Beginning beginning;
      for (const sim::IssueOrder &order : orders) {
        Result<Timeline> shared =
            simulator.run(order, {3, contention, Mode::Reuse}, beginning);
        REQUIRE(shared);
        requireEqual(*shared,
                     simulate(program, order, contention, Mode::Reuse));
        ++all;
      }
      resumed += beginning.resumed();
    }
  }
  CHECK(resumed > all / 4);
  CHECK(resumed < all);
}

TEST_CASE("the same program gives the same timeline, to the last byte") {
  RandomProgram program = RandomPrograms(7, {}).make();
  sim::IssueOrder order = sim::frameworkIssue(program.set, {});
  CHECK(timeline::toText(simulate(program, order, Contention::On, Mode::Reuse),
                         program.set) ==
        timeline::toText(simulate(program, order, Contention::On, Mode::Reuse),
                         program.set));
}
