#include "tests/unit/lower/Lowered.h"

#include "tests/unit/Catch.h"

using namespace planc;
using namespace planc::lower;
using program::InstructionKind;
using program::TaskKind;

namespace {

LoweredSpec llama() {
  ops::tiny::Sizes sizes;
  sizes.layers = 6;
  sizes.batch = 4;
  LoweredSpec spec;
  spec.model = ops::tiny::llamaLike(sizes);
  spec.axes = {{"r", 2, {"batch"}}, {"p", 4, {}}};
  spec.pipelineOver = "p";
  spec.microBatches = 4;
  return spec;
}

std::int64_t parameters(const ops::Model &model) {
  return ops::parameterCount(model);
}

} // namespace

TEST_CASE("programs are sound, one class a stage") {
  auto whole = lowered(llama());
  CHECK(pipeline::verify(whole->stages).empty());
  CHECK(program::verify(whole->programs).empty());
  REQUIRE(whole->programs.classes.size() == 4);
  for (const program::RankProgram &rank : whole->programs.classes)
    CHECK(rank.ranks == 2);
}

TEST_CASE("a send for every cut and direction, a receive at its other end") {
  auto whole = lowered(llama());
  std::int64_t sends = 0, receives = 0;
  for (const program::RankProgram &rank : whole->programs.classes)
    for (const program::Task &task : rank.tasks) {
      sends += task.kind == TaskKind::Send;
      receives += task.kind == TaskKind::Recv;
      if (task.kind == TaskKind::Send || task.kind == TaskKind::Recv)
        // [batch / 2, seq, hidden] in bf16.
        CHECK(task.message.bytes.value == 2 * 4 * 8 * 2);
    }
  CHECK(sends == 2 * 4 * 3);
  CHECK(receives == sends);
}

TEST_CASE("stages together hold every parameter once") {
  auto whole = lowered(llama());
  std::int64_t bytes = 0;
  for (const program::RankProgram &rank : whole->programs.classes)
    bytes += rank.memory.parameters.value;
  CHECK(bytes == 2 * parameters(whole->graph.model));
}

TEST_CASE(
    "every gradient goes home once: all-reduced, or scattered to its owner") {
  auto plain = lowered(llama());
  LoweredSpec spec = llama();
  spec.optimizerOver = {"r"};
  auto cut = lowered(spec);
  std::int64_t reduced = 0, scattered = 0, gathered = 0;
  for (const program::RankProgram &rank : plain->programs.classes) {
    CHECK(rank.gathers.empty());
    for (const program::Piece &piece : rank.reduces) {
      CHECK(piece.collective == InstructionKind::AllReduce);
      reduced += piece.message.bytes.value;
    }
  }
  for (const program::RankProgram &rank : cut->programs.classes) {
    for (const program::Piece &piece : rank.reduces) {
      CHECK(piece.collective == InstructionKind::ReduceScatter);
      scattered += piece.message.bytes.value;
    }
    for (const program::Piece &piece : rank.gathers)
      gathered += piece.message.bytes.value;
  }
  std::int64_t count = parameters(plain->graph.model);
  CHECK(reduced == 4 * count);   // fp32
  CHECK(scattered == 4 * count); // fp32
  CHECK(gathered == 2 * count);  // bf16
  // Optimizer states: master and two moments in fp32, cut in two.
  std::int64_t all = 0, half = 0;
  for (std::size_t s = 0; s < 4; ++s) {
    program::RankClassId id(s);
    all += plain->programs.classes[id].memory.optimizer.value;
    half += cut->programs.classes[id].memory.optimizer.value;
  }
  CHECK(all == 12 * count);
  CHECK(half == 6 * count);
}

TEST_CASE("weights tied over stages are summed over just those stages") {
  ops::tiny::Sizes sizes;
  sizes.layers = 6;
  sizes.batch = 4;
  sizes.keyHeads = sizes.heads;
  sizes.tied = true;
  LoweredSpec spec = llama();
  spec.model = ops::tiny::gptLike(sizes);
  auto whole = lowered(spec);
  REQUIRE(program::verify(whole->programs).empty());
  for (std::size_t s = 0; s < 4; ++s) {
    std::int64_t shared = 0;
    for (const program::Task &task :
         whole->programs.classes[program::RankClassId(s)].tasks)
      if (task.kind == TaskKind::Collective &&
          task.message.kind == program::CommunicationKind::Gradients) {
        ++shared;
        CHECK(task.message.members() == 2);
        CHECK(task.message.bytes.value == 4 * sizes.vocab * sizes.hidden);
      }
    CHECK(shared == (s == 0 || s == 3 ? 1 : 0));
  }
}

TEST_CASE("activations follow the order: fewer in flight on later stages") {
  auto whole = lowered(llama());
  const auto &classes = whole->programs.classes;
  // Stages 1 and 2 hold two layers and 3 and 2 micro-batches.
  Bytes first = classes[program::RankClassId(1)].memory.activations;
  Bytes second = classes[program::RankClassId(2)].memory.activations;
  CHECK(first.value * 2 == second.value * 3);
}

TEST_CASE("chunks of equal layers share their blocks") {
  auto whole = lowered(llama());
  // embed + 1 layer, 2 layers, 1 layer + head: three forwards, three backwards;
  // and an update a stage.
  CHECK(whole->programs.blocks.size() <= 2 * 4 + 4);
  CHECK(program::toText(whole->programs) ==
        program::toText(lowered(llama())->programs));
}
