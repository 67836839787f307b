#include "tests/unit/lower/Lowered.h"

#include "tests/unit/Catch.h"

#include <algorithm>

using namespace planc;
using namespace planc::lower;
using program::InstructionKind;
using program::Phase;

namespace {

// Korthikanti et al. (arXiv 2205.05198) with s = 64, b = 2, h = 128, a = 4.
constexpr std::int64_t kSeq = 64, kBatch = 2, kHidden = 128, kHeads = 4;
constexpr std::int64_t kSbh = kSeq * kBatch * kHidden;
constexpr std::int64_t kScores = 5 * kHeads * kSeq * kSeq * kBatch;

LoweredSpec gpt() {
  ops::tiny::Sizes sizes;
  sizes.layers = 4;
  sizes.batch = kBatch;
  sizes.seq = kSeq;
  sizes.hidden = kHidden;
  sizes.heads = sizes.keyHeads = kHeads;
  sizes.headSize = kHidden / kHeads;
  sizes.ffn = 4 * kHidden;
  sizes.vocab = 256;
  sizes.dropout = 0.1;
  LoweredSpec spec;
  spec.model = ops::tiny::gptLike(sizes);
  spec.options.attention = graph::GraphOptions::AttentionKernel::Unfused;
  spec.axes = {{"one", 1, {}}};
  return spec;
}

std::int64_t savedBy(const LoweredSpec &spec) {
  return bodyOf(*lowered(spec), "decoder").saved.value;
}

std::int64_t count(const std::vector<program::Instruction> &instructions,
                   InstructionKind kind) {
  return std::count_if(instructions.begin(), instructions.end(),
                       [&](const auto &i) { return i.kind == kind; });
}

} // namespace

TEST_CASE("a layer keeps sbh(34 + 5as/h) bytes") {
  CHECK(savedBy(gpt()) == 34 * kSbh + kScores);
}

TEST_CASE("kept narrow: the input of GeLU in half of its bytes") {
  LoweredSpec narrow = gpt();
  narrow.options.saved = Precision::Fp8;
  const auto from = lowered(gpt()), to = lowered(narrow);
  const LoweredBody &wide = bodyOf(*from, "decoder");
  const LoweredBody &kept = bodyOf(*to, "decoder");
  // 4h elements a token, in two bytes or in one.
  CHECK(kept.saved.value == wide.saved.value - 4 * kSbh);
  // The weights of the layer after read its result, not its input.
  CHECK(kept.split.retained.value == wide.split.retained.value);

  const auto &instructions = kept.forward.instructions;
  REQUIRE(instructions.size() == wide.forward.instructions.size() + 1);
  CHECK(instructions.back().work.bytesRead.value == 8 * kSbh);
  CHECK(instructions.back().work.bytesWritten.value == 4 * kSbh);
  auto read = [](const LoweredBody &body) {
    std::int64_t bytes = 0;
    for (const auto &each : body.backward.instructions)
      bytes += each.work.bytesRead.value;
    return bytes;
  };
  CHECK(kept.backward.instructions.size() == wide.backward.instructions.size());
  CHECK(read(wide) - read(kept) >= 4 * kSbh);
}

TEST_CASE("kept narrow: nothing where the backward makes it again") {
  LoweredSpec narrow = gpt();
  narrow.options.saved = Precision::Fp8;
  narrow.recompute = kAll;
  CHECK(savedBy(narrow) == 2 * kSbh);
}

TEST_CASE("tensor parallelism: sbh(10 + 24/t + 5as/(ht))") {
  LoweredSpec spec = gpt();
  spec.axes = {{"t", 4, {"heads", "ffn", "vocab"}}};
  CHECK(savedBy(spec) == 10 * kSbh + 24 * kSbh / 4 + kScores / 4);
}

TEST_CASE("sequence parallelism divides all of it") {
  LoweredSpec spec = gpt();
  spec.axes = {{"t", 4, {"heads", "ffn", "vocab", "seq"}}};
  CHECK(savedBy(spec) == (34 * kSbh + kScores) / 4);
}

TEST_CASE("selective recomputation drops what grows with the square") {
  LoweredSpec spec = gpt();
  spec.axes = {{"t", 4, {"heads", "ffn", "vocab", "seq"}}};
  spec.recompute = kAttention;
  CHECK(savedBy(spec) == 34 * kSbh / 4);
}

TEST_CASE("full recomputation keeps the layer's input") {
  LoweredSpec spec = gpt();
  spec.recompute = kAll;
  CHECK(savedBy(spec) == 2 * kSbh);
}

TEST_CASE("recomputation runs the forward again, in its own phase") {
  LoweredSpec spec = gpt();
  auto none = lowered(spec);
  spec.recompute = kAttention;
  auto attention = lowered(spec);
  spec.recompute = kAll;
  auto all = lowered(spec);
  const auto &forward = bodyOf(*none, "decoder").forward.instructions;
  auto again = [](const Lowered &lowered) {
    std::vector<program::Instruction> out;
    for (const auto &i : bodyOf(lowered, "decoder").backward.instructions)
      if (i.phase == Phase::Recompute)
        out.push_back(i);
    return out;
  };
  CHECK(again(*none).empty());
  REQUIRE(again(*attention).size() == 1);
  CHECK(again(*attention)[0].kind == InstructionKind::Attention);
  CHECK(again(*all).size() == forward.size());
  // What is recomputed is executed, not asked for: model FLOPs do not change.
  CHECK(again(*attention)[0].work.flops.value > 0);
}

TEST_CASE("elementwise neighbours are one kernel") {
  auto whole = lowered(gpt());
  const auto &forward = bodyOf(*whole, "decoder").forward.instructions;
  // Two norms, three biases, bias + dropout + add, bias + gelu, bias + dropout
  // + add.
  CHECK(count(forward, InstructionKind::MatMul) == 6);
  CHECK(count(forward, InstructionKind::Attention) == 1);
  CHECK(count(forward, InstructionKind::Memory) == 8);
  auto gelu = std::find_if(forward.begin(), forward.end(),
                           [](const auto &i) { return i.name == "decoder.u"; });
  REQUIRE(gelu != forward.end());
  // Reads the product and the bias, writes the activation: 4h each, bf16.
  CHECK(gelu->work.bytesRead.value == 2 * 4 * kSbh + 2 * 4 * kHidden);
  CHECK(gelu->work.bytesWritten.value == 2 * 4 * kSbh);
}

TEST_CASE("dependences point backwards and every operand has one") {
  LoweredSpec spec = gpt();
  spec.axes = {{"t", 2, {"heads", "ffn", "vocab", "seq"}}};
  for (const RerunChoice &recompute : {RerunChoice(), kAll, kAttention}) {
    spec.recompute = recompute;
    auto whole = lowered(spec);
    const LoweredBody &body = bodyOf(*whole, "decoder");
    for (const LoweredPass *pass : {&body.forward, &body.backward}) {
      for (std::uint32_t i = 0; i < pass->instructions.size(); ++i)
        for (std::uint32_t dep : pass->instructions[i].deps)
          CHECK(dep < i);
      CHECK(pass->writes.size() == 1);
      CHECK(!pass->reads.empty());
    }
  }
}
