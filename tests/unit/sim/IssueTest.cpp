#include "tests/unit/Catch.h"

#include "runtime/sim/Bound.h"
#include "runtime/sim/CompareOrders.h"
#include "tests/unit/sim/Pipelines.h"
#include "tests/unit/sim/RandomPrograms.h"

using namespace planc;
using namespace planc::test;

namespace {

constexpr std::int64_t kMebibyte = 1 << 20;

/// A backward of `sizes.size()` kernels, each of which makes a piece ready.
ProgramSet backward(std::vector<std::int64_t> durations,
                    std::vector<std::int64_t> mebibytes) {
  ProgramSet set;
  Block block{"backward", {}};
  RankProgram rank;
  for (std::size_t i = 0; i < durations.size(); ++i) {
    Instruction kernel;
    kernel.kind = InstructionKind::MatMul;
    kernel.duration = Duration(durations[i]);
    block.instructions.push_back(kernel);
    Piece piece;
    piece.task = TaskId(0);
    piece.instruction = static_cast<std::uint32_t>(i);
    piece.message.bytes = Bytes(mebibytes[i] * kMebibyte);
    piece.message.kind = CommunicationKind::Gradients;
    piece.layer = static_cast<std::int32_t>(i / 2);
    rank.reduces.add(piece);
  }
  Task run, update;
  run.block = set.blocks.add(block);
  run.pass = PassKind::Backward;
  update.block = set.blocks.add(kernelBlock("update", Duration(1)));
  update.pass = PassKind::Update;
  rank.tasks.add(run);
  rank.tasks.add(update);
  set.classes.add(rank);
  return set;
}

std::vector<std::size_t> sizesOf(const std::vector<timeline::Bucket> &buckets) {
  std::vector<std::size_t> sizes;
  for (const timeline::Bucket &bucket : buckets)
    sizes.push_back(bucket.pieces.size());
  return sizes;
}

std::vector<std::size_t> reduces(const sim::IssueOrder &order) {
  return sizesOf(order.classes[RankClassId(0)].reduces);
}

sim::IssueOrder framework(const ProgramSet &set, sim::BucketPolicy::Kind kind,
                          std::int64_t mebibytes = 0) {
  sim::BucketPolicy policy;
  policy.kind = kind;
  policy.size = Bytes(mebibytes * kMebibyte);
  return sim::frameworkIssue(set, policy);
}

using Kind = sim::BucketPolicy::Kind;

} // namespace

TEST_CASE("buckets as the plan's clause names them") {
  ProgramSet set = backward({1, 1, 1, 1, 1}, {20, 20, 20, 100, 100});
  CHECK(reduces(framework(set, Kind::Ddp)) ==
        std::vector<std::size_t>{1, 2, 1, 1});
  CHECK(reduces(framework(set, Kind::Size, 25)) ==
        std::vector<std::size_t>{2, 2, 1});
  CHECK(reduces(framework(set, Kind::Layer)) ==
        std::vector<std::size_t>{2, 2, 1});
  CHECK(reduces(framework(set, Kind::One)) == std::vector<std::size_t>{5});
  // 40 000 000 parameters of 4 bytes are 152.6 MiB.
  CHECK(reduces(framework(set, Kind::Megatron)) ==
        std::vector<std::size_t>{4, 1});
  CHECK(reduces(sim::programIssue(set)) == std::vector<std::size_t>{5});
}

TEST_CASE("pieces of different groups never share a bucket") {
  ProgramSet set = backward({1, 1, 1, 1}, {1, 1, 1, 1});
  Table<PieceId, Piece> &pieces = set.classes[RankClassId(0)].reduces;
  pieces[PieceId(1)].message.sizes = {4};
  pieces[PieceId(1)].message.strides = {1};
  sim::IssueOrder order = framework(set, Kind::One);
  CHECK(reduces(order) == std::vector<std::size_t>{1, 3});
  CHECK(sim::verify(order, set).empty());
  // I2: merged by hand.
  auto &buckets = order.classes[RankClassId(0)].reduces;
  buckets[1].pieces.insert(buckets[1].pieces.begin(), PieceId(1));
  CHECK_FALSE(sim::verify(order, set).empty());
}

TEST_CASE("I1 to I3: what is no issue order") {
  ProgramSet set = backward({1, 1}, {1, 1});
  sim::IssueOrder order = framework(set, Kind::One);
  order.classes[RankClassId(0)].reduces[0].pieces.pop_back();
  CHECK_FALSE(sim::verify(order, set).empty());
  order = framework(set, Kind::One);
  order.classes[RankClassId(0)].reduces[0].bytes = Bytes(3);
  CHECK_FALSE(sim::verify(order, set).empty());
  order = framework(set, Kind::One);
  order.classes[RankClassId(0)].reduces[0].after = 0;
  CHECK_FALSE(sim::verify(order, set).empty());
  order.classes.resize(0);
  CHECK_FALSE(sim::verify(order, set).empty());
}

TEST_CASE("chosen boundaries are the dynamic program's") {
  // Ready at 0, 1, 3 after the first; latency 2, one a mebibyte.
  ProgramSet set = backward({10, 1, 2}, {1, 1, 1});
  Result<sim::Costs> costs = sim::statedCosts(set, {Duration(2), Duration(1)});
  REQUIRE(costs);
  sim::Wanted wanted;
  wanted.framework.kind = Kind::One;
  Result<sim::Comparison> compared =
      sim::compareOrders(set, *costs, wanted, {});
  REQUIRE(compared);
  CHECK(reduces(compared->chosen.order) == std::vector<std::size_t>{1, 2});
  CHECK(compared->program.timeline.stepTime == Duration(1 + 13 + 5));
  CHECK(compared->framework.timeline.stepTime == Duration(1 + 13 + 5));
  CHECK(compared->chosen.timeline.stepTime == Duration(1 + 17));
  CHECK(compared->bounds.anyOrder <= Duration(18));
}

TEST_CASE("gathers are cut by when they are used, not by size") {
  // Two small layers are used at once, then a long kernel hides the rest.
  ProgramSet set = backward({10, 500, 10, 10}, {0, 0, 0, 0});
  RankProgram &rank = set.classes[RankClassId(0)];
  rank.reduces = {};
  for (std::size_t i = 0; i < 4; ++i) {
    Piece piece;
    piece.kind = Piece::Kind::Gather;
    piece.collective = InstructionKind::AllGather;
    piece.message.bytes = Bytes(kMebibyte);
    piece.message.kind = CommunicationKind::Parameters;
    piece.task = TaskId(1);
    piece.uses = {{TaskId(0), static_cast<std::uint32_t>(i)}};
    rank.gathers.add(piece);
  }
  Result<sim::Costs> costs =
      sim::statedCosts(set, {Duration(5), Duration(100)});
  REQUIRE(costs);
  sim::Wanted wanted;
  wanted.framework.kind = Kind::One;
  Result<sim::Comparison> compared =
      sim::compareOrders(set, *costs, wanted, {});
  REQUIRE(compared);
  std::vector<std::size_t> cut =
      sizesOf(compared->chosen.order.classes[RankClassId(0)].gathers);
  CHECK(cut.front() == 1);
  CHECK(compared->chosen.timeline.stepTime <
        compared->framework.timeline.stepTime);
  // The first gather, the first kernel, the second gather hidden but for 10.
  CHECK(compared->chosen.timeline.stepTime ==
        Duration(1 + 105 + 105 + 500 + 20));
}

TEST_CASE("no order beats the bound, and the chosen is never the worst (M10)") {
  std::size_t improved = 0, tight = 0, all = 0;
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    RandomProgram program = RandomPrograms(seed, {}).make();
    CAPTURE(seed);
    for (sim::Overlap overlap :
         {sim::Overlap::Reductions, sim::Overlap::Gathers}) {
      sim::Wanted wanted;
      wanted.overlap = overlap;
      Result<sim::Comparison> less =
          sim::compareOrders(program.set, program.costs, wanted,
                             {2, sim::Contention::On, sim::Mode::Reuse});
      REQUIRE(less);
      REQUIRE(sim::verify(less->chosen.order, program.set).empty());
      REQUIRE(less->chosen.timeline.stepTime <=
              less->program.timeline.stepTime);
      Result<sim::Comparison> alone =
          sim::compareOrders(program.set, program.costs,
                             [&] {
                               sim::Wanted only = wanted;
                               only.compared = sim::Compared::ChosenOnly;
                               return only;
                             }(),
                             {2, sim::Contention::On, sim::Mode::Reuse});
      REQUIRE(alone);
      REQUIRE(alone->chosen.order == less->chosen.order);
      REQUIRE(alone->chosen.timeline.stepTime ==
              less->chosen.timeline.stepTime);
      const sim::Overlap taken = less->chosen.order.overlap;
      REQUIRE((taken == overlap || taken == sim::Overlap::None));
    }
    for (sim::Contention contention :
         {sim::Contention::Off, sim::Contention::On}) {
      Result<sim::Comparison> compared = sim::compareOrders(
          program.set, program.costs, {}, {2, contention, sim::Mode::Reuse});
      REQUIRE(compared);
      Duration chosen = compared->chosen.timeline.stepTime;
      REQUIRE(sim::verify(compared->chosen.order, program.set).empty());
      REQUIRE(chosen <= compared->framework.timeline.stepTime);
      REQUIRE(chosen <= compared->program.timeline.stepTime);
      sim::Wanted only;
      only.compared = sim::Compared::ChosenOnly;
      Result<sim::Comparison> alone = sim::compareOrders(
          program.set, program.costs, only, {2, contention, sim::Mode::Reuse});
      REQUIRE(alone);
      REQUIRE(alone->chosen.order == compared->chosen.order);
      REQUIRE(alone->chosen.timeline.stepTime == chosen);
      REQUIRE(compared->bounds.anyOrder <= compared->bounds.inOrder);
      REQUIRE(compared->bounds.inOrder <= chosen);
      improved += chosen < compared->framework.timeline.stepTime;
      tight += compared->bounds.inOrder == chosen;
      ++all;
    }
  }
  CHECK(improved > 0);
  CHECK(tight < all);
}

TEST_CASE("where buckets can save a thousandth at most, no more is lost") {
  int left = 0;
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    RandomProgram program = RandomPrograms(seed, {}).make();
    // Little to reduce, so that some are left alone.
    program.costs.bucket = [](const RankProgram &, const Piece &, Bytes bytes) {
      sim::OpCost cost;
      cost.duration = Duration(1 + (bytes.value >> 21));
      return cost;
    };
    Result<sim::Comparison> full =
        sim::compareOrders(program.set, program.costs, {}, {});
    sim::Wanted wanted;
    wanted.manyTasks = 0;
    Result<sim::Comparison> less =
        sim::compareOrders(program.set, program.costs, wanted, {});
    REQUIRE(full);
    REQUIRE(less);
    const Duration best = full->chosen.timeline.stepTime,
                   step = less->chosen.timeline.stepTime;
    REQUIRE(best <= step);
    REQUIRE((step - best).value * 1000 <= step.value);
    REQUIRE(step <= less->framework.timeline.stepTime);
    REQUIRE(step <= less->program.timeline.stepTime);
    left += !(less->chosen.order == full->chosen.order);
  }
  CHECK(left > 0);
}

TEST_CASE("at no latency GPipe, 1F1B and interleaving reach the bound (M10)") {
  for (int p : {2, 4})
    for (int v : {1, 2, 3}) {
      PipelineShape shape;
      shape.ranks = p;
      shape.micros = 2 * p;
      shape.chunks = v;
      shape.update = Duration(30);
      ProgramSet set = pipelineProgram(shape, v == 1 ? oneFOneB(shape)
                                                     : interleaved(shape, p));
      Result<sim::Costs> costs = sim::statedCosts(set, {});
      Duration expected((shape.micros * v + p - 1) * 300 + 30);
      CHECK(sim::stepLowerBounds(sim::Simulator(set, *costs)).anyOrder ==
            expected);
    }
}

TEST_CASE("with latency the bound is T + (p − 1)(f + b + 2c)") {
  PipelineShape shape;
  shape.hop = Duration(7);
  ProgramSet set = pipelineProgram(shape, oneFOneB(shape));
  Result<sim::Costs> costs = sim::statedCosts(set, {});
  CHECK(sim::stepLowerBounds(sim::Simulator(set, *costs)).anyOrder ==
        Duration(8 * 300 + 3 * (300 + 14)));
}

namespace {

/// Answers with numbers that tell which question was asked.
class FakeModel : public cost::CostModel {
public:
  cost::ComputeCost compute(InstructionKind, const Work &work) const override {
    cost::ComputeCost out;
    out.total = Duration(work.flops.value);
    out.bound = cost::Bound::Arithmetic;
    out.memoryShare = 7;
    return out;
  }
  cost::CollectiveCost communicate(InstructionKind kind,
                                   const Message &message) const override {
    cost::CollectiveCost out;
    out.total = Duration(message.bytes.value + 10);
    out.latency = Duration(10);
    out.units = kind == InstructionKind::Send ? 0 : 20;
    out.memoryShare = 3;
    out.levels = {{Bytes(0), 0}, {message.bytes, 500'000}};
    return out;
  }
  std::int64_t units() const override { return 132; }
};

} // namespace

TEST_CASE("costs come from the model, stated durations before it") {
  ProgramSet set = backward({1, 1}, {1, 1});
  Block &block = set.blocks[BlockId(0)];
  block.instructions[0].duration.reset();
  block.instructions[0].work.flops = Flops(55);
  block.instructions[1].kind = InstructionKind::AllGather;
  block.instructions[1].message.bytes = Bytes(40);
  block.instructions[1].duration.reset();
  Task send;
  send.kind = TaskKind::Send;
  send.message.bytes = Bytes(90);
  RankProgram &rank = set.classes[RankClassId(0)];
  TaskId sent = rank.tasks.add(send);
  send.duration = Duration(6);
  TaskId stated = rank.tasks.add(send);
  send.message.bytes = Bytes(0);
  TaskId empty = rank.tasks.add(send);

  FakeModel model;
  sim::Costs costs = sim::modelCosts(set, model);
  CHECK(costs.units == 132);
  CHECK(costs.instructions[0][0].duration == Duration(55));
  CHECK(costs.instructions[0][0].bound == cost::Bound::Arithmetic);
  CHECK(costs.instructions[0][0].memoryShare == 7);
  CHECK(costs.instructions[0][1].duration == Duration(50));
  // What a collective inside a block holds, it holds to its end.
  CHECK(costs.instructions[0][1].latency == Duration(0));
  CHECK(costs.instructions[0][1].units == 20);
  CHECK(costs.instructions[0][1].links[0] == 0);
  CHECK(costs.instructions[0][1].links[1] == 500'000);
  CHECK(costs.tasks[0][sent.index()].duration == Duration(100));
  CHECK(costs.tasks[0][sent.index()].latency == Duration(10));
  CHECK(costs.tasks[0][stated.index()].duration == Duration(6));
  CHECK(costs.tasks[0][stated.index()].latency == Duration(6));
  CHECK(costs.tasks[0][empty.index()].latency == Duration(6));
  CHECK(costs.bucket(rank, rank.reduces[PieceId(0)], Bytes(8)).duration ==
        Duration(18));
  CHECK(costs.bucket(rank, rank.reduces[PieceId(0)], Bytes(8)).latency ==
        Duration(10));
  CHECK(costs.instructions[1][0].duration == Duration(1));
}

TEST_CASE("a program that states no durations has no stated costs") {
  ProgramSet set = backward({1}, {1});
  set.blocks[BlockId(0)].instructions[0].duration.reset();
  Result<sim::Costs> costs = sim::statedCosts(set, {});
  REQUIRE_FALSE(costs);
  CHECK(costs.failure().kind == FailureKind::Illegal);
}
