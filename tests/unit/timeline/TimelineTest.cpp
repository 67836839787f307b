#include "tests/unit/Catch.h"

#include "runtime/timeline/Queries.h"

using namespace planc;
using namespace planc::program;
using namespace planc::timeline;

namespace {

/// Two classes: a kernel and a message, then a kernel that waits for it.
struct Story {
  ProgramSet set;
  Timeline timeline;

  Story() {
    Instruction kernel;
    kernel.kind = InstructionKind::MatMul;
    Instruction gather;
    gather.kind = InstructionKind::AllGather;
    gather.stream = Stream::Tensor;
    gather.message.kind = CommunicationKind::Tensor;
    gather.deps = {0};
    BlockId block = set.blocks.add({"forward", {kernel, gather}});
    Task run;
    run.block = block;
    Task send, recv;
    send.kind = TaskKind::Send;
    send.stream = Stream::Send;
    send.peer = RankClassId(1);
    send.deps = {TaskId(0)};
    recv.kind = TaskKind::Recv;
    recv.stream = Stream::Recv;
    recv.peer = RankClassId(0);
    RankProgram first, second;
    first.tasks.add(run);
    first.tasks.add(send);
    second.tasks.add(recv);
    run.deps = {TaskId(0)};
    second.tasks.add(run);
    set.classes.add(first);
    set.classes.add(second);
    fill();
  }

  void fill() {
    IsolatedRun apart;
    apart.duration = Duration(30);
    apart.instructions = {{Duration(0), Duration(20), Duration(0)},
                          {Duration(20), Duration(30), Duration(0)}};
    Wait inside;
    inside.begin = inside.splitAt = Duration(20);
    inside.end = Duration(30);
    inside.cause = WaitCause::Instruction;
    inside.kind = CommunicationKind::Tensor;
    inside.index = 1;
    apart.waits = {inside};
    timeline.isolated.add(apart);

    Run run;
    run.task = TaskId(0);
    run.block = BlockId(0);
    run.form = FormId(0);
    run.end = Duration(30);
    Communication send{CommunicationSource::Send,
                       Stream::Send,
                       CommunicationKind::Pipeline,
                       0,
                       1,
                       Duration(30),
                       Duration(30),
                       Duration(35)};
    ClassTimeline one, two;
    one.runs = {run};
    one.communications = {send};
    run.task = TaskId(1);
    run.begin = Duration(35);
    run.end = Duration(65);
    two.runs = {run};
    two.communications = {{CommunicationSource::Recv, Stream::Recv,
                           CommunicationKind::Pipeline, 0, 0, Duration(0),
                           Duration(30), Duration(35)}};
    Wait wait;
    wait.splitAt = Duration(30);
    wait.end = Duration(35);
    wait.cause = WaitCause::Recv;
    wait.kind = CommunicationKind::Pipeline;
    wait.task = TaskId(0);
    two.waits = {wait};
    timeline.classes.add(one);
    timeline.classes.add(two);
    timeline.steps = {{Duration(0), Duration(65)}};
    timeline.stepTime = Duration(65);
  }

  ClassTimeline &of(std::size_t c) { return timeline.classes[RankClassId(c)]; }

  bool breaks(std::string_view rule) const {
    for (const std::string &broken : verify(timeline, set))
      if (broken.compare(0, rule.size(), rule) == 0)
        return true;
    return false;
  }
};

} // namespace

TEST_CASE("a timeline that happened breaks no rule") {
  CHECK(verify(Story().timeline, Story().set) == std::vector<std::string>{});
}

TEST_CASE("T1 no two entries of one stream overlap") {
  Story story;
  Run again = story.of(0).runs[0];
  again.begin = Duration(10);
  again.end = Duration(40);
  story.of(0).runs.push_back(again);
  CHECK(story.breaks("T1"));
}

TEST_CASE("T2 every task is there once") {
  Story story;
  story.of(0).communications.clear();
  CHECK(story.breaks("T2"));
  story = Story();
  story.of(0).communications.push_back(story.of(0).communications[0]);
  CHECK(story.breaks("T2"));
}

TEST_CASE("T3 a task begins when its dependences have ended") {
  Story story;
  story.of(1).communications[0].end = Duration(40);
  CHECK(story.breaks("T3"));
}

TEST_CASE("T4 an instruction begins when its dependences have ended") {
  Story story;
  story.timeline.isolated[FormId(0)].instructions[1].begin = Duration(15);
  CHECK(story.breaks("T4"));
}

TEST_CASE("T5 waits and kernels fill the compute stream") {
  Story story;
  story.of(1).waits[0].end = Duration(34);
  CHECK(story.breaks("T5"));
  story = Story();
  story.timeline.isolated[FormId(0)].waits.clear();
  CHECK(story.breaks("T5"));
}

TEST_CASE("T6 a send and its receive agree") {
  Story story;
  story.of(1).communications[0].begin = Duration(31);
  CHECK(story.breaks("T6"));
}

TEST_CASE("T7 an update waits for its reductions") {
  Story story;
  Table<TaskId, Task> &tasks = story.set.classes[RankClassId(1)].tasks;
  tasks[TaskId(1)].pass = PassKind::Update;
  story.of(1).reduces.push_back({});
  story.of(1).communications.push_back(
      {CommunicationSource::Reduce, Stream::Gradients,
       CommunicationKind::Gradients, 0, 0, Duration(20), Duration(20),
       Duration(36)});
  CHECK(story.breaks("T7"));
  story.of(1).communications.back().end = Duration(35);
  CHECK(verify(story.timeline, story.set).empty());
}

TEST_CASE("queries see inside reused runs and cut to the window") {
  Story story;
  RankClassId second(1);
  Window window{Duration(33), Duration(60)};
  std::vector<Wait> waits = waitsIn(story.timeline, second, window);
  REQUIRE(waits.size() == 2);
  CHECK(waits[0].begin == Duration(33));
  CHECK(waits[0].splitAt == Duration(33));
  CHECK(waits[1].begin == Duration(55));
  CHECK(waits[1].end == Duration(60));
  CHECK(waits[1].task == TaskId(1));
  CHECK(busy(story.timeline, story.set, second, Stream::Compute, window) ==
        Duration(20));
  const std::vector<Duration> flown =
      inFlight(story.timeline, story.set, second, window);
  CHECK(flown[static_cast<std::size_t>(CommunicationKind::Tensor)] ==
        Duration(5));
  CHECK(flown[static_cast<std::size_t>(CommunicationKind::Pipeline)] ==
        Duration(2));
  CHECK(pipelineWork(story.timeline, story.set, second, 0) == Duration(30));
  CHECK(windowOf(story.timeline, second).end == Duration(65));
}

TEST_CASE("a timeline prints one line an entry") {
  Story story;
  CHECK(toText(story.timeline, story.set) == R"(timeline step=65ps
block 0 "forward" alone=30ps
    0 20 compute ""
    20 30 tensor ""
class 0 ""
  0 30 compute run 0 step=0 forward micro=-1 "forward"
  30 35 send send 1 step=0 ready=30
class 1 ""
  0 35 wait recv split=30 for=pipeline step=0
  30 35 recv recv 0 step=0 ready=0
  35 65 compute run 1 step=0 forward micro=-1 "forward"
)");
}
