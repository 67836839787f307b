// Products in parts beside the steps of a collective.
#include "compiler/lower/OverlapTensor.h"

#include "tests/unit/Catch.h"
#include "tests/unit/lower/Lowered.h"

#include <algorithm>
#include <map>
#include <random>

using namespace planc;
using namespace planc::lower;
using program::Instruction;
using program::InstructionKind;

namespace {

std::unique_ptr<Lowered> layersOf(std::vector<std::string> list,
                                  std::int64_t members = 4,
                                  Precision compute = Precision::Bf16) {
  ops::tiny::Sizes sizes;
  sizes.batch = 2;
  sizes.seq = 16;
  sizes.heads = 8;
  sizes.keyHeads = 4;
  sizes.ffn = 32;
  LoweredSpec spec;
  spec.model = ops::tiny::llamaLike(sizes);
  spec.options.compute = compute;
  // No axis has a name that means something.
  spec.axes = {{"z", members, std::move(list)}};
  return lowered(spec);
}

const std::vector<std::string> kSequence = {"heads", "kv_heads", "ffn", "vocab",
                                            "seq"},
                               kWhole = {"heads", "kv_heads", "ffn", "vocab"};

/// A picosecond a FLOP and a byte of memory; messages by what a member sends.
InstructionTime timesOf(std::int64_t perByte, std::int64_t start) {
  return [=](const Instruction &i) {
    if (program::classOf(i.kind) == program::InstructionClass::Compute)
      return Duration(i.work.flops.value / 64 +
                      (i.work.bytesRead + i.work.bytesWritten).value / 4);
    return Duration(start + perByte * i.message.bytes.value);
  };
}

InstructionTime randomTimes(std::uint64_t seed) {
  return [seed](const Instruction &i) {
    std::mt19937_64 random(
        seed * 1000 + i.name.size() * 37 +
        static_cast<std::uint64_t>(i.kind) * 7 +
        static_cast<std::uint64_t>(i.message.bytes.value + i.work.flops.value));
    return Duration(static_cast<std::int64_t>(random() % 1000));
  };
}

/// What a pass computes and communicates, however it is cut.
struct Sums {
  std::int64_t flops = 0, model = 0, full = 0;
  /// By what it is for and by group: bytes that a member sends, times members.
  std::map<std::pair<program::CommunicationKind, std::vector<std::int64_t>>,
           std::int64_t>
      sent;
  bool operator==(const Sums &) const = default;
};

Sums sumsOf(const LoweredPass &pass) {
  Sums out;
  for (const Instruction &i : pass.instructions) {
    out.flops += i.work.flops.value;
    out.model += i.work.modelFlops.value;
    out.full += i.work.modelFlopsFull.value;
    if (i.message.bytes.value == 0)
      continue;
    const std::int64_t n = i.message.members();
    std::int64_t bytes = i.message.bytes.value;
    if (i.kind == InstructionKind::CollectiveStep)
      bytes *= n;
    else if (i.kind == InstructionKind::AllReduce)
      bytes *= 2 * (n - 1);
    else
      bytes *= n - 1;
    std::vector<std::int64_t> group = i.message.sizes;
    group.insert(group.end(), i.message.strides.begin(),
                 i.message.strides.end());
    out.sent[{i.message.kind, group}] += bytes;
  }
  return out;
}

std::vector<std::pair<LoweredPass, LoweredPass>>
passesOf(const LoweredBody &a, const LoweredBody &b) {
  return {{a.forward, b.forward},
          {a.backward, b.backward},
          {a.split.input, b.split.input},
          {a.split.weight, b.split.weight}};
}

std::size_t count(const LoweredPass &pass, InstructionKind kind) {
  return static_cast<std::size_t>(
      std::count_if(pass.instructions.begin(), pass.instructions.end(),
                    [&](const Instruction &i) { return i.kind == kind; }));
}

LoweredBody overlapped(const Lowered &of, const std::string &name,
                       const InstructionTime &time) {
  LoweredBody out = bodyOf(of, name);
  for (ops::BodyId body : of.graph.bodies.ids())
    if (of.graph.bodies[body].forward.name == name)
      overlapTensor({&of.sharded, body, time}, out);
  return out;
}

void checkSound(const LoweredPass &pass) {
  REQUIRE(pass.steps.size() == pass.instructions.size());
  for (std::uint32_t i = 0; i < pass.instructions.size(); ++i)
    for (std::uint32_t dep : pass.instructions[i].deps)
      CHECK(dep < i);
  for (const auto &use : pass.reads)
    CHECK(use.instruction < pass.instructions.size());
  for (const auto &use : pass.writes)
    CHECK(use.instruction < pass.instructions.size());
}

} // namespace

TEST_CASE("a gathered operand is used part by part, a result sent so") {
  auto plain = layersOf(kSequence);
  const LoweredBody before = bodyOf(*plain, "decoder");
  const LoweredBody after = overlapped(*plain, "decoder", timesOf(1, 1));
  REQUIRE(count(before.forward, InstructionKind::AllGather) == 2);
  CHECK(count(after.forward, InstructionKind::AllGather) == 0);
  CHECK(count(after.forward, InstructionKind::ReduceScatter) == 0);
  CHECK(count(after.forward, InstructionKind::CollectiveStep) == 4 * 3);
  // q, k and v of one gather, gate and up of the other; o and down.
  CHECK(count(before.forward, InstructionKind::MatMul) == 7);
  CHECK(count(after.forward, InstructionKind::MatMul) == 7 * 4);
  // Each part after its own step, the first at once.
  std::vector<std::uint32_t> steps, parts;
  const std::vector<Instruction> &all = after.forward.instructions;
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    if (all[i].kind == InstructionKind::CollectiveStep)
      steps.push_back(i);
    if (all[i].name.find("wq part") != std::string::npos)
      parts.push_back(i);
  }
  REQUIRE(parts.size() == 4);
  auto dependsOn = [&](std::uint32_t i, std::uint32_t on) {
    return std::count(all[i].deps.begin(), all[i].deps.end(), on) > 0;
  };
  CHECK_FALSE(dependsOn(parts[0], steps[0]));
  CHECK(all[parts[0]].deps == all[steps[0]].deps);
  for (std::size_t t = 1; t < 4; ++t)
    CHECK(dependsOn(parts[t], steps[t - 1]));
  // What arrives is held until it is added up.
  CHECK(after.transient.value > before.transient.value);
}

TEST_CASE("bytes and FLOPs are what they were, and no pass gets longer") {
  for (std::int64_t members : {2, 4})
    for (const auto &[list, format] : {std::pair(kSequence, Precision::Bf16),
                                       {kWhole, Precision::Bf16},
                                       {kSequence, Precision::Fp8},
                                       {kWhole, Precision::Fp8}}) {
      auto plain = layersOf(list, members, format);
      for (const char *name : {"decoder", "head"}) {
        const LoweredBody before = bodyOf(*plain, name);
        for (std::uint64_t seed = 0; seed < 40; ++seed) {
          const InstructionTime time =
              seed < 20 ? randomTimes(seed)
                        : timesOf(1 + std::int64_t(seed % 5) * 3,
                                  std::int64_t(seed) * 10);
          const LoweredBody after = overlapped(*plain, name, time);
          for (const auto &[a, b] : passesOf(before, after)) {
            CHECK(sumsOf(a) == sumsOf(b));
            CHECK(lengthOf(b.instructions, time) <=
                  lengthOf(a.instructions, time));
            checkSound(b);
            CHECK(a.writes.size() == b.writes.size());
          }
          REQUIRE(before.gradients.size() == after.gradients.size());
          for (const auto &gradient : after.gradients) {
            auto old = std::find_if(
                before.gradients.begin(), before.gradients.end(),
                [&](const auto &g) { return g.weight == gradient.weight; });
            const std::string was =
                before.backward.instructions[old->instruction].name;
            CHECK(after.backward.instructions[gradient.instruction].name.substr(
                      0, was.size()) == was);
          }
        }
      }
    }
}

TEST_CASE("where steps cost more than they hide the plain one stays") {
  auto plain = layersOf(kSequence);
  const LoweredBody before = bodyOf(*plain, "decoder");
  const LoweredBody after =
      overlapped(*plain, "decoder", timesOf(0, 1'000'000'000));
  for (const auto &[a, b] : passesOf(before, after)) {
    CHECK(count(b, InstructionKind::CollectiveStep) == 0);
    CHECK(a.instructions.size() == b.instructions.size());
  }
  CHECK(after.transient == before.transient);
}

TEST_CASE("an all-reduce and its product are cut into rows") {
  auto plain = layersOf(kWhole);
  const LoweredBody before = bodyOf(*plain, "decoder");
  const LoweredBody after = overlapped(*plain, "decoder", timesOf(1, 1));
  CHECK(count(before.forward, InstructionKind::AllReduce) == 2);
  CHECK(count(after.forward, InstructionKind::AllReduce) > 2);
  CHECK(count(after.forward, InstructionKind::CollectiveStep) == 0);
}

TEST_CASE("copies in a narrow format are made part by part") {
  auto plain = layersOf(kSequence, 4, Precision::Fp8);
  const LoweredBody before = bodyOf(*plain, "decoder");
  const LoweredBody after = overlapped(*plain, "decoder", timesOf(1, 1));
  REQUIRE(count(before.forward, InstructionKind::AllGather) == 2);
  CHECK(count(after.forward, InstructionKind::AllGather) == 0);
  std::int64_t bytes[2] = {0, 0};
  for (const auto *pass : {&before.forward, &after.forward})
    for (const Instruction &i : pass->instructions)
      if (i.name.find("quantise") != std::string::npos)
        bytes[pass == &after.forward] +=
            (i.work.bytesRead + i.work.bytesWritten).value;
  CHECK(bytes[0] > 0);
  CHECK(bytes[0] == bytes[1]);
}

TEST_CASE("products of weights stand behind the reduction of activations") {
  auto plain = layersOf(kSequence);
  for (ops::BodyId body : plain->graph.bodies.ids()) {
    const LoweredBody a = lowerBody(plain->sharded, body, RerunChoice());
    LowerOptions options;
    options.weights = WeightOrder::UnderReductions;
    const LoweredBody b =
        lowerBody(plain->sharded, body, RerunChoice(), options);
    std::vector<std::string> names[2];
    for (const auto *pass : {&a.backward, &b.backward}) {
      checkSound(*pass);
      for (const Instruction &i : pass->instructions)
        names[pass == &b.backward].push_back(i.name +
                                             std::string(toString(i.phase)));
    }
    CHECK(std::is_permutation(names[0].begin(), names[0].end(),
                              names[1].begin(), names[1].end()));
    CHECK(a.gradients.size() == b.gradients.size());
    if (plain->graph.bodies[body].forward.name != "decoder")
      continue;
    // No product of a weight's gradient before the first reduce-scatter.
    for (const Instruction &i : b.backward.instructions) {
      if (i.kind == InstructionKind::ReduceScatter)
        break;
      CHECK((i.kind != InstructionKind::MatMul ||
             i.phase != program::Phase::WeightGradient));
    }
  }
}
