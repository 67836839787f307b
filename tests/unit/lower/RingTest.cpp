// Attention around a ring: who holds what, and the work of every step.
#include "tests/unit/Catch.h"

#include "compiler/lower/RingBlocks.h"
#include "tests/unit/lower/Lowered.h"

#include <algorithm>

using namespace planc;
using namespace planc::lower;

namespace {

/// By asking every pair.
std::int64_t countPairs(Positions queries, Positions keys, const Mask &mask) {
  std::int64_t count = 0;
  for (std::int64_t q = queries.begin; q < queries.end; ++q)
    for (std::int64_t k = keys.begin; k < keys.end; ++k)
      count += (!mask.causal || k <= q) &&
               (!mask.window || k > q - *mask.window) &&
               (!mask.document || k / *mask.document == q / *mask.document);
  return count;
}

const std::vector<Mask> kMasks = {
    {true, {}, {}}, {false, {}, {}}, {true, 5, {}},  {true, {}, 6},
    {true, 3, 7},   {true, 100, {}}, {false, {}, 4},
};

} // namespace

TEST_CASE("pairs of two ranges, counted and in closed form") {
  for (const Mask &mask : kMasks)
    for (std::int64_t a = 0; a < 24; a += 3)
      for (std::int64_t b = 0; b < 24; b += 4) {
        Positions queries{a, a + 7}, keys{b, b + 5};
        CHECK(pairsBetween(queries, keys, mask) ==
              countPairs(queries, keys, mask));
      }
}

TEST_CASE("a causal ring is cut so that every step of every rank is equal") {
  Mask causal{true, {}, {}};
  for (std::int64_t n : {2, 4, 8}) {
    const std::int64_t chunk = 10;
    std::vector<RingStepPairs> steps = ringPairs(2 * n * chunk, {n}, causal);
    REQUIRE(steps.size() == static_cast<std::size_t>(n));
    for (std::size_t t = 1; t < steps.size(); ++t) {
      CHECK(steps[t].most == 2 * chunk * chunk);
      CHECK(steps[t].all == n * 2 * chunk * chunk);
    }
    // Its own keys: two triangles with their diagonals, and a square.
    CHECK(steps[0].most == 2 * chunk * chunk + chunk);
  }
}

TEST_CASE("all pairs of a sequence are met once around a ring") {
  for (const Mask &mask : kMasks)
    for (const std::vector<std::int64_t> &sizes :
         std::vector<std::vector<std::int64_t>>{{2}, {4}, {2, 2}, {2, 4}}) {
      Int128 sum = 0;
      for (const RingStepPairs &step : ringPairs(32, sizes, mask))
        sum += step.all;
      CHECK(sum == countPairs({0, 32}, {0, 32}, mask));
    }
}

TEST_CASE("a window leaves far steps of a ring idle") {
  // Chunks of 16; a query sees its own and the chunk before.
  std::vector<RingStepPairs> steps = ringPairs(128, {4}, {true, 8, {}});
  Int128 sum = 0;
  for (const RingStepPairs &step : steps)
    sum += step.all;
  CHECK(steps[0].all * 2 > sum);
  CHECK(steps[2].all == 0);
}

namespace {

using program::InstructionKind;

LoweredSpec around(std::int64_t members) {
  ops::tiny::Sizes sizes;
  sizes.seq = 64;
  LoweredSpec spec;
  spec.model = ops::tiny::llamaLike(sizes);
  spec.axes = {{"c", members, {"seq"}}};
  return spec;
}

std::vector<program::Instruction> only(const LoweredPass &pass,
                                       InstructionKind kind) {
  std::vector<program::Instruction> out;
  std::copy_if(pass.instructions.begin(), pass.instructions.end(),
               std::back_inserter(out),
               [&](const auto &i) { return i.kind == kind; });
  return out;
}

struct Sums {
  std::int64_t flops = 0, model = 0, bytes = 0;
};
Sums sumsOf(const LoweredPass &pass) {
  Sums out;
  for (const program::Instruction &i : pass.instructions) {
    bool isAttention = i.kind == InstructionKind::Attention ||
                       i.kind == InstructionKind::AttentionGrad;
    out.flops += isAttention ? i.work.flops.value : 0;
    out.model += isAttention ? i.work.modelFlops.value : 0;
    std::int64_t n = i.message.members();
    if (i.kind == InstructionKind::CollectivePermute)
      out.bytes += i.message.bytes.value;
    else if (i.kind == InstructionKind::AllGather ||
             i.kind == InstructionKind::ReduceScatter)
      out.bytes += i.message.bytes.value / n * (n - 1);
  }
  return out;
}

} // namespace

TEST_CASE("a ring does the work of the gather and sends its bytes, in steps") {
  LoweredSpec spec = around(4);
  auto gather = lowered(spec);
  spec.ringOver = "c";
  for (bool overlap : {false, true}) {
    spec.overlapContext = overlap;
    auto ring = lowered(spec);
    const LoweredBody &whole = bodyOf(*gather, "decoder");
    const LoweredBody &steps = bodyOf(*ring, "decoder");
    for (bool forward : {true, false}) {
      const LoweredPass &a = forward ? whole.forward : whole.backward;
      const LoweredPass &b = forward ? steps.forward : steps.backward;
      Sums wanted = sumsOf(a), found = sumsOf(b);
      CHECK(found.model == wanted.model);
      CHECK(found.bytes == wanted.bytes);
      // Model FLOPs leave the diagonal's half out; pairs do not.
      CHECK(std::abs(found.flops - wanted.flops) <= wanted.flops / 10);
      CHECK(only(b, InstructionKind::CollectivePermute).size() ==
            (forward ? 3 : 6));
      CHECK(only(b, forward ? InstructionKind::Attention
                            : InstructionKind::AttentionGrad)
                .size() == 4);
      CHECK(only(b, InstructionKind::AllGather).empty());
      CHECK(only(b, InstructionKind::ReduceScatter).empty());
      for (const auto &message : only(b, InstructionKind::CollectivePermute)) {
        CHECK(message.stream == program::Stream::Context);
        CHECK(message.message.kind == program::CommunicationKind::Context);
      }
    }
    // Keys and values of two blocks, not of the whole sequence.
    CHECK(steps.transient <= whole.transient);
    CHECK(steps.saved == whole.saved);
  }
}

TEST_CASE("with overlap a message leaves before the block it travels beside") {
  LoweredSpec spec = around(4);
  spec.ringOver = "c";
  for (bool overlap : {false, true}) {
    spec.overlapContext = overlap;
    auto ring = lowered(spec);
    const auto &all = bodyOf(*ring, "decoder").forward.instructions;
    std::vector<std::uint32_t> blocks, messages;
    for (std::uint32_t i = 0; i < all.size(); ++i) {
      if (all[i].kind == InstructionKind::Attention)
        blocks.push_back(i);
      if (all[i].kind == InstructionKind::CollectivePermute)
        messages.push_back(i);
    }
    REQUIRE(blocks.size() == 4);
    REQUIRE(messages.size() == 3);
    for (std::size_t t = 0; t < 3; ++t) {
      auto dependsOn = [&](std::uint32_t i, std::uint32_t on) {
        return std::count(all[i].deps.begin(), all[i].deps.end(), on) > 0;
      };
      CHECK(dependsOn(blocks[t + 1], messages[t]));
      CHECK((messages[t] < blocks[t]) == overlap);
      CHECK(dependsOn(messages[t], blocks[t]) == !overlap);
    }
  }
}

TEST_CASE(
    "a fused linear loss holds a chunk of the logits and makes them twice") {
  ops::tiny::Sizes sizes;
  sizes.vocab = 64;
  LoweredSpec spec;
  spec.model = ops::tiny::llamaLike(sizes);
  spec.axes = {{"d", 1, {"batch"}}};
  auto fused = lowered(spec);
  spec.options.loss = graph::GraphOptions::Loss::Linear;
  auto linear = lowered(spec);
  const LoweredBody &a = bodyOf(*fused, "head"), &b = bodyOf(*linear, "head");
  const std::int64_t tokens = sizes.batch * sizes.seq;
  // fp32 logits are not kept; what the head's norm gives is anyway.
  CHECK(a.saved.value - b.saved.value == tokens * 64 * 4);
  // A chunk of fp32 logits, and of their gradient, has the elements of x.
  CHECK(b.transient.value <= tokens * sizes.hidden * (4 + 2 + 2 + 2));
  CHECK(a.transient.value >= tokens * 64 * 2);
  auto products = [](const LoweredPass &pass) {
    return only(pass, InstructionKind::MatMul);
  };
  CHECK(products(b.forward).size() == products(a.forward).size());
  REQUIRE(products(b.backward).size() == products(a.backward).size() + 1);
  CHECK(products(b.backward)[0].phase == program::Phase::Recompute);
  // 64 columns in chunks of 8: a launch each, the weight's gradient read and
  // written by each.
  for (const auto &each : products(b.backward))
    CHECK(each.work.kernels == 8);
  for (const auto &each : products(b.backward))
    if (each.phase == program::Phase::WeightGradient)
      CHECK(each.work.bytesWritten.value == 8 * 64 * sizes.hidden * 4);
}
