#include "tests/unit/Catch.h"

#include "runtime/sim/CompareOrders.h"
#include "tests/unit/sim/RandomPrograms.h"

using namespace planc;
using namespace planc::test;

namespace {

/// A reduction of so many bytes takes the second level's link, and is no part
/// of others' buckets.
constexpr std::int64_t kElsewhere = 400;

struct Builder {
  RandomProgram out;

  Builder() { out.costs.units = 1; }

  BlockId block(std::int64_t duration) {
    Instruction kernel;
    kernel.kind = InstructionKind::MatMul;
    out.costs.instructions.push_back({kernelOf(duration)});
    return out.set.blocks.add({"block", {kernel}});
  }
  TaskId add(std::size_t c, Task task, std::int64_t duration = 0) {
    out.costs.tasks[c].push_back(messageOf(duration));
    return out.set.classes[RankClassId(c)].tasks.add(std::move(task));
  }
  TaskId run(std::size_t c, PassKind pass, std::int64_t duration,
             std::vector<TaskId> deps = {}) {
    Task task;
    task.block = block(duration);
    task.pass = pass;
    task.deps = std::move(deps);
    return add(c, task);
  }
  void reduce(std::size_t c, TaskId after, std::int64_t duration) {
    Piece piece;
    piece.task = after;
    piece.message.bytes = Bytes(duration);
    piece.message.kind = CommunicationKind::Gradients;
    if (duration == kElsewhere) {
      piece.message.sizes = {2};
      piece.message.strides = {1};
    }
    out.set.classes[RankClassId(c)].reduces.add(piece);
  }
};

/// The second stage has 150 to reduce from 100 on, sends 100 at 200 and works
/// until 350; the first waits for the message, then works 300 and reduces 50,
/// and before, over another link, 400 from 100 on.
RandomProgram inTheWay() {
  Builder b;
  for (int c = 0; c < 2; ++c) {
    b.out.set.classes.add({});
    b.out.costs.tasks.emplace_back();
  }
  Task send, recv;
  send.kind = TaskKind::Send;
  send.stream = Stream::Send;
  send.peer = RankClassId(0);
  recv.kind = TaskKind::Recv;
  recv.stream = Stream::Recv;
  recv.peer = RankClassId(1);
  send.tag = recv.tag = 1;
  const TaskId first = b.run(1, PassKind::Backward, 100);
  send.deps = {b.run(1, PassKind::Backward, 100)};
  b.add(1, send, 100);
  b.run(1, PassKind::Backward, 150);
  b.run(1, PassKind::Update, 0);
  b.reduce(1, first, 150);
  b.reduce(0, b.run(0, PassKind::Backward, 100), kElsewhere);
  const TaskId last = b.run(0, PassKind::Backward, 300, {b.add(0, recv)});
  b.run(0, PassKind::Update, 0);
  b.reduce(0, last, 50);
  b.out.costs.bucket = [](const RankProgram &, const Piece &, Bytes bytes) {
    sim::OpCost cost = messageOf(bytes.value);
    if (bytes.value == kElsewhere)
      std::swap(cost.links[0], cost.links[1]);
    return cost;
  };
  return std::move(b.out);
}

sim::Outcome chosen(const RandomProgram &program, sim::Wanted wanted) {
  Result<sim::Comparison> compared =
      sim::compareOrders(program.set, program.costs, wanted, {});
  REQUIRE(compared);
  CHECK(sim::verify(compared->chosen.order, program.set) ==
        std::vector<std::string>{});
  return compared->chosen;
}

} // namespace

TEST_CASE("a reduction waits where it would be in a message's way") {
  const RandomProgram program = inTheWay();
  REQUIRE(program::verify(program.set) == std::vector<std::string>{});
  sim::Wanted eager;
  eager.holds = false;
  // Both on the wire from 200: the reduction ends at 300, the message at 350.
  CHECK(chosen(program, eager).timeline.stepTime == Duration(350 + 300 + 50));
  const sim::Outcome held = chosen(program, {});
  CHECK(held.timeline.stepTime == Duration(300 + 300 + 50));
  // Until the third pass has ended, at 350.
  CHECK(held.order.classes[RankClassId(1)].reduces[0].hold == TaskId(3));
  for (const timeline::Bucket &bucket :
       held.order.classes[RankClassId(0)].reduces)
    CHECK(!bucket.hold.isValid());
}

TEST_CASE("a reduction waits only if the step is shorter for it") {
  int shorter = 0;
  for (std::uint32_t seed = 1; seed <= 150; ++seed) {
    CAPTURE(seed);
    const RandomProgram program = RandomPrograms(seed, {}).make();
    sim::Wanted eager;
    eager.holds = false;
    const Duration without = chosen(program, eager).timeline.stepTime;
    const sim::Outcome with = chosen(program, {});
    REQUIRE(with.timeline.stepTime <= without);
    shorter += with.timeline.stepTime < without;
    bool holds = false;
    for (const sim::ClassIssue &issue : with.order.classes)
      for (const timeline::Bucket &bucket : issue.reduces)
        holds |= bucket.hold.isValid();
    REQUIRE(holds == (with.timeline.stepTime < without));
  }
  CHECK(shorter > 0);
}

TEST_CASE("what a reduction may be held for") {
  const RandomProgram program = inTheWay();
  const auto broken = [&](std::size_t task) {
    sim::IssueOrder order = sim::frameworkIssue(program.set, {});
    order.classes[RankClassId(1)].reduces[0].hold = TaskId(task);
    return sim::verify(order, program.set);
  };
  CHECK(broken(1).empty());
  CHECK(broken(2).size() == 1); // a message
  CHECK(broken(4).size() == 1); // the update, which waits for it
  CHECK(broken(9).size() == 1);
  sim::IssueOrder order = sim::programIssue(program.set);
  order.classes[RankClassId(1)].reduces[0].hold = TaskId(1);
  CHECK(sim::verify(order, program.set).size() == 1); // nothing overlaps
}
