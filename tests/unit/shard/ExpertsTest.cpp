// Experts: the rows of the table of docs/sharding.md.
#include "tests/unit/Catch.h"
#include "tests/unit/ops/TinyModels.h"
#include "tests/unit/shard/Plans.h"

#include "compiler/shard/ShardedGraph.h"

#include <algorithm>

using namespace planc;
using namespace planc::oracle;
using program::CommunicationKind;
using shard::Step;
using shard::StepKind;

namespace {

using Sizes = std::vector<std::int64_t>;
using Lines = std::vector<std::string>;

const Lines kExperts = {"experts", "batch"};
const Lines kTensor = {"heads", "kv_heads", "ffn", "vocab"};

Lines with(Lines list, const Lines &more) {
  list.insert(list.end(), more.begin(), more.end());
  return list;
}

/// 32 tokens of 16 in bf16, two of four experts each.
constexpr std::int64_t kTokens = 4 * 8 * 16 * 2;
constexpr std::int64_t kRouted = 2 * kTokens;
/// Routing weights of all tokens, in fp32.
constexpr std::int64_t kWeights = 4 * 8 * 4 * 4;

ops::Model model(bool shared) {
  ops::tiny::Sizes sizes;
  sizes.batch = 4;
  sizes.seq = 8;
  sizes.hidden = 16;
  sizes.heads = 8;
  sizes.keyHeads = 4;
  sizes.ffn = 32;
  sizes.vocab = 64;
  ops::tiny::ExpertSizes experts;
  experts.expertFfn = 8;
  experts.shared = shared;
  return ops::tiny::expertsLike(sizes, experts);
}

/// What the layer does after its attention, and before it in the backward.
class Case {
public:
  explicit Case(const std::vector<AxisSpec> &axes, bool shared = false)
      : graph(graph::buildGraph(model(shared), {})), plan(planOf(graph, axes)),
        sharded(shard::shardGraph(graph, plan)) {
    CHECK(shard::verify(sharded) == Lines());
  }

  const shard::ShardedBody &layer() const {
    for (ops::BodyId id : graph.bodies.ids())
      if (graph.bodies[id].forward.name == "decoder")
        return sharded.bodies[id];
    FAIL("no layer");
    return sharded.bodies[ops::BodyId(0)];
  }

  /// `all_to_all e 512`, of the steps whose name says one of `words`.
  Lines moves(const std::vector<Step> &steps, const Lines &words) const {
    const char *names[] = {"compute",        "all_reduce", "all_gather",
                           "reduce_scatter", "all_to_all", "slice"};
    Lines out;
    for (const Step &step : steps) {
      bool named = std::any_of(words.begin(), words.end(), [&](auto &word) {
        return step.name.find(word) != std::string::npos;
      });
      if (step.kind == StepKind::Compute || !named)
        continue;
      std::string line = names[static_cast<int>(step.kind)];
      for (shard::AxisId axis : step.axes)
        line += " " + plan.mesh.axes[axis].name;
      if (step.kind != StepKind::Slice)
        line += " " + std::to_string(step.bytes.value);
      out.push_back(line);
    }
    return out;
  }
  Lines forward() const {
    return moves(layer().forward, {"dispatch", "biased", "combine"});
  }
  Lines backward() const {
    return moves(layer().backward, {"dispatch", "biased", "combine", "grad g"});
  }

  Lines reduced(const std::string &name) const {
    Lines out;
    for (ops::WeightId id : graph.model.weights.ids())
      if (graph.model.weights[id].name == name)
        for (shard::AxisId axis : sharded.weights[id].partial)
          out.push_back(plan.mesh.axes[axis].name);
    return out;
  }

  graph::OpGraph graph;
  sema::Plan plan;
  shard::ShardedGraph sharded;
};

} // namespace

TEST_CASE("experts over an axis folded out of data parallelism") {
  Case c({{"d", 2, {"batch"}}, {"e", 2, kExperts}}, true);
  std::string once = "all_to_all e " + std::to_string(kRouted / 4);
  CHECK(c.forward() == Lines{once, once});
  CHECK(c.backward() == Lines{once, once});
  for (const Step &step : c.layer().forward)
    if (step.kind == StepKind::AllToAll)
      CHECK(step.communication == CommunicationKind::Experts);
  // Those of experts over d only, dense ones, the router's and those of the
  // shared expert over both.
  for (const char *name : {"wgate", "wup", "wdown", "bdown"})
    CHECK(c.reduced("decoder." + std::string(name)) == Lines{"d"});
  for (const char *name : {"wq", "wo", "norm2", "dispatch_router",
                           "dispatch_bias", "wshared", "wback"})
    CHECK(c.reduced("decoder." + std::string(name)) == Lines{"d", "e"});
}

TEST_CASE("what experts keep for the backward is after the exchange") {
  Case c({{"e", 2, kExperts}});
  const shard::ShardedBody &layer = c.layer();
  for (const Step &step : layer.forward)
    if (step.kind == StepKind::AllToAll) {
      auto isSaved = [&](shard::ShardedValueId id) {
        return std::count(layer.saved.begin(), layer.saved.end(), id) > 0;
      };
      CHECK(isSaved(step.results[0]));
      CHECK_FALSE(isSaved(step.operands[0]));
    }
}

TEST_CASE("tokens whole on the experts' axis: a slice, then sums") {
  Case c({{"t", 2, with(kTensor, {"experts"})}});
  // The weights of the choice are sliced; the tokens are there already.
  CHECK(c.forward() ==
        Lines{"slice t", "all_reduce t " + std::to_string(kTokens)});
  CHECK(c.backward() == Lines{"all_reduce t " + std::to_string(kWeights),
                              "all_reduce t " + std::to_string(kTokens)});
  CHECK(c.reduced("decoder.wgate") == Lines{});
  CHECK(c.reduced("decoder.dispatch_router") == Lines{});
}

TEST_CASE("expert tensor parallelism 1: one exchange over both axes") {
  Case c({{"e", 2, kExperts}, {"t", 2, with(kTensor, {"experts", "seq"})}});
  std::string once = "all_to_all e t " + std::to_string(kRouted / 4);
  CHECK(c.forward() == Lines{once, once});
  CHECK(c.backward() == Lines{once, once});
  CHECK(c.reduced("decoder.wgate") == Lines{});
  CHECK(c.reduced("decoder.dispatch_router") == Lines{"e", "t"});
  CHECK(c.reduced("decoder.wq") == Lines{"e"});
}

TEST_CASE("expert tensor parallelism as dense: gathered inside an expert") {
  Case c({{"e", 2, kExperts}, {"t", 2, with(kTensor, {"expert_ffn", "seq"})}});
  std::string exchange = "all_to_all e " + std::to_string(kRouted / 4);
  std::string gather = "all_gather t " + std::to_string(kRouted / 2);
  std::string scatter = "reduce_scatter t " + std::to_string(kRouted / 2);
  CHECK(c.forward() == Lines{exchange, gather, exchange});
  CHECK(c.moves(c.layer().forward, {"down"}) == Lines{scatter});
  CHECK(c.reduced("decoder.wgate") == Lines{});
}

TEST_CASE("expert tensor parallelism of another size: the common refinement") {
  Case c({{"a", 2, with(kTensor, {"expert_ffn", "seq"})},
          {"b", 2, with(kTensor, {"experts", "seq"})}});
  Lines forward = c.forward();
  CHECK(forward[0] == "all_to_all b " + std::to_string(kRouted / 4));
  CHECK(forward[1] == "all_gather a " + std::to_string(kRouted / 2));
  CHECK(c.reduced("decoder.wgate") == Lines{});
  CHECK(c.reduced("decoder.dispatch_router") == Lines{"a", "b"});
}

TEST_CASE("state of experts is cut over what does not cut them") {
  Case c({{"d", 2, {"batch"}}, {"e", 2, kExperts}});
  sema::Plan plan = c.plan;
  for (shard::AxisId axis : plan.mesh.axes.ids())
    plan.optimizerState.axes.push_back(axis);
  shard::ShardedGraph sharded = shard::shardGraph(c.graph, plan);
  auto axes = [&](const std::string &name) {
    Lines out;
    for (ops::WeightId id : c.graph.model.weights.ids())
      if (c.graph.model.weights[id].name == "decoder." + name)
        for (shard::AxisId axis : sharded.weights[id].optimizerState)
          out.push_back(plan.mesh.axes[axis].name);
    return out;
  };
  CHECK(axes("wgate") == Lines{"d"});
  CHECK(axes("wq") == Lines{"d", "e"});
  CHECK(axes("dispatch_router") == Lines{"d", "e"});
}

TEST_CASE("the busiest rank, and room for so many rows") {
  auto bytes = [](std::int64_t imbalance, std::int64_t capacity) {
    ops::Model m = model(false);
    for (ops::Body &body : m.bodies) {
      for (ops::Op &op : body.forward)
        if (op.attributes.route.isRouted()) {
          op.attributes.route.imbalance = imbalance;
          op.attributes.route.capacity = capacity;
        }
      for (ops::Value &value : body.values)
        if (value.route.isRouted()) {
          value.route.imbalance = imbalance;
          value.route.capacity = capacity;
        }
    }
    graph::OpGraph graph = graph::buildGraph(m, {});
    sema::Plan plan = planOf(graph, {{"e", 2, kExperts}});
    shard::ShardedGraph sharded = shard::shardGraph(graph, plan);
    CHECK(shard::verify(sharded) == Lines());
    Sizes out;
    for (ops::BodyId id : graph.bodies.ids())
      for (const Step &step : sharded.bodies[id].forward) {
        if (step.kind == StepKind::AllToAll)
          out.push_back(step.bytes.value);
        if (step.name == "decoder.up")
          out.push_back(step.work.flops.value), // of two experts
              out.push_back(step.work.modelFlops.value);
      }
    return out;
  };
  const std::int64_t asked = 2 * 2 * 16 * 16 * 8; // 16 rows each
  CHECK(bytes(1'000'000, 0) == Sizes{kRouted / 2, asked, asked, kRouted / 2});
  CHECK(bytes(1'250'000, 0) ==
        Sizes{kRouted * 5 / 8, asked * 5 / 4, asked, kRouted * 5 / 8});
  // Padded to the capacity, whatever the imbalance; what is dropped is gone.
  CHECK(bytes(1'250'000, 1'500'000) ==
        Sizes{kRouted * 3 / 4, asked * 3 / 2, asked, kRouted * 3 / 4});
  CHECK(bytes(1'000'000, 500'000) ==
        Sizes{kRouted / 4, asked / 2, asked, kRouted / 4});
}
