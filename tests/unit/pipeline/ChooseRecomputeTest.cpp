#include "compiler/pipeline/ChooseRecompute.h"

#include "tests/unit/Catch.h"

#include <random>

using namespace planc;
using namespace planc::pipeline;

namespace {

std::int64_t timeOf(const RecomputeProblem &problem,
                    const std::vector<std::size_t> &chosen) {
  std::int64_t time = 0;
  for (std::size_t l = 0; l < chosen.size(); ++l)
    time += problem.options[problem.layers[l].kind][chosen[l]].time.value;
  return time;
}

std::int64_t peakOf(const RecomputeProblem &problem,
                    const std::vector<std::size_t> &chosen) {
  std::int64_t peak = 0;
  for (const RecomputeProblem::Moment &moment : problem.moments) {
    std::int64_t kept = 0, transient = 0;
    for (std::size_t l = 0; l < chosen.size(); ++l) {
      const RecomputeProblem::Layer &layer = problem.layers[l];
      const RecomputeOption &option = problem.options[layer.kind][chosen[l]];
      kept += option.saved.value * moment.inFlight[layer.chunk];
      if (layer.chunk == moment.chunk)
        transient = std::max(transient, option.transient.value);
    }
    peak = std::max(peak, kept + transient);
  }
  return peak;
}

RecomputeProblem randomProblem(std::mt19937 &random) {
  auto upTo = [&](int most) {
    return std::int64_t(random() % static_cast<unsigned>(most)) + 1;
  };
  RecomputeProblem problem;
  const std::int64_t kinds = upTo(2), chunks = upTo(2), layers = upTo(5);
  for (std::int64_t k = 0; k < kinds; ++k) {
    std::vector<RecomputeOption> options;
    for (std::int64_t o = upTo(4); o > 0; --o)
      options.push_back({Bytes(upTo(20)), Bytes(upTo(30)), Duration(upTo(9))});
    problem.options.push_back(options);
  }
  for (std::int64_t l = 0; l < layers; ++l)
    problem.layers.push_back({static_cast<std::size_t>(upTo(int(chunks)) - 1),
                              static_cast<std::size_t>(upTo(int(kinds)) - 1)});
  for (std::int64_t m = upTo(3); m > 0; --m) {
    RecomputeProblem::Moment moment;
    for (std::int64_t c = 0; c < chunks; ++c)
      moment.inFlight.push_back(upTo(4) - 1);
    moment.chunk = static_cast<std::size_t>(upTo(int(chunks)) - 1);
    problem.moments.push_back(moment);
  }
  problem.budget = Bytes(upTo(250));
  return problem;
}

} // namespace

TEST_CASE("what is made again is the least that fits: against every choice") {
  std::mt19937 random(7);
  int feasible = 0;
  for (int round = 0; round < 3000; ++round) {
    RecomputeProblem problem = randomProblem(random);
    auto fast = chooseRecompute(problem);
    auto slow = chooseRecomputeByTrying(problem);
    REQUIRE(fast.has_value() == slow.has_value());
    if (!fast)
      continue;
    ++feasible;
    CHECK(timeOf(problem, *fast) == timeOf(problem, *slow));
    CHECK(peakOf(problem, *fast) <= problem.budget.value);
  }
  CHECK(feasible > 1000);
  CHECK(feasible < 3000);
}

TEST_CASE("many layers stay quick and close to what halves of them need") {
  RecomputeProblem problem;
  problem.options = {{{Bytes(1000), Bytes(50), Duration(0)},
                      {Bytes(700), Bytes(50), Duration(10)},
                      {Bytes(300), Bytes(60), Duration(40)},
                      {Bytes(100), Bytes(90), Duration(90)}}};
  problem.layers.assign(120, {0, 0});
  problem.moments = {{{8}, 0}};
  problem.budget = Bytes(120 * 8 * 500 + 60);
  auto chosen = chooseRecompute(problem);
  REQUIRE(chosen);
  CHECK(peakOf(problem, *chosen) <= problem.budget.value);
  // Half of the layers by each of the two options around 500 bytes.
  CHECK(timeOf(problem, *chosen) >= 60 * (10 + 40));
  CHECK(timeOf(problem, *chosen) <= 60 * (10 + 40) * 101 / 100);
}

TEST_CASE("a moment with less of everything in flight says nothing") {
  std::vector<RecomputeProblem::Moment> moments = {
      {{1, 0}, 0}, {{2, 1}, 0}, {{2, 1}, 1}, {{1, 1}, 1}, {{0, 3}, 1}};
  auto left = withoutDominated(moments);
  REQUIRE(left.size() == 3);
  CHECK(left[0] == moments[1]);
  CHECK(left[1] == moments[2]);
  CHECK(left[2] == moments[4]);
}
