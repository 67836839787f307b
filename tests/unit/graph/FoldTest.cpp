#include "tests/unit/Catch.h"

#include "compiler/graph/FoldElementwise.h"
#include "tests/unit/graph/Graphs.h"

using namespace planc;
using namespace planc::graph;
namespace tiny = planc::ops::tiny;

TEST_CASE("bias and gelu are one kernel, bias, dropout and residual another") {
  OpGraph graph = buildGraph(tiny::gptLike(gptSizes()), {});
  const Body &layer = bodyOf(graph, "decoder");
  CHECK(kernelsOf(layer, layer.forward.forward) ==
        std::vector<std::string>{
            "h", "q", "q_biased", "k", "k_biased", "v", "v_biased", "attention",
            "o", "o_biased+o_dropped+y", "g", "up", "up_biased+u", "down",
            "down_biased+d_dropped+x_out"});
}

TEST_CASE("SwiGLU is one kernel forward and one backward") {
  OpGraph graph = buildGraph(tiny::llamaLike(), {});
  const Body &layer = bodyOf(graph, "decoder");
  CHECK(has(kernelsOf(layer, layer.forward.forward), "silu+u"));
  std::vector<std::string> backward = kernelsOf(layer, layer.backward);
  CHECK(has(backward, "grad silu+again silu+grad up+grad gate"));
}

TEST_CASE("without fusion every operator is a kernel of its own") {
  GraphOptions options;
  options.elementwise = GraphOptions::Fusion::Unfused;
  OpGraph graph = buildGraph(tiny::gptLike(gptSizes()), options);
  const Body &layer = bodyOf(graph, "decoder");
  for (const std::string &kernel : kernelsOf(layer, layer.forward.forward))
    CHECK(kernel.find('+') == std::string::npos);
  CHECK(verify(graph).empty());
}

TEST_CASE("a norm's two gradients are one kernel") {
  OpGraph graph = buildGraph(tiny::gptLike(gptSizes()), {});
  const Body &layer = bodyOf(graph, "decoder");
  bool found = false;
  for (std::size_t i = 1; i < layer.backward.size(); ++i)
    if (layer.backward[i].kind == ops::OpKind::LayerNormWeightGrad) {
      CHECK(layer.backward[i].kernel == layer.backward[i - 1].kernel);
      found = true;
    }
  CHECK(found);
}

TEST_CASE("gradients of a norm's weights apart are kernels that read again") {
  GraphOptions options;
  options.normWeights = GraphOptions::Fusion::Unfused;
  OpGraph graph = buildGraph(tiny::gptLike(gptSizes()), options);
  CHECK(verify(graph).empty());
  const Body &layer = bodyOf(graph, "decoder");
  int apart = 0;
  for (std::size_t i = 1; i < layer.backward.size(); ++i) {
    if (layer.backward[i].kind != ops::OpKind::LayerNormWeightGrad)
      continue;
    CHECK(layer.backward[i].attributes.unfused);
    CHECK(layer.backward[i].kernel != layer.backward[i - 1].kernel);
    ++apart;
  }
  CHECK(apart == 2);
}

TEST_CASE("a kernel never waits for itself") {
  // y = silu(x) · matmul(silu(x)): silu is read inside and outside, so joining
  // it with the product would need the matmul in the middle of the kernel.
  tiny::Builder b;
  b.model.batch = b.dim("batch", 2);
  b.model.seq = b.dim("seq", 3);
  ops::DimId hidden = b.dim("hidden", 4);
  ops::SlotId slot = b.slot("x", {b.model.batch, hidden});
  b.body("gate");
  ops::ValueId x = b.input(slot);
  ops::ValueId s = b.op(ops::OpKind::Silu, "s", {x});
  ops::ValueId r = b.op(ops::OpKind::Relu, "r", {s});
  ops::ValueId g = b.op(ops::OpKind::Gelu, "g", {s});
  ops::ValueId m = b.matmul("m", r, "w", {hidden, hidden});
  b.op(ops::OpKind::Mul, "y", {g, m});
  std::vector<ops::Op> ops = b.here().forward;
  KernelGroups groups(ops);
  groups.joinNeighbours(std::vector<bool>(b.here().values.size(), false));
  CHECK(groups.lay(ops, 0) == 3);
  // s with r and g; the product apart, though only it reads g.
  CHECK(ops[0].kernel == ops[1].kernel);
  CHECK(ops[1].kernel == ops[2].kernel);
  CHECK(ops[4].kernel != ops[2].kernel);
}
