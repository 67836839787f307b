// Gradients of weights at the end of an order.
#include "compiler/lower/WeightTail.h"

#include "tests/unit/Catch.h"
#include "tests/unit/lower/Lowered.h"

#include <algorithm>
#include <numeric>

using namespace planc;
using namespace planc::lower;
using program::Instruction;
using schedules::Pass;
using schedules::PassKind;

namespace {

Pass weights(std::int32_t microBatch, std::int32_t chunk) {
  return {PassKind::WeightGradient, microBatch, chunk, 0, false};
}

std::unique_ptr<Lowered> pipelined(sema::Schedule schedule,
                                   std::int64_t virtualStages,
                                   std::int64_t replicas) {
  ops::tiny::Sizes sizes;
  sizes.layers = 8;
  sizes.batch = 4;
  LoweredSpec spec;
  spec.model = ops::tiny::llamaLike(sizes);
  spec.axes = {{"d", replicas, {"batch"}}, {"p", 2, {}}};
  spec.pipelineOver = "p";
  spec.schedule = schedule;
  spec.virtualStages = virtualStages;
  spec.microBatches = 6;
  return lowered(spec);
}

std::int64_t flopsOf(const std::vector<Instruction> &instructions) {
  std::int64_t sum = 0;
  for (const Instruction &i : instructions)
    sum += i.work.flops.value;
  return sum;
}

/// What runs on its own as the pass stands, all of a stage.
std::int64_t weightFlops(const Lowered &of, std::size_t stage) {
  std::int64_t sum = 0;
  for (const Pass &pass : of.stages.orders[stage])
    if (pass.kind == PassKind::WeightGradient) {
      const pipeline::Chunk &chunk =
          of.stages.chunks[static_cast<std::size_t>(pass.chunk)];
      for (std::size_t u = chunk.begin; u < chunk.end; ++u)
        for (ops::BodyId body : of.stages.units[u].bodies)
          sum += flopsOf(of.bodies.of(u, body).split.weight.instructions);
    }
  return sum;
}

std::vector<Pass> tailOf(const Lowered &of, program::RankClassId stage) {
  const schedules::Order &order = of.stages.orders[stage.index()];
  return {order.begin() + static_cast<std::ptrdiff_t>(weightTail(order)),
          order.end()};
}

} // namespace

TEST_CASE(
    "a tail is several passes of weights of one chunk, and nothing else") {
  Pass forward{PassKind::Forward, 0, 0, 0, false};
  CHECK(weightTail({forward}) == 1);
  CHECK(weightTail({forward, weights(0, 0)}) == 2);
  CHECK(weightTail({forward, weights(0, 0), weights(1, 0)}) == 1);
  CHECK(weightTail({weights(0, 0), forward, weights(1, 0)}) == 3);
  CHECK(weightTail({forward, weights(0, 0), weights(0, 3)}) == 3);
  CHECK(weightTail({forward, weights(0, 0), weights(0, 3), weights(1, 0)}) ==
        1);
}

TEST_CASE("chunks with fewest passes come first, then the last of the model") {
  const std::vector<Pass> tail = {weights(2, 0), weights(2, 3), weights(3, 0),
                                  weights(3, 5)};
  const std::vector<TailGroup> groups = groupsOf(tail);
  REQUIRE(groups.size() == 3);
  CHECK(groups[0].chunk == 5);
  CHECK(groups[1].chunk == 3);
  CHECK(groups[2].chunk == 0);
  CHECK(groups[2].passes == 2);
  CHECK(groups[2].lastMicroBatch == 3);
}

TEST_CASE("a tail does the same work in one block, gradients layer by layer") {
  for (auto [schedule, chunks] :
       {std::pair(sema::Schedule::ZBH1, 1), {sema::Schedule::ZBV, 2}}) {
    auto plain = pipelined(schedule, chunks, 2);
    const program::ProgramSet &set = plain->programs;
    CHECK(program::verify(set).empty());
    bool spread = false;
    for (program::RankClassId id : set.classes.ids()) {
      const program::RankProgram &rank = set.classes[id];
      std::int64_t flops = 0;
      program::TaskId last;
      for (program::TaskId task : rank.tasks.ids())
        if (rank.tasks[task].kind == program::TaskKind::Run &&
            rank.tasks[task].pass == program::PassKind::WeightGradient) {
          flops += flopsOf(set.blocks[rank.tasks[task].block].instructions);
          last = task;
        }
      CHECK(flops == weightFlops(*plain, id.index()));
      if (tailOf(*plain, id).empty())
        continue;
      // Every gradient that a product makes is complete in that block, and
      // the first of them when a part of its work is done.
      const std::vector<Instruction> &all =
          set.blocks[rank.tasks[last].block].instructions;
      std::vector<std::int64_t> ready;
      for (const program::Piece &piece : rank.reduces)
        if (piece.task == last) {
          REQUIRE(piece.instruction < all.size());
          CHECK(all[piece.instruction].phase == program::Phase::WeightGradient);
          std::int64_t done = 0;
          for (std::uint32_t i = 0; i <= piece.instruction; ++i)
            done += all[i].work.flops.value;
          ready.push_back(done);
          // After the last micro-batch of a layer, not in the midst.
          const auto before =
              std::count_if(all.begin(), all.begin() + piece.instruction + 1,
                            [&](const Instruction &i) {
                              return i.name == all[piece.instruction].name;
                            });
          CHECK((chunks > 1 || before % std::ssize(tailOf(*plain, id)) == 0));
        }
      REQUIRE(!ready.empty());
      CHECK(std::is_sorted(ready.begin(), ready.end()));
      spread = spread || ready.front() * 3 < flopsOf(all);
    }
    CHECK(spread);
  }
}

TEST_CASE("memory counts what a tail reads until its end") {
  auto plain = pipelined(sema::Schedule::ZBH1, 1, 1);
  for (program::RankClassId id : plain->programs.classes.ids()) {
    const std::vector<Pass> tail = tailOf(*plain, id);
    Bytes read;
    for (const Pass &pass : tail) {
      const pipeline::Chunk &chunk =
          plain->stages.chunks[static_cast<std::size_t>(pass.chunk)];
      for (std::size_t u = chunk.begin; u < chunk.end; ++u)
        for (ops::BodyId body : plain->stages.units[u].bodies)
          read += plain->bodies.of(u, body).split.retained;
    }
    const program::Memory &memory = plain->programs.classes[id].memory;
    CHECK((memory.activations + memory.logits).value >= read.value);
  }
}
