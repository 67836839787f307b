#include "compiler/lower/Quantise.h"

#include "tests/unit/Catch.h"
#include "tests/unit/lower/Lowered.h"

#include <algorithm>

using namespace planc;
using namespace planc::lower;

namespace {

// 8 tokens, hidden 8, ffn 12.
LoweredSpec llama(Precision compute) {
  LoweredSpec spec;
  spec.model = ops::tiny::llamaLike();
  spec.options.compute = compute;
  spec.axes = {{"dp", 1, {"batch"}}};
  return spec;
}

std::int64_t copiesOf(const Lowered &model, const std::string &name) {
  for (ops::WeightId weight : model.graph.model.weights.ids())
    if (model.graph.model.weights[weight].name == name)
      return weightCopies(model.sharded, weight).value;
  FAIL("no weight is called " << name);
  return 0;
}

std::int64_t casts(const LoweredPass &pass) {
  return std::count_if(pass.instructions.begin(), pass.instructions.end(),
                       [](const auto &i) {
                         return i.name.find("quantise") != std::string::npos;
                       });
}

} // namespace

TEST_CASE("copies of weights: by rows and by columns, of what products read") {
  const auto narrow = lowered(llama(Precision::Fp8));
  CHECK(copiesOf(*narrow, "decoder.gate") == 2 * 8 * 12);
  CHECK(copiesOf(*narrow, "decoder.norm1") == 0);
  CHECK(copiesOf(*narrow, "table") == 0);
  CHECK(copiesOf(*narrow, "output") == 0); // the head is not quantised

  LoweredSpec stored = llama(Precision::Fp8);
  stored.options.parameters = Precision::Fp8;
  CHECK(copiesOf(*lowered(stored), "decoder.gate") == 8 * 12);
  CHECK(copiesOf(*lowered(llama(Precision::Bf16)), "decoder.gate") == 0);
}

TEST_CASE("copies with scales: a byte for 32 elements, half of one for 16") {
  const auto scaled = lowered(llama(Precision::Mxfp8));
  CHECK(copiesOf(*scaled, "decoder.gate") == 2 * (96 + 3));
  const auto four = lowered(llama(Precision::Fp4));
  CHECK(copiesOf(*four, "decoder.gate") == 2 * (48 + 6));
}

TEST_CASE("what products alone read in the backward is kept as their copy") {
  const auto wide = lowered(llama(Precision::Bf16));
  const auto narrow = lowered(llama(Precision::Fp8));
  const LoweredBody &from = bodyOf(*wide, "decoder");
  const LoweredBody &to = bodyOf(*narrow, "decoder");
  // Both norms' results and that of SwiGLU; attention reads its own, too.
  constexpr std::int64_t kTokens = 8;
  CHECK(from.saved.value - to.saved.value == kTokens * (8 + 8 + 12));
  // In the forward each and attention's result is copied once.
  CHECK(casts(from.forward) == 0);
  CHECK(casts(to.forward) == 4);
}
