// Weight gradients that leave their places.
#include "tests/unit/Catch.h"

#include "runtime/program/Liveness.h"
#include "runtime/sim/CompareOrders.h"
#include "runtime/sim/Reorder.h"

#include <random>

using namespace planc;
using namespace planc::program;

namespace {

/// A block as it grows, times in ps.
struct Story {
  Block block;
  std::vector<sim::OpCost> costs;

  std::uint32_t add(Stream stream, Phase phase, std::int64_t time,
                    std::vector<std::uint32_t> deps) {
    Instruction one;
    one.kind = stream == Stream::Compute ? InstructionKind::MatMul
                                         : InstructionKind::AllGather;
    one.stream = stream;
    one.phase = phase;
    one.duration = Duration(time);
    one.deps = std::move(deps);
    block.instructions.push_back(one);
    sim::OpCost cost;
    cost.duration = Duration(time);
    costs.push_back(cost);
    return static_cast<std::uint32_t>(block.instructions.size() - 1);
  }
  Instruction &last() { return block.instructions.back(); }
};

/// The backward of layers of two products each: a gather (3), each product's
/// gradient of inputs (5) and of weights (5), a scatter (3).
Story layers(int count) {
  constexpr std::int64_t gather = 3, input = 5, weight = 5;
  Story story;
  std::vector<std::uint32_t> before;
  for (int i = 0; i < count; ++i) {
    const std::uint32_t g =
        story.add(Stream::Tensor, Phase::InputGradient, gather, before);
    story.last().makes = Bytes(80);
    std::uint32_t d = g;
    for (int product = 0; product < 2; ++product) {
      d = story.add(Stream::Compute, Phase::InputGradient, input, {d});
      story.last().makes = Bytes(10);
      story.add(Stream::Compute, Phase::WeightGradient, weight, {g});
    }
    before = {story.add(Stream::Tensor, Phase::InputGradient, gather, {d})};
    story.last().makes = Bytes(10);
    story.last().frees = Bytes(100);
  }
  return story;
}

/// How long a run takes in this order, reductions included, alone.
Duration lengthOf(const Story &story, std::vector<std::uint32_t> order) {
  ProgramSet set;
  set.stepEnd = ProgramSet::StepEnd::Free;
  RankProgram rank;
  Task run;
  run.block = set.blocks.add(story.block);
  run.pass = PassKind::Backward;
  const TaskId task = rank.tasks.add(run);
  set.classes.add(rank);
  sim::Costs costs;
  costs.instructions = {story.costs};
  costs.tasks = {{sim::OpCost{}}};
  costs.bucket = sim::AffineCost{};
  sim::IssueOrder issue = sim::programIssue(set);
  issue.orders.push_back({run.block, std::move(order)});
  issue.classes[RankClassId(0)].forms.push_back({task, 0});
  issue.classes[RankClassId(0)].extra =
      extraOf(issue.classes[RankClassId(0)], issue.orders, set);
  REQUIRE(verify(issue, set) == std::vector<std::string>{});
  auto timeline = sim::simulate(set, costs, issue, {1, sim::Contention::Off});
  REQUIRE(timeline);
  return timeline->stepTime;
}

} // namespace

TEST_CASE("weight gradients run beneath the collectives of the next layer") {
  Story story = layers(4);
  sim::Surroundings around;
  around.spare = Bytes(1000);
  const auto stands = orderAsItStands(story.block);
  const auto found = sim::reorder(story.block, story.costs, around);
  // In place the scatter waits for the first product's weight gradient, and
  // only the second's runs beneath it and the gather behind it.
  CHECK(lengthOf(story, stands) == Duration(3 * 21 + 23));
  // Moved, compute never waits after the first gather.
  CHECK(lengthOf(story, found) == Duration(3 + 4 * 20));
}

TEST_CASE("a weight gradient stays where deferring it holds too much memory") {
  // The scatter's result is as large as the gather's, which the first weight
  // gradient reads.
  Story story = layers(2);
  story.block.instructions[5].makes = Bytes(100);
  const auto stands = orderAsItStands(story.block);
  const auto order = sim::reorder(story.block, story.costs, {});
  CHECK(peakOf(story.block, order) <= peakOf(story.block, stands));
  sim::Surroundings roomy;
  roomy.spare = Bytes(200);
  CHECK(lengthOf(story, sim::reorder(story.block, story.costs, roomy)) <
        lengthOf(story, order));
}

TEST_CASE(
    "a large last gradient leaves before weight gradients that can wait") {
  // Three weight gradients whose small reductions would leave first, then the
  // embedding's, whose reduction takes 100.
  Story story;
  std::uint32_t d = story.add(Stream::Compute, Phase::InputGradient, 10, {});
  for (int i = 0; i < 3; ++i) {
    story.add(Stream::Compute, Phase::WeightGradient, 20, {d});
    d = story.add(Stream::Compute, Phase::InputGradient, 10, {d});
  }
  const std::uint32_t table =
      story.add(Stream::Compute, Phase::WeightGradient, 5, {d});
  sim::Surroundings around;
  around.groups = {{Duration(0), std::int64_t(1) << 30}}; // a ps a byte
  for (std::uint32_t i : {1u, 3u, 5u})
    around.reductions.push_back({i, Bytes(1), 0});
  around.reductions.push_back({table, Bytes(100), 0});
  const auto order = sim::reorder(story.block, story.costs, around);
  const auto place = [&](std::uint32_t i) {
    return std::find(order.begin(), order.end(), i) - order.begin();
  };
  // 45 of compute lead to it, 100 reduce, under which the others run.
  int before = 0;
  for (std::uint32_t i : {1u, 3u, 5u})
    before += place(i) < place(table);
  CHECK(before == 0);
}

TEST_CASE("any reordering keeps to its memory and is no slower") {
  std::mt19937 lot(11);
  int moved = 0;
  for (int round = 0; round < 300; ++round) {
    Story story;
    const int count = 3 + static_cast<int>(lot() % 20);
    for (int i = 0; i < count; ++i) {
      std::vector<std::uint32_t> deps;
      for (int k = 0; k < 2 && i > 0; ++k)
        if (auto dep =
                static_cast<std::uint32_t>(lot() % static_cast<unsigned>(i));
            std::find(deps.begin(), deps.end(), dep) == deps.end())
          deps.push_back(dep);
      std::sort(deps.begin(), deps.end());
      const bool weight = lot() % 3 == 0;
      story.add(!weight && lot() % 3 == 0 ? Stream::Tensor : Stream::Compute,
                weight ? Phase::WeightGradient : Phase::InputGradient,
                static_cast<std::int64_t>(lot() % 50), deps);
      story.last().makes = Bytes(static_cast<std::int64_t>(lot() % 100));
      story.last().frees =
          Bytes(lot() % 5 == 0 ? static_cast<std::int64_t>(lot() % 100) : 0);
    }
    sim::Surroundings around;
    around.spare = Bytes(lot() % 2 == 0 ? 0 : 150);
    const auto stands = orderAsItStands(story.block);
    const auto order = sim::reorder(story.block, story.costs, around);
    CHECK(peakOf(story.block, order) <=
          peakOf(story.block, stands) + around.spare);
    CHECK(lengthOf(story, order) <= lengthOf(story, stands));
    moved += order != stands;
  }
  CHECK(moved > 30);
}
