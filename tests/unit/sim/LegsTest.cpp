#include "tests/unit/Catch.h"

#include "runtime/sched/TwoLinks.h"
#include "runtime/sim/CompareOrders.h"
#include "tests/unit/sched/Buckets.h"
#include "tests/unit/sim/Pipelines.h"

#include <random>

using namespace planc;
using namespace planc::test;

namespace {

constexpr std::int64_t kGibibyte = std::int64_t(1) << 30;
/// What bytes are counted in, so that no cost is rounded.
constexpr std::int64_t kUnit = 16 * kGibibyte;

/// A backward whose gradients are reduced over one group, then over another.
struct TwoLegs {
  ProgramSet set;
  sim::Costs costs;
  std::vector<sched::Item> items; ///< as the backward makes them
  sched::TwoLinks links;
  Duration update = Duration(1);
};

Piece pieceOver(std::int64_t members, std::int64_t bytes) {
  Piece piece;
  piece.task = TaskId(0);
  piece.message.bytes = Bytes(bytes);
  piece.message.sizes = {members};
  piece.message.strides = {1};
  piece.message.kind = CommunicationKind::Gradients;
  return piece;
}

TwoLegs twoLegs(std::mt19937 &random) {
  const auto between = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  TwoLegs out;
  for (sched::LinkCost *link : {&out.links.first, &out.links.second})
    *link = {Duration(between(0, 40)), between(0, 4)};
  Block block{"backward", {}};
  RankProgram rank;
  Duration ready(0);
  const std::int64_t pieces = between(1, 7);
  for (std::int64_t i = 0; i < pieces; ++i) {
    Instruction kernel;
    kernel.kind = InstructionKind::MatMul;
    kernel.duration = Duration(between(1, 100));
    block.instructions.push_back(kernel);
    ready += *kernel.duration;
    const std::int64_t bytes = between(1, 3) * kUnit;
    out.items.push_back({ready, Bytes(bytes)});
    for (std::int64_t members : {2, 4}) {
      Piece piece = pieceOver(members, bytes);
      piece.instruction = static_cast<std::uint32_t>(i);
      rank.reduces.add(piece);
    }
    rank.reduces[PieceId(rank.reduces.size() - 2)].then =
        PieceId(rank.reduces.size() - 1);
  }
  Task run, update;
  run.block = out.set.blocks.add(block);
  run.pass = PassKind::Backward;
  update.block = out.set.blocks.add(kernelBlock("update", out.update));
  update.pass = PassKind::Update;
  rank.tasks.add(run);
  rank.tasks.add(update);
  out.set.classes.add(rank);
  Result<sim::Costs> stated = sim::statedCosts(out.set, {});
  REQUIRE(stated);
  out.costs = *stated;
  out.costs.bucket = [links = out.links](const RankProgram &,
                                         const Piece &piece, Bytes bytes) {
    sim::OpCost cost;
    cost.duration =
        (piece.message.sizes[0] == 2 ? links.first : links.second).of(bytes);
    return cost;
  };
  return out;
}

} // namespace

TEST_CASE("second legs run beside the next first ones, in the best buckets") {
  std::mt19937 random(11);
  int beside = 0;
  for (int instance = 0; instance < 300; ++instance) {
    CAPTURE(instance);
    const TwoLegs problem = twoLegs(random);
    REQUIRE(program::verify(problem.set) == std::vector<std::string>{});
    sim::Options options;
    options.contention = sim::Contention::Off;
    Result<sim::Comparison> compared =
        sim::compareOrders(problem.set, problem.costs, {}, options);
    REQUIRE(compared);
    const Duration step = compared->chosen.timeline.stepTime;
    REQUIRE(step == sched::test::bruteForce(problem.items, problem.links) +
                        problem.update);
    REQUIRE(compared->bounds.anyOrder <= step);
    beside += step < compared->program.timeline.stepTime;
    // In program order, where that is as good, there is one stream.
    if (compared->chosen.order.overlap == sim::Overlap::None)
      continue;
    for (const timeline::Communication &one :
         compared->chosen.timeline.classes[RankClassId(0)].communications)
      REQUIRE(one.stream == (compared->chosen.order.classes[RankClassId(0)]
                                         .reduces[one.index]
                                         .after == timeline::Bucket::kNone
                                 ? Stream::Gradients
                                 : Stream::Sums));
  }
  CHECK(beside > 100);
}
