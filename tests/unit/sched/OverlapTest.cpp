#include "tests/unit/Catch.h"
#include "tests/unit/sched/OverlapInstances.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

using namespace planc;
using namespace planc::sched;
using namespace planc::tests;

namespace {

const std::vector<std::string> kSound;

TaskId addTask(OverlapProblem &problem, std::int64_t duration,
               std::vector<std::size_t> after = {}) {
  Task out;
  out.resource = ResourceId(0);
  out.duration = Duration(duration);
  for (std::size_t id : after)
    out.deps.push_back({TaskId(id), Duration(0)});
  return problem.problem.tasks.add(std::move(out));
}

OverlapPieceId addPiece(OverlapProblem &problem, std::size_t after,
                        std::int64_t bytes) {
  OverlapPiece out;
  out.after = TaskId(after);
  out.bytes = Bytes(bytes);
  return problem.pieces.add(std::move(out));
}

LinkCost link(std::int64_t latency, std::int64_t perByte) {
  return {Duration(latency), perByte << 30};
}

/// Two tasks, a piece after each, one byte a picosecond.
OverlapProblem twoPieces() {
  OverlapProblem out;
  out.problem.resources = 1;
  out.groups = {link(1, 1)};
  addTask(out, 4);
  addTask(out, 4);
  addPiece(out, 0, 3);
  addPiece(out, 1, 9);
  return out;
}

std::string firstRule(const std::vector<std::string> &broken) {
  return broken.empty() ? "" : broken[0].substr(0, 2);
}

} // namespace

TEST_CASE("overlap: check finds what cannot be scheduled (O1 to O4)") {
  OverlapProblem problem = twoPieces();
  CHECK(check(problem) == kSound);
  OverlapPieceId first(0);
  OverlapProblem broken = problem;
  broken.pieces[first].group = 1;
  CHECK(firstRule(check(broken)) == "O1");
  broken = problem;
  broken.pieces[first].users = {TaskId(7)};
  CHECK(firstRule(check(broken)) == "O1");
  broken = problem;
  broken.pieces[first].bytes = Bytes(-1);
  CHECK(firstRule(check(broken)) == "O2");
  broken = problem;
  broken.pieces[first].tail = Duration(std::int64_t(1) << 61);
  CHECK(firstRule(check(broken)) == "O3");
  broken = problem;
  broken.pieces[first].users = {TaskId(0)};
  CHECK(firstRule(check(broken)) == "O4");
  broken = problem;
  broken.problem.tasks[TaskId(0)].duration = Duration(-1);
  CHECK(firstRule(check(broken)) == "S2");
}

TEST_CASE("overlap: verify finds what is no schedule (O5 to O9)") {
  OverlapProblem problem = twoPieces();
  problem.pieces[OverlapPieceId(0)].users = {TaskId(1)};
  OverlapSchedule good = scheduleOverlap(problem);
  CHECK(verify(problem, good) == kSound);
  CHECK(good.makespan == Duration(22));
  OverlapSchedule bad = good;
  bad.buckets.pop_back();
  CHECK(firstRule(verify(problem, bad)) == "O5");
  bad = good;
  bad.buckets[0].begin -= Duration(1);
  CHECK(firstRule(verify(problem, bad)) == "O6");
  bad = good;
  bad.buckets[1].end += Duration(1);
  CHECK(firstRule(verify(problem, bad)) == "O7");
  bad = good;
  std::swap(bad.buckets[0], bad.buckets[1]);
  CHECK(firstRule(verify(problem, bad)) == "O7");
  bad = good;
  bad.begin[TaskId(1)] = Duration(5);
  CHECK(firstRule(verify(problem, bad)) == "O8");
  bad = good;
  bad.makespan += Duration(1);
  CHECK(firstRule(verify(problem, bad)) == "O9");
  bad = good;
  bad.begin.resize(1);
  CHECK(firstRule(verify(problem, bad)) == "S5");
}

TEST_CASE("overlap: the large gradient first, the others under its reduction") {
  OverlapProblem problem = twoPieces();
  // By id: 4, 8 + 10. The other way: 4 + 10 + 4; or both in one, 8 + 13.
  CHECK(overlapInProgramOrder(problem)->makespan == Duration(8 + 13));
  CHECK(overlapFramework(problem, {Bytes(1), Bytes(1)})->makespan ==
        Duration(8 + 10));
  OverlapSchedule best = scheduleOverlap(problem);
  CHECK(best.makespan == Duration(18));
  CHECK(best.makespan == scheduleOverlapExact(problem)->makespan);
  CHECK(overlapLowerBound(problem) <= best.makespan);
  problem.pieces[OverlapPieceId(0)].bytes = Bytes(30);
  problem.pieces[OverlapPieceId(1)].bytes = Bytes(0);
  std::swap(problem.pieces[OverlapPieceId(0)].after,
            problem.pieces[OverlapPieceId(1)].after);
  CHECK(overlapFramework(problem, {Bytes(1), Bytes(1)})->makespan ==
        Duration(8 + 31 + 1));
  CHECK(scheduleOverlap(problem).makespan == Duration(4 + 31 + 1));
}

TEST_CASE("overlap: an order is run as early as it can, or not at all") {
  OverlapProblem problem = twoPieces();
  OverlapOrder order;
  order.tasks = {{TaskId(1), TaskId(0)}};
  order.buckets = {{OverlapPieceId(1)}, {OverlapPieceId(0)}};
  OverlapSchedule schedule = *overlapInOrder(problem, order);
  CHECK(verify(problem, schedule) == kSound);
  CHECK(schedule.makespan == Duration(4 + 10 + 4));
  CHECK(orderOf(problem, schedule).tasks == order.tasks);
  CHECK(orderOf(problem, schedule).buckets == order.buckets);
  order.buckets = {{OverlapPieceId(1)}};
  CHECK_FALSE(overlapInOrder(problem, order));
  order.buckets = {{OverlapPieceId(1), OverlapPieceId(0)}};
  problem.pieces[OverlapPieceId(1)].users = {TaskId(0)};
  CHECK_FALSE(overlapInOrder(problem, order));
}

namespace {

struct Measured {
  Duration program, framework, chosen, exact, bound;
};

Measured measure(const OverlapProblem &problem) {
  Measured out;
  REQUIRE(check(problem) == kSound);
  auto keep = [&](const std::optional<OverlapSchedule> &schedule) {
    if (!schedule)
      return Duration(std::int64_t(1) << 60);
    REQUIRE(verify(problem, *schedule) == kSound);
    return schedule->makespan;
  };
  out.bound = overlapLowerBound(problem);
  out.program = keep(overlapInProgramOrder(problem));
  out.framework = keep(overlapFramework(problem));
  std::optional<OverlapSchedule> small =
      overlapFramework(problem, {Bytes(5), Bytes(1)});
  std::vector<OverlapSchedule> starts;
  if (small)
    starts.push_back(*small);
  out.framework = std::min(out.framework, keep(small));
  out.chosen = keep(scheduleOverlap(problem, starts));
  REQUIRE(out.chosen <= out.program);
  REQUIRE(out.chosen <= out.framework);
  REQUIRE(out.bound <= out.chosen);
  return out;
}

/// How far above the best, in parts of ten thousand.
struct Gaps {
  std::vector<std::int64_t> over;
  std::int64_t sum = 0, boundSum = 0;
  std::size_t tight = 0;

  void add(Duration chosen, Duration best, Duration bound) {
    auto gap = [](Duration of, Duration from) {
      return from == Duration(0) ? 0 : (of - from).value * 10'000 / from.value;
    };
    over.push_back(gap(chosen, best));
    sum += over.back();
    boundSum += gap(best, bound);
    tight += best == bound;
  }
  std::int64_t worst() const {
    return over.empty() ? 0 : *std::max_element(over.begin(), over.end());
  }
};

std::uint32_t numberFrom(const char *variable, std::uint32_t otherwise) {
  const char *text = std::getenv(variable);
  return text ? static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10))
              : otherwise;
}

std::array<Gaps, kOverlapFamilies> againstExact(std::uint32_t from,
                                                std::uint32_t count) {
  std::array<Gaps, kOverlapFamilies> out;
  for (std::uint32_t i = 0; i < count; ++i) {
    std::size_t family = i % kOverlapFamilies;
    OverlapProblem problem =
        overlapInstance(static_cast<OverlapFamily>(family), from + i,
                        1 + i / kOverlapFamilies % 4);
    INFO("family " << nameOf(static_cast<OverlapFamily>(family)) << ", seed "
                   << from + i);
    Measured found = measure(problem);
    std::optional<OverlapSchedule> exact = scheduleOverlapExact(problem);
    REQUIRE(exact);
    REQUIRE(verify(problem, *exact) == kSound);
    REQUIRE(found.bound <= exact->makespan);
    REQUIRE(exact->makespan <= found.chosen);
    out[family].add(found.chosen, exact->makespan, found.bound);
  }
  return out;
}

} // namespace

TEST_CASE("overlap: near the exact answer on every tiny problem") {
  for (const Gaps &gaps : againstExact(1, 1600)) {
    CHECK(gaps.worst() <= 500);
    // Measured: hardly ever off at all (docs/scheduler.md), a mean far below
    // a tenth of a percent.
    CHECK(gaps.sum <= 10 * static_cast<std::int64_t>(gaps.over.size()));
  }
}

TEST_CASE("overlap: steps of a real size come near the bound") {
  struct Row {
    TrainingStep step;
    std::int64_t most; ///< above the bound, in parts of ten thousand
  };
  for (const Row &row :
       {Row{{500, 5}, 0}, Row{{500, 50}, 0}, Row{{500, 100}, 50},
        Row{{500, 200}, 10}, Row{{500, 50, true}, 400},
        Row{{500, 200, true}, 10}, Row{{250, 50, true, true}, 500},
        Row{{250, 100, false, true}, 200}, Row{{250, 200, true, true, 3}, 150},
        Row{{500, 100, true, false, 3}, 100}}) {
    OverlapProblem problem = trainingStep(row.step);
    Measured found = measure(problem);
    INFO("layers " << row.step.layers << ", link " << row.step.linkPercent
                   << " %, chosen " << found.chosen.value << ", bound "
                   << found.bound.value);
    CHECK(found.chosen < found.program);
    CHECK((found.chosen - found.bound).value * 10'000 / found.bound.value <=
          row.most);
  }
}

TEST_CASE("overlap: what may not be decided is not") {
  auto byId = [](const OverlapOrder &order) {
    return std::all_of(order.tasks.begin(), order.tasks.end(),
                       [](const std::vector<TaskId> &on) {
                         return std::is_sorted(on.begin(), on.end());
                       });
  };
  std::array<int, 3> worse{};
  for (std::uint32_t seed = 1; seed <= 400; ++seed) {
    OverlapProblem problem = overlapInstance(
        static_cast<OverlapFamily>(seed % kOverlapFamilies), seed, 3);
    Duration all = scheduleOverlap(problem).makespan;
    OverlapSchedule tasks = scheduleOverlap(problem, {}, {.moveTasks = false});
    OverlapSchedule merges =
        scheduleOverlap(problem, {}, {.mergePieces = false});
    OverlapSchedule link = scheduleOverlap(problem, {}, {.orderLink = false});
    for (const OverlapSchedule *schedule : {&tasks, &merges, &link})
      REQUIRE(verify(problem, *schedule) == kSound);
    REQUIRE(byId(orderOf(problem, tasks)));
    REQUIRE(merges.buckets.size() == problem.pieces.size());
    Duration before(0);
    for (const OverlapBucket &bucket : link.buckets) {
      Duration ready(0);
      for (OverlapPieceId id : bucket.pieces) {
        const OverlapPiece &piece = problem.pieces[id];
        ready = std::max(ready, piece.release);
        if (piece.after.isValid())
          ready =
              std::max(ready, link.begin[piece.after] +
                                  problem.problem.tasks[piece.after].duration);
      }
      REQUIRE(before <= ready);
      before = ready;
    }
    worse[0] += all < tasks.makespan;
    worse[1] += all < merges.makespan;
    worse[2] += all < link.makespan;
  }
  // Each decision buys something somewhere.
  for (int count : worse)
    CHECK(count > 20);
}

TEST_CASE("overlap: never worse than what is given") {
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    OverlapProblem problem = overlapInstance(
        static_cast<OverlapFamily>(seed % kOverlapFamilies), seed, 4);
    OverlapSchedule exact = *scheduleOverlapExact(problem);
    std::vector<OverlapSchedule> starts = {exact};
    OverlapSchedule found = scheduleOverlap(problem, starts);
    REQUIRE(found.makespan == exact.makespan);
    REQUIRE(verify(problem, found) == kSound);
  }
}

TEST_CASE("overlap: nothing to do takes no time") {
  OverlapProblem empty;
  CHECK(check(empty) == kSound);
  CHECK(scheduleOverlap(empty).makespan == Duration(0));
  CHECK(scheduleOverlapExact(empty)->makespan == Duration(0));
  CHECK(overlapLowerBound(empty) == Duration(0));
}

// Not run by itself: PLANC_OVERLAP_INSTANCES=10000 PLANC_OVERLAP_SEED=1
// unit_sched "[distribution]"
TEST_CASE("overlap: the distribution against exact", "[.][distribution]") {
  std::uint32_t count = numberFrom("PLANC_OVERLAP_INSTANCES", 2000);
  auto all = againstExact(numberFrom("PLANC_OVERLAP_SEED", 1), count);
  std::printf("| family | instances | optimal | ≤ 1 %% | ≤ 5 %% | mean | worst "
              "| bound = exact | exact above bound |\n"
              "|---|---|---|---|---|---|---|---|---|\n");
  for (std::size_t family = 0; family < kOverlapFamilies; ++family) {
    const Gaps &gaps = all[family];
    auto within = [&](std::int64_t most) {
      return std::count_if(gaps.over.begin(), gaps.over.end(),
                           [&](std::int64_t gap) { return gap <= most; });
    };
    auto mean = [&](std::int64_t sum) {
      return gaps.over.empty() ? 0.0
                               : static_cast<double>(sum) / 100 /
                                     static_cast<double>(gaps.over.size());
    };
    std::printf("| %s | %zu | %td | %td | %td | %.3f %% | %.2f %% | %zu | "
                "%.2f %% |\n",
                std::string(nameOf(static_cast<OverlapFamily>(family))).c_str(),
                gaps.over.size(), within(0), within(100), within(500),
                mean(gaps.sum), static_cast<double>(gaps.worst()) / 100,
                gaps.tight, mean(gaps.boundSum));
  }
}

// Not run by itself: unit_sched "[sizes]".
TEST_CASE("overlap: real sizes as a table", "[.][sizes]") {
  struct Row {
    const char *name;
    TrainingStep step;
  };
  std::printf("| step | link | program | framework | chosen | bound | above | "
              "buckets |\n|---|---|---|---|---|---|---|---|\n");
  for (const Row &shape : {Row{"one stream", {500, 0, false, false, 1}},
                           Row{"two streams", {500, 0, true, false, 1}},
                           Row{"three groups", {500, 0, true, false, 3}},
                           Row{"gathers", {500, 0, false, true, 1}}})
    for (int percent : {5, 50, 100, 200}) {
      TrainingStep step = shape.step;
      step.linkPercent = percent;
      OverlapProblem problem = trainingStep(step);
      OverlapSchedule chosen = scheduleOverlap(problem);
      auto milliseconds = [](Duration time) { return toSeconds(time) * 1e3; };
      double bound = milliseconds(overlapLowerBound(problem));
      double found = milliseconds(chosen.makespan);
      std::printf(
          "| %s | %d %% | %.1f | %.1f | %.2f | %.2f | %.3f %% | %zu |\n",
          shape.name, percent,
          milliseconds(overlapInProgramOrder(problem)->makespan),
          milliseconds(overlapFramework(problem)->makespan), found, bound,
          (found / bound - 1) * 100, chosen.buckets.size());
    }
}
