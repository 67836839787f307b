#include "tests/unit/Catch.h"

#include "runtime/sim/Engine.h"
#include "runtime/timeline/Queries.h"
#include "tests/unit/sim/Pipelines.h"

using namespace planc;
using namespace planc::test;
using namespace planc::timeline;

namespace {

Instruction kernel(std::int64_t duration) {
  Instruction out;
  out.kind = InstructionKind::MatMul;
  out.duration = Duration(duration);
  return out;
}

Instruction gather(std::int64_t duration, std::vector<std::uint32_t> deps) {
  Instruction out;
  out.kind = InstructionKind::AllGather;
  out.stream = Stream::Tensor;
  out.message.kind = CommunicationKind::Tensor;
  out.duration = Duration(duration);
  out.deps = std::move(deps);
  return out;
}

Timeline simulate(const ProgramSet &set, const sim::IssueOrder &order,
                  std::int64_t bucket, std::int32_t steps) {
  REQUIRE(program::verify(set) == std::vector<std::string>{});
  Result<sim::Costs> costs =
      sim::statedCosts(set, {Duration(bucket), Duration(0)});
  REQUIRE(costs);
  sim::Options options;
  options.steps = steps;
  Result<Timeline> timeline = sim::simulate(set, *costs, order, options);
  REQUIRE(timeline);
  CHECK(timeline::verify(*timeline, set) == std::vector<std::string>{});
  return *timeline;
}

/// `cause begin split end`, one line a wait of class c.
std::string waits(const Timeline &timeline, std::size_t c) {
  std::string out;
  Window all{Duration(0), Duration(1'000'000)};
  for (const Wait &wait : waitsIn(timeline, RankClassId(c), all))
    out += std::string(toString(wait.cause)) + " " +
           std::to_string(wait.begin.value) + " " +
           std::to_string(wait.splitAt.value) + " " +
           std::to_string(wait.end.value) + "\n";
  return out;
}

/// Two stages, one micro-batch, messages of 10 ps, forward 100, backward 200.
ProgramSet twoStages() {
  PipelineShape shape;
  shape.ranks = 2;
  shape.micros = 1;
  shape.hop = Duration(10);
  shape.update = Duration(50);
  return pipelineProgram(shape, gpipe(shape));
}

void addReduce(ProgramSet &set, std::size_t c) {
  RankProgram &rank = set.classes[RankClassId(c)];
  for (TaskId id : rank.tasks.ids())
    if (rank.tasks[id].pass == PassKind::Backward) {
      Piece piece;
      piece.task = id;
      piece.instruction = 1;
      piece.message.bytes = Bytes(1);
      piece.message.kind = CommunicationKind::Gradients;
      rank.reduces.add(piece);
    }
}

} // namespace

TEST_CASE("a receive is bubble before the message is on the wire (M5)") {
  ProgramSet set = twoStages();
  Timeline timeline = simulate(set, sim::frameworkIssue(set, {}), 0, 1);
  // Stage 0: forward 0-100, backward 420-620. Stage 1: 110-410.
  CHECK(waits(timeline, 0) == "recv 100 410 420\n");
  CHECK(waits(timeline, 1) == "recv 0 100 110\nnothing-left 410 620 620\n");
}

TEST_CASE("a reduction is exposed after the pipeline has ended (M5)") {
  ProgramSet set = twoStages();
  addReduce(set, 0);
  addReduce(set, 1);
  Timeline timeline = simulate(set, sim::frameworkIssue(set, {}), 300, 1);
  // Stage 1 reduces 410-710, stage 0 620-920: the pipeline ends at 620.
  CHECK(waits(timeline, 0) == "recv 100 410 420\nreduce 620 620 920\n");
  CHECK(waits(timeline, 1) == "recv 0 100 110\n"
                              "nothing-left 410 620 620\n"
                              "reduce 620 620 710\n"
                              "join 710 920 920\n");
}

TEST_CASE("a norm collective is skew until its last member joins (M5)") {
  ProgramSet set = twoStages();
  addReduce(set, 0);
  addReduce(set, 1);
  for (std::size_t c : {0, 1}) {
    RankProgram &rank = set.classes[RankClassId(c)];
    Task norm;
    norm.kind = TaskKind::Collective;
    norm.stream = Stream::Gradients;
    norm.tag = 7;
    norm.duration = Duration(5);
    norm.message.kind = CommunicationKind::Norm;
    Task update = rank.tasks[TaskId(rank.tasks.size() - 1)];
    rank.tasks[TaskId(rank.tasks.size() - 1)] = norm;
    update.deps.push_back(TaskId(rank.tasks.size() - 1));
    rank.tasks.add(update);
  }
  Timeline timeline = simulate(set, sim::frameworkIssue(set, {}), 300, 1);
  CHECK(waits(timeline, 0) ==
        "recv 100 410 420\nreduce 620 620 920\ncollective 920 920 925\n");
  CHECK(waits(timeline, 1) == "recv 0 100 110\n"
                              "nothing-left 410 620 620\n"
                              "reduce 620 620 710\n"
                              "collective 710 920 925\n");
}

TEST_CASE("a collective inside a block is exposed where kernels wait (M5)") {
  ProgramSet set;
  // A gather beside the second kernel; the third needs it.
  Block block{
      "block",
      {kernel(100), gather(150, {0}), kernel(60), kernel(40), gather(30, {3})}};
  block.instructions[3].deps = {1, 2};
  Task run;
  run.block = set.blocks.add(block);
  RankProgram rank;
  rank.tasks.add(run);
  rank.tasks.add(run);
  set.classes.add(rank);
  Timeline timeline = simulate(set, sim::frameworkIssue(set, {}), 0, 1);
  // 0-100, 100-160, gather to 250, 250-290, gather to 320; then once more.
  CHECK(waits(timeline, 0) == "instruction 160 160 250\n"
                              "instruction 290 290 320\n"
                              "instruction 480 480 570\n"
                              "instruction 610 610 640\n");
  std::vector<Wait> all =
      waitsIn(timeline, RankClassId(0), {Duration(0), Duration(700)});
  CHECK(all[0].index == 1);
  CHECK(all[1].index == 4);
  CHECK(all[2].task == TaskId(1));
  CHECK(all[0].kind == CommunicationKind::Tensor);
  Window half{Duration(200), Duration(300)};
  CHECK(inFlight(timeline, set, RankClassId(0),
                 half)[static_cast<std::size_t>(CommunicationKind::Tensor)] ==
        Duration(60));
  CHECK(busy(timeline, set, RankClassId(0), Stream::Compute, half) ==
        Duration(40));
  CHECK(waitsIn(timeline, RankClassId(0), half).size() == 2);
}

TEST_CASE("parameters are awaited where they are used, from the second step") {
  ProgramSet set;
  Task run, update;
  run.block = set.blocks.add({"forward", {kernel(100), kernel(100)}});
  update.block = set.blocks.add({"update", {kernel(50)}});
  update.pass = PassKind::Update;
  RankProgram rank;
  rank.tasks.add(run);
  rank.tasks.add(update);
  Piece piece;
  piece.kind = Piece::Kind::Gather;
  piece.collective = InstructionKind::AllGather;
  piece.message.bytes = Bytes(1);
  piece.message.kind = CommunicationKind::Parameters;
  piece.task = TaskId(1);
  piece.uses = {{TaskId(0), 1}};
  rank.gathers.add(piece);
  set.classes.add(rank);

  Timeline timeline = simulate(set, sim::frameworkIssue(set, {}), 130, 2);
  // The update ends at 250; the first kernel hides 100 ps of the gather.
  CHECK(waits(timeline, 0) == "gather 350 350 380\n");
  CHECK(timeline.stepTime == Duration(280));

  Timeline plain = simulate(set, sim::programIssue(set), 130, 2);
  CHECK(waits(plain, 0) == "gather 250 250 380\n");
  CHECK(plain.stepTime == Duration(380));
}

TEST_CASE("without overlap reductions wait for the last backward") {
  ProgramSet set;
  Task run, update;
  run.block = set.blocks.add({"backward", {kernel(100), kernel(100)}});
  run.pass = PassKind::Backward;
  update.block = set.blocks.add({"update", {kernel(50)}});
  update.pass = PassKind::Update;
  RankProgram rank;
  rank.tasks.add(run);
  rank.tasks.add(update);
  Piece piece;
  piece.message.bytes = Bytes(30 << 20);
  piece.message.kind = CommunicationKind::Gradients;
  piece.task = TaskId(0);
  rank.reduces.add(piece);
  piece.instruction = 1;
  rank.reduces.add(piece);
  set.classes.add(rank);
  Timeline overlapped = simulate(set, sim::frameworkIssue(set, {}), 80, 1);
  CHECK(waits(overlapped, 0) == "reduce 200 200 280\n");
  Timeline plain = simulate(set, sim::programIssue(set), 80, 1);
  CHECK(waits(plain, 0) == "reduce 200 200 280\n");
  CHECK(plain.classes[RankClassId(0)].communications.size() == 1);
  CHECK(plain.classes[RankClassId(0)].communications[0].begin == Duration(200));
  CHECK(overlapped.classes[RankClassId(0)].communications[0].begin ==
        Duration(100));
}

TEST_CASE("hybrid sharding: the second reduction follows the first") {
  ProgramSet set;
  Task run;
  run.block = set.blocks.add({"backward", {kernel(100)}});
  run.pass = PassKind::Backward;
  RankProgram rank;
  rank.tasks.add(run);
  Piece scatter;
  scatter.collective = InstructionKind::ReduceScatter;
  scatter.message.bytes = Bytes(8);
  scatter.task = TaskId(0);
  scatter.then = PieceId(1);
  Piece reduce;
  reduce.message.bytes = Bytes(4);
  reduce.task = TaskId(0);
  rank.reduces.add(scatter);
  rank.reduces.add(reduce);
  set.classes.add(rank);
  sim::IssueOrder order = sim::frameworkIssue(set, {});
  REQUIRE(sim::verify(order, set) == std::vector<std::string>{});
  Timeline timeline = simulate(set, order, 30, 1);
  const ClassTimeline &of = timeline.classes[RankClassId(0)];
  REQUIRE(of.communications.size() == 2);
  CHECK(of.communications[0].begin == Duration(100));
  CHECK(of.communications[1].begin == Duration(130));
  CHECK(of.reduces[1].after == 0);
}

namespace {

Task collective(std::int64_t tag, std::int64_t duration) {
  Task out;
  out.kind = TaskKind::Collective;
  out.stream = Stream::Gradients;
  out.tag = tag;
  out.duration = Duration(duration);
  out.message.kind = CommunicationKind::Tensor;
  return out;
}

} // namespace

TEST_CASE("a collective holds the stream of whoever has joined") {
  // Stage 1 joins at 210, stage 0 at 620; what stage 1 reduces is ready at 410.
  ProgramSet set = twoStages();
  set.stepEnd = ProgramSet::StepEnd::Free;
  for (std::size_t c : {0, 1}) {
    RankProgram &rank = set.classes[RankClassId(c)];
    Task tied = collective(7, 20);
    for (TaskId id : rank.tasks.ids())
      if (rank.tasks[id].pass ==
              (c == 0 ? PassKind::Backward : PassKind::Forward) &&
          rank.tasks[id].kind == TaskKind::Run)
        tied.deps = {id};
    rank.tasks.add(tied);
  }
  addReduce(set, 1);
  Timeline timeline = simulate(set, sim::frameworkIssue(set, {}), 300, 1);
  const auto &seen = timeline.classes[RankClassId(1)].communications;
  REQUIRE(seen.size() == 4);
  CHECK(seen[2].source == CommunicationSource::Collective);
  CHECK(seen[2].ready == Duration(210));
  CHECK(seen[2].begin == Duration(620));
  CHECK(seen[3].source == CommunicationSource::Reduce);
  CHECK(seen[3].begin == Duration(640));
}

TEST_CASE("a wait over the pipeline's end is bubble before it (M5)") {
  ProgramSet set = twoStages();
  set.stepEnd = ProgramSet::StepEnd::Free;
  RankProgram &rank = set.classes[RankClassId(1)];
  Task update = rank.tasks[TaskId(rank.tasks.size() - 1)];
  Task own = collective(-1, 300);
  for (TaskId id : rank.tasks.ids())
    if (rank.tasks[id].pass == PassKind::Backward)
      own.deps = {id};
  rank.tasks[TaskId(rank.tasks.size() - 1)] = own;
  update.deps = {TaskId(rank.tasks.size() - 1)};
  rank.tasks.add(update);
  Timeline timeline = simulate(set, sim::frameworkIssue(set, {}), 0, 1);
  CHECK(waits(timeline, 1) == "recv 0 100 110\n"
                              "nothing-left 410 620 620\n"
                              "collective 620 620 710\n");
  CHECK(timeline.classes[RankClassId(1)].waits.back().splitAt == Duration(620));
}

TEST_CASE("a collective behind others on its stream is exposed (M5)") {
  ProgramSet set;
  Task run, update;
  run.block = set.blocks.add({"backward", {kernel(100), kernel(100)}});
  run.pass = PassKind::Backward;
  update.block = set.blocks.add({"update", {kernel(50)}});
  update.pass = PassKind::Update;
  RankProgram rank;
  rank.tasks.add(run);
  Task own = collective(-1, 30);
  own.deps = {TaskId(0)};
  update.deps = {rank.tasks.add(own)};
  rank.tasks.add(update);
  Piece piece;
  piece.task = TaskId(0); // ready at 100
  piece.message.bytes = Bytes(1);
  rank.reduces.add(piece);
  set.classes.add(rank);
  Timeline timeline = simulate(set, sim::frameworkIssue(set, {}), 200, 1);
  CHECK(waits(timeline, 0) ==
        "collective 200 200 300\ncollective 300 300 330\n");
}

TEST_CASE("a collective inside an early update stays what it is (M5)") {
  ProgramSet set = twoStages();
  set.stepEnd = ProgramSet::StepEnd::Free;
  Block block{"update", {kernel(20), gather(30, {0}), kernel(10)}};
  block.instructions[2].deps = {1};
  RankProgram &rank = set.classes[RankClassId(1)];
  rank.tasks[TaskId(rank.tasks.size() - 1)].block = set.blocks.add(block);
  Timeline timeline = simulate(set, sim::frameworkIssue(set, {}), 0, 1);
  CHECK(waits(timeline, 1) == "recv 0 100 110\ninstruction 430 430 460\n");
  Result<sim::Costs> costs = sim::statedCosts(set, {});
  Result<Timeline> flat =
      sim::simulate(set, *costs, sim::frameworkIssue(set, {}),
                    {1, sim::Contention::On, sim::Mode::Flat});
  REQUIRE(flat);
  CHECK(waits(*flat, 1) == waits(timeline, 1));
}

TEST_CASE("a receive that waits holds its message back") {
  // Stage 1 takes the second micro-batch only after the first one's forward.
  PipelineShape shape;
  shape.ranks = 2;
  shape.micros = 2;
  shape.hop = Duration(10);
  ProgramSet set = pipelineProgram(shape, gpipe(shape));
  RankProgram &rank = set.classes[RankClassId(1)];
  REQUIRE(rank.tasks[TaskId(2)].kind == TaskKind::Recv);
  rank.tasks[TaskId(2)].deps = {TaskId(1)};
  Timeline timeline = simulate(set, sim::frameworkIssue(set, {}), 0, 1);
  const auto &seen = timeline.classes[RankClassId(1)].communications;
  // The first forward ends at 210; the message left at 200 before.
  CHECK(seen[1].source == CommunicationSource::Recv);
  CHECK(seen[1].ready == Duration(210));
  CHECK(seen[1].begin == Duration(210));
  CHECK(seen[1].end == Duration(220));
}

TEST_CASE("a collective that waits for nothing waits for its step") {
  ProgramSet set;
  Task run;
  run.block = set.blocks.add({"forward", {kernel(100)}});
  RankProgram rank;
  rank.tasks.add(collective(-1, 30));
  rank.tasks.add(run);
  set.classes.add(rank);
  Timeline timeline = simulate(set, sim::frameworkIssue(set, {}), 0, 2);
  const auto &seen = timeline.classes[RankClassId(0)].communications;
  REQUIRE(seen.size() == 2);
  CHECK(seen[0].begin == Duration(0));
  CHECK(seen[1].begin == Duration(100));
}
