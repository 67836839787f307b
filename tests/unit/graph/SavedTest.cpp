#include "tests/unit/Catch.h"

#include "tests/unit/graph/Graphs.h"

using namespace planc;
using namespace planc::graph;
namespace tiny = planc::ops::tiny;

// Korthikanti et al., arXiv 2205.05198, section 4.1: a layer keeps
// s·b·h·(34 + 5·a·s/h) bytes, of which 5·a·s²·b are the core of attention.
TEST_CASE("a GPT layer keeps what Korthikanti et al. count, to the byte") {
  tiny::Sizes z = gptSizes();
  const std::int64_t sbh = z.seq * z.batch * z.hidden;
  const std::int64_t ass = z.heads * z.seq * z.seq * z.batch;

  GraphOptions options;
  options.attention = GraphOptions::AttentionKernel::Unfused;
  OpGraph eager = buildGraph(tiny::gptLike(z), options);
  const Body &layer = bodyOf(eager, "decoder");
  CHECK(savedBytes(eager, layer) == 34 * sbh + 5 * ass);
  CHECK(namesOf(layer, layer.saved) ==
        std::vector<std::string>{
            "x", "h", "q_biased", "k_biased", "v_biased", "attention",
            "attention.probabilities", "o_dropped.mask", "y", "g", "up", "u",
            "d_dropped.mask", "attention.mask", "attention.dropped"});

  // A flash kernel keeps one fp32 log-sum-exp a head and position instead.
  OpGraph flash = buildGraph(tiny::gptLike(z), {});
  CHECK(savedBytes(flash, bodyOf(flash, "decoder")) ==
        34 * sbh + 4 * z.heads * z.seq * z.batch);
}

TEST_CASE(
    "outside the layers GPT keeps a mask, the last norm and fp32 logits") {
  tiny::Sizes z = gptSizes();
  OpGraph graph = buildGraph(tiny::gptLike(z), {});
  const std::int64_t sb = z.seq * z.batch;
  CHECK(savedBytes(graph, bodyOf(graph, "embed")) == sb * z.hidden);
  CHECK(savedBytes(graph, bodyOf(graph, "head")) ==
        4 * sb * z.hidden + 4 * sb * z.vocab + 2 * 4 * sb);
}

// The same for SwiGLU, grouped queries and no dropout:
// sb(8h + 4ad + 4kd + 4a + 6f).
TEST_CASE("a llama layer keeps norm inputs and outputs, q k v, and 6 f") {
  tiny::Sizes z;
  z.seq = 32;
  OpGraph graph = buildGraph(tiny::llamaLike(z), {});
  const Body &layer = bodyOf(graph, "decoder");
  const std::int64_t sb = z.seq * z.batch, ad = z.heads * z.headSize,
                     kd = z.keyHeads * z.headSize;
  CHECK(savedBytes(graph, layer) ==
        sb * (8 * z.hidden + 4 * ad + 4 * kd + 4 * z.heads + 6 * z.ffn));
  CHECK(namesOf(layer, layer.saved) ==
        std::vector<std::string>{"x", "h", "q", "k", "v", "attention",
                                 "attention.lse", "y", "g", "gate", "up", "u"});
}

TEST_CASE("without fusion the values inside kernels are kept, too") {
  tiny::Sizes z;
  GraphOptions options;
  options.elementwise = GraphOptions::Fusion::Unfused;
  OpGraph graph = buildGraph(tiny::llamaLike(z), options);
  const Body &layer = bodyOf(graph, "decoder");
  CHECK(has(namesOf(layer, layer.saved), "silu"));
  for (const ops::Op &op : layer.backward)
    CHECK(!op.again);
}
