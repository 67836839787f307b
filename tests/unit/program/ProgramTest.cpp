#include "tests/unit/Catch.h"

#include "runtime/program/Names.h"

using namespace planc;
using namespace planc::program;

namespace {

/// Two stages, one micro-batch: forward here, forward there, and an update of
/// each with one reduced piece.
ProgramSet sound() {
  ProgramSet set;
  set.name = "two \"stages\"";
  set.accelerators = 2;
  Instruction kernel;
  kernel.kind = InstructionKind::MatMul;
  kernel.name = "wq";
  kernel.work.m = 4;
  kernel.work.flops = Flops(128);
  kernel.duration = Duration(7);
  Instruction gather;
  gather.kind = InstructionKind::AllGather;
  gather.stream = Stream::Tensor;
  gather.message.bytes = Bytes(64);
  gather.message.sizes = {2};
  gather.message.strides = {1};
  gather.message.kind = CommunicationKind::Tensor;
  gather.deps = {0};
  BlockId block = set.blocks.add({"forward", {kernel, gather}});

  Task run;
  run.block = block;
  run.microBatch = 0;
  Task send;
  send.kind = TaskKind::Send;
  send.stream = Stream::Send;
  send.peer = RankClassId(1);
  send.tag = 5;
  send.message.bytes = Bytes(10);
  send.deps = {TaskId(0)};
  Task recv = send;
  recv.kind = TaskKind::Recv;
  recv.stream = Stream::Recv;
  recv.peer = RankClassId(0);
  recv.deps = {};
  Piece piece;
  piece.message.bytes = Bytes(64);
  piece.task = TaskId(0);
  piece.instruction = 1;

  RankProgram first{"stage 0", 1, 0, {}, {}, {}, {}};
  first.tasks.add(run);
  first.tasks.add(send);
  first.reduces.add(piece);
  RankProgram second{"stage 1", 1, 1, {}, {}, {}, {}};
  second.tasks.add(recv);
  run.deps = {TaskId(0)};
  second.tasks.add(run);
  set.classes.add(first);
  set.classes.add(second);
  return set;
}

/// The first broken rule, `P3`; nothing when sound.
std::string firstRule(const ProgramSet &set) {
  std::vector<std::string> broken = verify(set);
  return broken.empty() ? "" : broken[0].substr(0, broken[0].find(' '));
}

RankProgram &classOf(ProgramSet &set, std::size_t index) {
  return set.classes[RankClassId(index)];
}

} // namespace

TEST_CASE("a sound program breaks no rule") {
  CHECK(verify(sound()) == std::vector<std::string>{});
}

TEST_CASE("P1 ids name what exists") {
  ProgramSet set = sound();
  classOf(set, 0).tasks[TaskId(0)].block = BlockId(3);
  CHECK(firstRule(set) == "P1");
}

TEST_CASE("P2 dependences point backwards") {
  ProgramSet set = sound();
  set.blocks[BlockId(0)].instructions[0].deps = {1};
  CHECK(firstRule(set) == "P2");
  set = sound();
  classOf(set, 0).tasks[TaskId(0)].deps = {TaskId(0)};
  CHECK(firstRule(set) == "P2");
}

TEST_CASE("P3 every send has one receive") {
  ProgramSet set = sound();
  classOf(set, 0).tasks[TaskId(1)].tag = 6;
  CHECK(firstRule(set) == "P3");
  set = sound();
  classOf(set, 1).tasks[TaskId(0)].message.bytes = Bytes(11);
  CHECK(firstRule(set) == "P3");
}

TEST_CASE("P4 pieces hang on runs") {
  ProgramSet set = sound();
  classOf(set, 0).reduces[PieceId(0)].task = TaskId(1);
  CHECK(firstRule(set) == "P4");
  set = sound();
  classOf(set, 0).reduces[PieceId(0)].then = PieceId(0);
  CHECK(firstRule(set) == "P4");
}

TEST_CASE("P5 gathers are used by instructions that exist") {
  ProgramSet set = sound();
  Piece gather;
  gather.kind = Piece::Kind::Gather;
  gather.collective = InstructionKind::AllGather;
  gather.task = TaskId(0);
  gather.uses = {{TaskId(0), 1}};
  classOf(set, 0).gathers.add(gather);
  CHECK(firstRule(set).empty());
  classOf(set, 0).gathers[PieceId(0)].uses = {{TaskId(0), 2}};
  CHECK(firstRule(set) == "P5");
}

TEST_CASE("P6 nothing is negative") {
  ProgramSet set = sound();
  set.blocks[BlockId(0)].instructions[0].duration = Duration(-1);
  CHECK(firstRule(set) == "P6");
  set = sound();
  set.blocks[BlockId(0)].instructions[1].message.strides.clear();
  CHECK(firstRule(set) == "P6");
}

TEST_CASE("P7 runs stay on the compute stream") {
  ProgramSet set = sound();
  classOf(set, 0).tasks[TaskId(0)].stream = Stream::Tensor;
  CHECK(firstRule(set) == "P7");
}

TEST_CASE("P8 a collective of several classes is once in each") {
  ProgramSet set = sound();
  Task norm;
  norm.kind = TaskKind::Collective;
  norm.stream = Stream::Gradients;
  norm.tag = 9;
  classOf(set, 0).tasks.add(norm);
  classOf(set, 1).tasks.add(norm);
  CHECK(firstRule(set).empty());
  classOf(set, 1).tasks.add(norm);
  CHECK(firstRule(set) == "P8");
}

TEST_CASE("P9 reductions reduce") {
  ProgramSet set = sound();
  classOf(set, 0).reduces[PieceId(0)].collective = InstructionKind::AllGather;
  CHECK(firstRule(set) == "P9");
}

TEST_CASE("a program prints one line an entry, defaults left out") {
  CHECK(toText(sound()) ==
        R"(program "two \"stages\"" accelerators=2 {
  block "forward" {
    matmul name="wq" m=4 flops=128 duration=7ps
    all_gather stream=tensor bytes=64B sizes=[2] strides=[1] for=tensor deps=[0]
  }
  class "stage 0" {
    run block=0 micro=0
    send peer=1 tag=5 bytes=10B deps=[0]
    reduce bytes=64B task=0 instruction=1
  }
  class "stage 1" first=1 {
    recv peer=0 tag=5 bytes=10B
    run block=0 micro=0 deps=[0]
  }
}
)");
}

TEST_CASE("names read back") {
  for (int i = 0; i < kStreamCount; ++i)
    CHECK(streamFromName(toString(static_cast<Stream>(i))) ==
          static_cast<Stream>(i));
  for (int i = 0; i <= int(CommunicationKind::Norm); ++i)
    CHECK(communicationKindFromName(toString(static_cast<CommunicationKind>(
              i))) == static_cast<CommunicationKind>(i));
  CHECK(instructionKindFromName("attention-grad") ==
        InstructionKind::AttentionGrad);
  CHECK(classOf(InstructionKind::Recv) == InstructionClass::Transfer);
  CHECK(phaseFromName("weight-gradient") == Phase::WeightGradient);
  CHECK(passFromName("update") == PassKind::Update);
  CHECK(taskKindFromName("collective") == TaskKind::Collective);
  CHECK(taskKindFromName("jump") == std::nullopt);
}
