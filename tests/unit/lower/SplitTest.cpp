// Backwards cut in two, and programs under every schedule.
#include "compiler/lower/MergePasses.h"
#include "tests/unit/lower/Lowered.h"

#include "tests/unit/Catch.h"

#include <random>
#include <set>

using namespace planc;
using namespace planc::lower;
using program::Instruction;
using program::InstructionKind;
using program::PassKind;
using program::TaskKind;

namespace {

// Korthikanti et al. (arXiv 2205.05198) with s = 64, b = 2, h = 128, a = 4.
constexpr std::int64_t kSbh = 64 * 2 * 128;

LoweredSpec gpt() {
  ops::tiny::Sizes sizes;
  sizes.layers = 8;
  sizes.batch = 2;
  sizes.seq = 64;
  sizes.hidden = 128;
  sizes.heads = sizes.keyHeads = 4;
  sizes.headSize = 32;
  sizes.ffn = 4 * 128;
  sizes.vocab = 256;
  sizes.dropout = 0.1;
  LoweredSpec spec;
  spec.model = ops::tiny::gptLike(sizes);
  spec.options.attention = graph::GraphOptions::AttentionKernel::Unfused;
  spec.axes = {{"one", 1, {}}};
  return spec;
}

std::int64_t flopsOf(const LoweredPass &pass) {
  std::int64_t flops = 0;
  for (const Instruction &instruction : pass.instructions)
    flops += instruction.work.flops.value;
  return flops;
}

LoweredSpec piped(sema::Schedule schedule) {
  LoweredSpec spec = gpt();
  spec.axes = {{"r", 2, {"batch"}}, {"p", 4, {}}};
  spec.pipelineOver = "p";
  spec.microBatches = 8;
  spec.schedule = schedule;
  spec.duration = [](const Instruction &instruction) {
    return Duration(1 + instruction.work.flops.value / 1000 +
                    instruction.message.bytes.value / 10);
  };
  using schedules::ChunksPerRank;
  switch (schedules::infoOf(schedule).chunks) {
  case ChunksPerRank::One:
    break;
  case ChunksPerRank::Two:
  case ChunksPerRank::Waves:
  case ChunksPerRank::AsAsked:
    spec.virtualStages = 2;
    break;
  }
  return spec;
}

} // namespace

TEST_CASE("weight gradients wait with 32 sbh bytes of a layer") {
  // Table 2 of Qi et al. (2401.10241): M_W = 32 sbh.
  auto whole = lowered(gpt());
  CHECK(bodyOf(*whole, "decoder").split.retained.value == 32 * kSbh);
}

TEST_CASE("a backward in two is the same work") {
  for (const RerunChoice &recompute :
       {RerunChoice{}, RerunChoice{true, false, {}},
        RerunChoice{false, true, {}}}) {
    LoweredSpec spec = gpt();
    spec.axes = {{"t", 2, {"heads", "ffn", "vocab", "seq"}}};
    spec.recompute = recompute;
    auto all = lowered(spec);
    for (const std::vector<LoweredBody> &forms : all->bodies.forms) {
      const LoweredBody &body = forms.front();
      CHECK(flopsOf(body.split.input) + flopsOf(body.split.weight) ==
            flopsOf(body.backward));
      CHECK(body.split.inputGradients.size() +
                body.split.weightGradients.size() ==
            body.gradients.size());
      CHECK(body.split.made <= body.split.retained);
      for (const LoweredPass *pass : {&body.split.input, &body.split.weight})
        for (std::uint32_t i = 0; i < pass->instructions.size(); ++i)
          for (std::uint32_t dep : pass->instructions[i].deps)
            CHECK(dep < i);
    }
    const LoweredBody &layer = bodyOf(*all, "decoder");
    CHECK(layer.split.weight.reads.empty());
    CHECK(layer.split.weight.writes.empty());
    CHECK(layer.split.input.writes.size() == 1);
  }
}

TEST_CASE("programs of every schedule are sound") {
  for (const schedules::ScheduleInfo &info : schedules::allSchedules()) {
    if (info.takes & schedules::kSlices)
      continue;
    INFO(info.name);
    auto whole = lowered(piped(info.schedule));
    CHECK(pipeline::verify(whole->stages).empty());
    CHECK(program::verify(whole->programs) == std::vector<std::string>());
    // Every weight's gradient goes home once from each rank that holds it.
    std::int64_t reduced = 0, messages = 0;
    for (const program::RankProgram &rank : whole->programs.classes) {
      for (const program::Piece &piece : rank.reduces)
        reduced += piece.message.bytes.value;
      for (const program::Task &task : rank.tasks)
        messages += task.kind == TaskKind::Send;
    }
    std::int64_t copies = schedules::copiesOf(info.placement);
    CHECK(reduced == copies * 4 * ops::parameterCount(whole->graph.model));
    std::int64_t crossings = 0;
    for (std::int64_t c = 1; c < 4 * whole->stages.virtualStages; ++c)
      crossings +=
          whole->stages.stageOf(0, c) != whole->stages.stageOf(0, c - 1);
    CHECK(messages == 2 * 8 * crossings);
  }
}

TEST_CASE("two copies of the model: memory twice, gradients summed over both") {
  auto one = lowered(piped(sema::Schedule::OneFOneB));
  for (sema::Schedule schedule :
       {sema::Schedule::DualPipe, sema::Schedule::Chimera}) {
    auto two = lowered(piped(schedule));
    std::int64_t before = 0, after = 0, summed = 0;
    for (const program::RankProgram &rank : one->programs.classes)
      before += rank.memory.parameters.value;
    std::set<std::int64_t> strides;
    for (const program::RankProgram &rank : two->programs.classes) {
      after += rank.memory.parameters.value;
      for (const program::Task &task : rank.tasks)
        if (task.kind == TaskKind::Collective &&
            task.message.kind == program::CommunicationKind::Gradients) {
          CHECK(task.message.sizes == std::vector<std::int64_t>{2});
          strides.insert(task.message.strides.at(0));
          summed += task.message.bytes.value;
        }
    }
    CHECK(after == 2 * before);
    CHECK(strides == std::set<std::int64_t>{2});
    // Each layer once on each of its two holders.
    CHECK(summed >= 2 * 4 * ops::parameterCount(two->graph.model));
  }
}

TEST_CASE("a merged pair keeps every instruction and is never slower") {
  std::mt19937 random(11);
  std::int64_t shorter = 0;
  for (int instance = 0; instance < 400; ++instance) {
    program::Block blocks[2];
    for (program::Block &block : blocks) {
      std::size_t count = 1 + random() % 12;
      for (std::uint32_t i = 0; i < count; ++i) {
        Instruction instruction;
        instruction.stream =
            random() % 3 ? program::Stream::Compute : program::Stream::Tensor;
        instruction.duration =
            Duration(static_cast<std::int64_t>(random() % 20));
        if (i > 0)
          instruction.deps.push_back(static_cast<std::uint32_t>(random() % i));
        block.instructions.push_back(instruction);
      }
    }
    InstructionTime time = [](const Instruction &i) { return *i.duration; };
    MergedPasses merged = mergePasses(blocks[0], blocks[1], time);
    MergedPasses simple = concatenatePasses(blocks[0], blocks[1]);
    CHECK(lengthOf(merged.block.instructions, time) <=
          lengthOf(simple.block.instructions, time));
    shorter += lengthOf(merged.block.instructions, time) <
               lengthOf(simple.block.instructions, time);
    REQUIRE(merged.block.instructions.size() ==
            simple.block.instructions.size());
    const std::vector<std::uint32_t> *places[] = {&merged.first,
                                                  &merged.second};
    for (std::size_t b = 0; b < 2; ++b)
      for (std::size_t i = 0; i < blocks[b].instructions.size(); ++i) {
        const Instruction &was = blocks[b].instructions[i];
        const Instruction &is = merged.block.instructions[(*places[b])[i]];
        CHECK(is.duration == was.duration);
        REQUIRE(is.deps.size() == was.deps.size());
        for (std::uint32_t dep : was.deps)
          CHECK(std::count(is.deps.begin(), is.deps.end(), (*places[b])[dep]) ==
                1);
        for (std::uint32_t dep : is.deps)
          CHECK(dep < (*places[b])[i]);
      }
  }
  CHECK(shorter > 200);
}
