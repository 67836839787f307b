#include "compiler/lower/HideExchanges.h"

#include "tests/unit/Catch.h"
#include "tests/unit/lower/Lowered.h"

#include <algorithm>

using namespace planc;
using namespace planc::lower;
using program::Instruction;
using program::Stream;

namespace {

LoweredBody layer() {
  ops::tiny::Sizes sizes;
  sizes.batch = 4;
  sizes.seq = 8;
  LoweredSpec spec;
  spec.model = ops::tiny::expertsLike(sizes);
  spec.axes = {{"e", 2, {"experts", "batch"}}};
  return bodyOf(*lowered(spec), "decoder");
}

std::vector<std::string> namesOf(const LoweredPass &pass) {
  std::vector<std::string> out;
  for (const Instruction &instruction : pass.instructions)
    out.push_back(instruction.name);
  return out;
}

std::size_t placeOf(const LoweredPass &pass, const std::string &name) {
  std::vector<std::string> names = namesOf(pass);
  auto found = std::find(names.begin(), names.end(), name);
  INFO(name);
  REQUIRE(found != names.end());
  return static_cast<std::size_t>(found - names.begin());
}

/// Compute between an exchange and the first that waits for it.
std::size_t underExchange(const LoweredPass &pass, std::size_t which) {
  for (std::size_t i = 0; i < pass.instructions.size(); ++i) {
    if (pass.instructions[i].stream != Stream::Experts || which-- > 0)
      continue;
    std::size_t count = 0;
    for (std::size_t j = i + 1; j < pass.instructions.size(); ++j) {
      const std::vector<std::uint32_t> &deps = pass.instructions[j].deps;
      if (std::count(deps.begin(), deps.end(), i))
        return count;
      ++count;
    }
  }
  return 0;
}

} // namespace

TEST_CASE("what does not wait for tokens goes before what does") {
  LoweredBody before = layer(), after = before;
  hideExchanges(after);
  CHECK(underExchange(before.forward, 0) == 0);
  CHECK(underExchange(after.forward, 0) > 0); // the shared expert
  CHECK(placeOf(after.forward, "decoder.shared") <
        placeOf(after.forward, "decoder.gate"));
  CHECK(underExchange(after.backward, 1) >= underExchange(before.backward, 1));
  CHECK(underExchange(after.backward, 1) > 0); // gradients of weights
}

TEST_CASE("the same instructions, each after what it waits for") {
  LoweredBody before = layer(), after = before;
  hideExchanges(after);
  for (auto pass : {&LoweredBody::forward, &LoweredBody::backward}) {
    std::vector<std::string> a = namesOf(before.*pass),
                             b = namesOf(after.*pass);
    CHECK(std::is_permutation(a.begin(), a.end(), b.begin(), b.end()));
    const std::vector<Instruction> &laid = (after.*pass).instructions;
    for (std::uint32_t i = 0; i < laid.size(); ++i) {
      for (std::uint32_t dep : laid[i].deps)
        CHECK(dep < i);
      auto old = std::find_if((before.*pass).instructions.begin(),
                              (before.*pass).instructions.end(),
                              [&](const Instruction &each) {
                                return each.name == laid[i].name &&
                                       each.phase == laid[i].phase &&
                                       each.kind == laid[i].kind &&
                                       each.deps.size() == laid[i].deps.size();
                              });
      CHECK(old != (before.*pass).instructions.end());
    }
  }
  // What completes a gradient still does.
  REQUIRE(after.gradients.size() == before.gradients.size());
  for (const LoweredBody::Gradient &gradient : before.gradients) {
    auto moved = std::find_if(
        after.gradients.begin(), after.gradients.end(),
        [&](const auto &each) { return each.weight == gradient.weight; });
    REQUIRE(moved != after.gradients.end());
    CHECK(after.backward.instructions[moved->instruction].name ==
          before.backward.instructions[gradient.instruction].name);
  }
}
