// What shares a link: messages beside buckets, and buckets of several groups.
#include "tests/unit/Catch.h"

#include "runtime/sim/Bound.h"
#include "runtime/sim/CompareOrders.h"
#include "tests/unit/sim/RandomPrograms.h"

using namespace planc;
using namespace planc::test;

namespace {

constexpr std::int64_t kLatency = 20'000;

/// Ranks with one kernel a run, whose buckets take `kLatency` and their bytes.
struct Ranks {
  ProgramSet set;
  sim::Costs costs;

  explicit Ranks(std::size_t count) {
    costs.units = 1;
    set.stepEnd = ProgramSet::StepEnd::Joined;
    for (std::size_t c = 0; c < count; ++c) {
      set.classes.add({});
      costs.tasks.emplace_back();
    }
    costs.bucket = [](const RankProgram &, const Piece &, Bytes bytes) {
      sim::OpCost cost = messageOf(kLatency + bytes.value);
      cost.latency = Duration(kLatency);
      return cost;
    };
  }

  TaskId run(std::size_t c, PassKind pass, std::int64_t duration,
             std::vector<TaskId> deps = {}) {
    Instruction kernel;
    kernel.kind = InstructionKind::MatMul;
    costs.instructions.push_back({kernelOf(duration)});
    Task task;
    task.block = set.blocks.add({"block", {kernel}});
    task.pass = pass;
    task.deps = std::move(deps);
    return add(c, task, 0);
  }
  /// The receive.
  TaskId message(std::size_t from, TaskId after, std::size_t to,
                 std::int64_t duration) {
    Task send, recv;
    send.kind = TaskKind::Send;
    send.stream = Stream::Send;
    send.peer = RankClassId(to);
    send.deps = {after};
    recv.kind = TaskKind::Recv;
    recv.stream = Stream::Recv;
    recv.peer = RankClassId(from);
    send.tag = recv.tag = 1;
    add(from, send, duration);
    return add(to, recv, duration);
  }
  void reduce(std::size_t c, TaskId after, std::int64_t bytes,
              std::int64_t members) {
    Piece piece;
    piece.task = after;
    piece.message.bytes = Bytes(bytes);
    piece.message.kind = CommunicationKind::Gradients;
    piece.message.sizes = {members};
    piece.message.strides = {1};
    set.classes[RankClassId(c)].reduces.add(piece);
  }

private:
  TaskId add(std::size_t c, Task task, std::int64_t duration) {
    costs.tasks[c].push_back(messageOf(duration));
    return set.classes[RankClassId(c)].tasks.add(std::move(task));
  }
};

/// The first rank has a gradient from 100,000 on, and from 150,000 on a message
/// comes in, which its last pass waits for.
Ranks besideAMessage() {
  Ranks out(2);
  const TaskId first = out.run(0, PassKind::Backward, 100'000);
  out.reduce(0, first, 280'000, 4);
  const TaskId sender = out.run(1, PassKind::Backward, 150'000);
  const TaskId recv = out.message(1, sender, 0, 50'000);
  out.run(0, PassKind::Backward, 10'000, {recv});
  for (std::size_t c : {0u, 1u})
    out.run(c, PassKind::Update, 0);
  return out;
}

} // namespace

TEST_CASE("the bound counts messages that share a link with reductions") {
  const Ranks ranks = besideAMessage();
  REQUIRE(program::verify(ranks.set) == std::vector<std::string>{});
  const sim::Simulator simulator(ranks.set, ranks.costs);
  Result<timeline::Timeline> seen =
      simulator.run(sim::frameworkIssue(ranks.set, {}), {});
  REQUIRE(seen);
  CHECK(seen->stepTime == Duration(100'000 + 300'000 + 50'000));
  // All of it but for what rates are rounded by.
  const sim::LowerBounds bounds = sim::stepLowerBounds(simulator);
  CHECK(bounds.inOrder <= seen->stepTime);
  CHECK(bounds.inOrder > seen->stepTime - Duration(10));
  // Where a link gives everyone all of it, the reduction alone is what counts.
  CHECK(sim::stepLowerBounds(simulator, sim::Contention::Off).inOrder ==
        Duration(100'000 + 300'000));
}

TEST_CASE("what waits for another group's bucket goes in one message") {
  Ranks ranks(1);
  ranks.reduce(0, ranks.run(0, PassKind::Backward, 100'000), 1'000'000, 4);
  for (int i = 0; i < 3; ++i)
    ranks.reduce(0, ranks.run(0, PassKind::Backward, 50'000), 1'000, 8);
  ranks.run(0, PassKind::Update, 0);
  REQUIRE(program::verify(ranks.set) == std::vector<std::string>{});
  Result<sim::Comparison> compared =
      sim::compareOrders(ranks.set, ranks.costs, {}, {});
  REQUIRE(compared);
  CHECK(compared->chosen.timeline.stepTime ==
        Duration(100'000 + kLatency + 1'000'000 + kLatency + 3'000));
  const auto &reduces = compared->chosen.order.classes[RankClassId(0)].reduces;
  REQUIRE(reduces.size() == 2);
  CHECK(reduces[1].pieces.size() == 3);
}
