#include "tests/unit/Catch.h"

#include "compiler/diag/Kinds.h"
#include "runtime/sim/Engine.h"
#include "runtime/timeline/Queries.h"

using namespace planc;
using namespace planc::program;
using namespace planc::timeline;

namespace {

constexpr std::int32_t kWhole = 1'000'000;

/// One class that runs blocks one after the other, for exact numbers.
struct OneRank {
  ProgramSet set;
  sim::Costs costs;
  RankProgram rank;

  OneRank() {
    costs.units = 132;
    costs.tasks.emplace_back();
  }

  std::size_t kernel(Block &block, Duration duration, cost::Bound bound) {
    Instruction instruction;
    instruction.kind = InstructionKind::MatMul;
    sim::OpCost cost;
    cost.duration = duration;
    cost.bound = bound;
    cost.memoryShare = kWhole / 2;
    return add(block, instruction, cost);
  }
  std::size_t message(Block &block, Stream stream, sim::OpCost cost) {
    Instruction instruction;
    instruction.kind = InstructionKind::AllGather;
    instruction.stream = stream;
    instruction.message.kind = CommunicationKind::Tensor;
    return add(block, instruction, cost);
  }
  std::size_t add(Block &block, Instruction instruction, sim::OpCost cost) {
    if (costs.instructions.size() <= set.blocks.size())
      costs.instructions.resize(set.blocks.size() + 1);
    costs.instructions[set.blocks.size()].push_back(cost);
    block.instructions.push_back(instruction);
    return block.instructions.size() - 1;
  }
  TaskId run(Block block, PassKind pass) {
    Task task;
    task.block = set.blocks.add(std::move(block));
    task.pass = pass;
    costs.tasks[0].emplace_back();
    return rank.tasks.add(task);
  }
  Timeline simulate(sim::Mode mode) {
    set.classes.add(rank);
    Result<Timeline> timeline =
        sim::simulate(set, costs, sim::frameworkIssue(set, {}),
                      {1, sim::Contention::On, mode});
    REQUIRE(timeline);
    CHECK(timeline::verify(*timeline, set) == std::vector<std::string>{});
    return *timeline;
  }
};

sim::OpCost messageCost(std::int64_t duration, std::int32_t units,
                        std::int32_t share) {
  sim::OpCost cost;
  cost.duration = Duration(duration);
  cost.units = units;
  cost.links[0] = share;
  return cost;
}

} // namespace

TEST_CASE("a kernel beside a collective goes at the units left") {
  OneRank rank;
  Block block;
  rank.kernel(block, Duration(1000), cost::Bound::Arithmetic);
  rank.message(block, Stream::Tensor, messageCost(300, 33, kWhole));
  rank.run(block, PassKind::Forward);
  Timeline timeline = rank.simulate(sim::Mode::Reuse);
  // 300 ps at 99/132, then 775 ps alone.
  const InstructionTimes &kernel = timeline.isolated[FormId(0)].instructions[0];
  CHECK(kernel.end == Duration(1075));
  CHECK(kernel.slowed == Duration(75));
  CHECK(timeline.stepTime == Duration(1075));
}

TEST_CASE("a kernel beside a collective gets the memory bandwidth left") {
  OneRank rank;
  Block block;
  rank.kernel(block, Duration(1000), cost::Bound::Memory); // asks for half
  sim::OpCost gather = messageCost(300, 0, kWhole);
  gather.memoryShare = kWhole * 3 / 4;
  rank.message(block, Stream::Tensor, gather);
  rank.run(block, PassKind::Forward);
  Timeline timeline = rank.simulate(sim::Mode::Reuse);
  // 300 ps at a quarter of the bandwidth, where it asks for a half.
  CHECK(timeline.isolated[FormId(0)].instructions[0].end == Duration(1150));
}

TEST_CASE("messages on one link share it by what they ask for") {
  OneRank rank;
  Block block;
  rank.message(block, Stream::Tensor, messageCost(100, 0, kWhole));
  rank.message(block, Stream::Gradients, messageCost(300, 0, kWhole));
  rank.run(block, PassKind::Forward);
  Timeline timeline = rank.simulate(sim::Mode::Reuse);
  auto &times = timeline.isolated[FormId(0)].instructions;
  CHECK(times[0].end == Duration(200));
  CHECK(times[1].end == Duration(400));
}

TEST_CASE("shares that fit together cost nothing, others as much as is over") {
  for (auto [share, end] :
       {std::pair(kWhole / 2, 120), std::pair(kWhole * 6 / 10, 144)}) {
    OneRank rank;
    Block block;
    rank.message(block, Stream::Tensor, messageCost(120, 0, share));
    rank.message(block, Stream::Gradients, messageCost(120, 0, share));
    rank.run(block, PassKind::Forward);
    Timeline timeline = rank.simulate(sim::Mode::Reuse);
    CHECK(timeline.isolated[FormId(0)].duration == Duration(end));
  }
}

TEST_CASE("a bucket that starts inside a run slows what is left of it") {
  for (sim::Mode mode : {sim::Mode::Reuse, sim::Mode::Flat}) {
    OneRank rank;
    Block block;
    rank.kernel(block, Duration(100), cost::Bound::Arithmetic);
    rank.kernel(block, Duration(1000), cost::Bound::Arithmetic);
    TaskId backward = rank.run(block, PassKind::Backward);
    Block update;
    rank.kernel(update, Duration(10), cost::Bound::Memory);
    rank.run(update, PassKind::Update);
    Piece piece;
    piece.task = backward;
    piece.message.bytes = Bytes(1);
    piece.message.kind = CommunicationKind::Gradients;
    rank.rank.reduces.add(piece); // ready at 100
    rank.costs.bucket = [](const RankProgram &, const Piece &, Bytes) {
      return messageCost(600, 66, kWhole);
    };
    Timeline timeline = rank.simulate(mode);
    const Run &run = timeline.classes[RankClassId(0)].runs[0];
    CHECK_FALSE(run.isReused());
    // 600 ps at one half, 700 ps alone.
    CHECK(run.end == Duration(100 + 600 + 700));
    RunInstructions inside = instructionsOf(timeline, run);
    CHECK(inside.times[0].slowed == Duration(0));
    CHECK(inside.times[1].slowed == Duration(300));
    CHECK(timeline.stepTime == Duration(1410));
  }
}

TEST_CASE("a message goes at the slower of its ends") {
  // Two senders to one receiver; the second sender also receives nothing.
  ProgramSet set;
  sim::Costs costs;
  Block block;
  Instruction kernel;
  kernel.kind = InstructionKind::MatMul;
  block.instructions.push_back(kernel);
  BlockId id = set.blocks.add(block);
  costs.instructions = {{sim::OpCost{}}};
  set.stepEnd = ProgramSet::StepEnd::Free;
  Task run;
  run.block = id;
  Task send, recv;
  send.kind = TaskKind::Send;
  send.stream = Stream::Send;
  recv.kind = TaskKind::Recv;
  recv.stream = Stream::Recv;
  RankProgram sender[2], receiver;
  for (std::size_t i = 0; i < 2; ++i) {
    send.peer = RankClassId(2);
    send.tag = recv.tag = 1;
    recv.peer = RankClassId(i);
    TaskId after = sender[i].tasks.add(run);
    send.deps = {after};
    sender[i].tasks.add(send);
    TaskId got = receiver.tasks.add(recv);
    run.deps.push_back(got);
    set.classes.add(sender[i]);
    run.deps.clear();
    costs.tasks.push_back(
        {sim::OpCost{}, messageCost(i ? 300 : 100, 0, kWhole)});
  }
  run.deps = {TaskId(0), TaskId(1)};
  receiver.tasks.add(run);
  set.classes.add(receiver);
  costs.tasks.push_back({{}, {}, {}});
  REQUIRE(program::verify(set) == std::vector<std::string>{});
  for (auto [contention, end] : {std::pair(sim::Contention::Off, 300),
                                 std::pair(sim::Contention::On, 400)}) {
    Result<Timeline> timeline =
        sim::simulate(set, costs, sim::frameworkIssue(set, {}),
                      {1, contention, sim::Mode::Reuse});
    REQUIRE(timeline);
    CHECK(timeline->classes[RankClassId(2)].runs[0].begin == Duration(end));
  }
}

TEST_CASE("durations that virtual time cannot count are refused") {
  OneRank rank;
  Block block;
  for (int i = 0; i < 4; ++i)
    rank.kernel(block, Duration(std::int64_t(1) << 61),
                cost::Bound::Arithmetic);
  rank.run(block, PassKind::Forward);
  rank.set.classes.add(rank.rank);
  Result<Timeline> timeline =
      sim::simulate(rank.set, rank.costs, sim::frameworkIssue(rank.set, {}),
                    {1, sim::Contention::On, sim::Mode::Reuse});
  REQUIRE_FALSE(timeline);
  CHECK(timeline.failure().kind == FailureKind::Unsupported);
}
