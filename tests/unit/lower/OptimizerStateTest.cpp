#include "compiler/lower/OptimizerState.h"

#include "tests/unit/Catch.h"
#include "tests/unit/lower/Lowered.h"

using namespace planc;
using namespace planc::lower;
using sema::OptimizerKind;

namespace {

// hidden 8, heads 4 x 2, ffn 12, vocab 16.
LoweredSpec llama() {
  LoweredSpec spec;
  spec.model = ops::tiny::llamaLike();
  spec.axes = {{"dp", 1, {"batch"}}};
  return spec;
}

ops::WeightId weightOf(const Lowered &model, const std::string &name) {
  for (ops::WeightId weight : model.graph.model.weights.ids())
    if (model.graph.model.weights[weight].name == name)
      return weight;
  FAIL("no weight is called " << name);
  return {};
}

std::optional<MatrixShape> shapeOf(const Lowered &model,
                                   const std::string &name) {
  return matrixOf(model.sharded, weightOf(model, name));
}

std::int64_t bytesBy(Lowered &model, OptimizerKind kind,
                     const std::string &name) {
  model.plan.optimizer.kind = kind;
  return stateBytes(model.sharded, model.plan, weightOf(model, name));
}

} // namespace

TEST_CASE("a weight is the matrix that its product reads") {
  const auto model = lowered(llama());
  CHECK(shapeOf(*model, "decoder.gate") == MatrixShape{1, 8, 12, true, true});
  CHECK(shapeOf(*model, "decoder.down") == MatrixShape{1, 12, 8, true, true});
  // Heads and their size together, whichever side they are on.
  CHECK(shapeOf(*model, "decoder.wq") == MatrixShape{1, 8, 8, true, true});
  CHECK(shapeOf(*model, "decoder.wk") == MatrixShape{1, 8, 4, true, true});
  CHECK(shapeOf(*model, "decoder.wo") == MatrixShape{1, 8, 8, true, true});
  CHECK(shapeOf(*model, "output") == MatrixShape{1, 8, 16, true, false});
  CHECK(shapeOf(*model, "table") == MatrixShape{1, 16, 8, false, false});
  CHECK_FALSE(shapeOf(*model, "decoder.norm1"));
}

TEST_CASE("states of the optimizers: a master and one, two or few moments") {
  const auto model = lowered(llama());
  constexpr std::int64_t kGate = 8 * 12, kTable = 16 * 8, kNorm = 8;
  CHECK(bytesBy(*model, OptimizerKind::AdamW, "decoder.gate") == 12 * kGate);
  CHECK(bytesBy(*model, OptimizerKind::Sgd, "decoder.gate") == 8 * kGate);

  // Means of rows and of columns; of a vector one an element.
  CHECK(bytesBy(*model, OptimizerKind::Adafactor, "decoder.gate") ==
        4 * kGate + 4 * (8 + 12));
  CHECK(bytesBy(*model, OptimizerKind::Adafactor, "table") ==
        4 * kTable + 4 * (16 + 8));
  CHECK(bytesBy(*model, OptimizerKind::Adafactor, "decoder.norm1") ==
        4 * kNorm + 4 * kNorm);

  // One moment in the matrices of layers, AdamW's two elsewhere.
  CHECK(bytesBy(*model, OptimizerKind::Muon, "decoder.gate") == 8 * kGate);
  CHECK(bytesBy(*model, OptimizerKind::Muon, "decoder.wo") == 8 * 8 * 8);
  CHECK(bytesBy(*model, OptimizerKind::Muon, "output") == 12 * kTable);
  CHECK(bytesBy(*model, OptimizerKind::Muon, "table") == 12 * kTable);
  CHECK(bytesBy(*model, OptimizerKind::Muon, "decoder.norm1") == 12 * kNorm);
}

TEST_CASE("states: moments in bf16, no master, cut over the ranks") {
  const auto model = lowered(llama());
  model->plan.optimizer.moments = Precision::Bf16;
  CHECK(bytesBy(*model, OptimizerKind::AdamW, "decoder.gate") == 8 * 96);
  model->plan.optimizer.master.reset();
  CHECK(bytesBy(*model, OptimizerKind::AdamW, "decoder.gate") == 4 * 96);
  // A master no more precise than the parameters is none.
  model->plan.optimizer.master = Precision::Bf16;
  CHECK(bytesBy(*model, OptimizerKind::AdamW, "decoder.gate") == 4 * 96);

  LoweredSpec spec = llama();
  spec.axes = {{"dp", 2, {"batch"}}};
  spec.optimizerOver = {"dp"};
  const auto cut = lowered(spec);
  CHECK(bytesBy(*cut, OptimizerKind::AdamW, "decoder.gate") == 12 * 48);
  CHECK(bytesBy(*cut, OptimizerKind::Adafactor, "decoder.gate") ==
        4 * 48 + 4 * 10);
}
