#include "tests/unit/Catch.h"

#include "tests/unit/graph/Graphs.h"

using namespace planc;
using namespace planc::graph;
namespace tiny = planc::ops::tiny;

namespace {

const ops::BodyId kLayer{1};

/// The rules broken, without their texts.
std::set<std::string> brokenRules(const OpGraph &graph) {
  std::set<std::string> rules;
  for (const std::string &line : verify(graph))
    rules.insert(line.substr(0, line.find(' ')));
  return rules;
}

} // namespace

TEST_CASE("graphs of every option and model are sound") {
  for (auto attention : {GraphOptions::AttentionKernel::Flash,
                         GraphOptions::AttentionKernel::Unfused})
    for (auto fusion :
         {GraphOptions::Fusion::Fused, GraphOptions::Fusion::Unfused}) {
      GraphOptions options;
      options.attention = attention;
      options.norm = options.elementwise = fusion;
      options.loss = fusion == GraphOptions::Fusion::Fused
                         ? GraphOptions::Loss::Fused
                         : GraphOptions::Loss::Eager;
      tiny::Sizes window;
      window.window = 2;
      for (const ops::Model &model :
           {tiny::llamaLike(), tiny::llamaLike(window), tiny::gptLike(),
            tiny::gptLike(gptSizes())}) {
        OpGraph graph = buildGraph(model, options);
        CHECK(verify(graph) == std::vector<std::string>{});
        CHECK(toText(graph) == toText(buildGraph(model, options)));
      }
    }
}

TEST_CASE("each rule catches what it is there for") {
  const OpGraph sound = buildGraph(tiny::llamaLike(), {});
  using Rules = std::set<std::string>;

  OpGraph g = sound;
  g.bodies[kLayer].backward[0].operands[0] = ops::ValueId(9999);
  CHECK(brokenRules(g) == Rules{"G1"});

  g = sound;
  g.bodies[kLayer].forward.values[ops::ValueId(0)].name =
      g.bodies[kLayer].forward.values[ops::ValueId(1)].name;
  CHECK(brokenRules(g) == Rules{"G1"});

  g = sound;
  std::swap(g.bodies[kLayer].forward.forward[0],
            g.bodies[kLayer].forward.forward[1]);
  CHECK(brokenRules(g).count("G2"));

  g = sound;
  g.bodies[kLayer].forward.forward[0].rules.clear();
  CHECK(brokenRules(g).count("G3"));

  g = sound;
  g.bodies[kLayer].forward.forward[1].rules[0].operands[0].dims[0].role =
      ops::Role::Contract;
  CHECK(brokenRules(g) == Rules{"G4"});

  g = sound;
  auto &forward = g.bodies[kLayer].forward.forward;
  forward[1].kernel = forward[0].kernel;
  CHECK(brokenRules(g) == Rules{"G5"});

  g = sound;
  g.bodies[kLayer].gradientOutputs[0].value =
      g.bodies[kLayer].weightGradients[0].value;
  CHECK(brokenRules(g) == Rules{"G6"});

  g = sound;
  g.bodies[kLayer].weightGradients.pop_back();
  CHECK(brokenRules(g) == Rules{"G7"});

  g = sound;
  g.bodies[kLayer].saved.pop_back();
  CHECK(brokenRules(g) == Rules{"G8"});

  g = sound;
  g.bodies[kLayer].forward.forward[0].again = true;
  CHECK(brokenRules(g) == Rules{"G9"});

  g = sound;
  g.model.segments.pop_back();
  CHECK(brokenRules(g).count("G10"));
}

TEST_CASE("a line of the text says what, of what, and for what") {
  OpGraph graph = buildGraph(tiny::llamaLike(), {});
  std::string text = toText(graph);
  auto contains = [&](const char *line) {
    INFO(line);
    CHECK(text.find(line) != std::string::npos);
  };
  contains("- %wq = matmul %h, decoder.wq[hidden, heads, head_size]  : [batch, "
           "seq, heads, head_size] bf16  forward decoder.wq\n");
  contains("+ %u = mul %silu, %up  : [batch, seq, ffn] bf16  forward "
           "decoder.u\n");
  contains("attention causal %q, %k, %v");
  contains("%loss, %loss.max, %loss.sum = cross_entropy %logits, %targets "
           "one-hot vocab");
  contains("repeat decoder x 2\n");
  contains("gradient of decoder.wq = %grad decoder.wq\n");
}
