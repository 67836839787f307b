// Homes, moves and the verifier.
#include "tests/unit/Catch.h"
#include "tests/unit/ops/TinyModels.h"
#include "tests/unit/shard/Plans.h"

#include "compiler/shard/Contributions.h"

#include <functional>

using namespace planc;
using namespace planc::oracle;
using shard::AxisId;
using shard::Layout;
using shard::Move;
using shard::StepKind;

namespace {

/// Dimensions a (24), b (8) and k (2) over some axes.
struct Split {
  graph::OpGraph graph;
  sema::Plan plan;
  ops::DimId a, b, k;

  explicit Split(const std::vector<AxisSpec> &axes) {
    a = graph.model.dims.add({"a", "", 24, {}});
    b = graph.model.dims.add({"b", "", 8, {}});
    k = graph.model.dims.add({"k", "", 2, {}});
    plan = planOf(graph, axes);
  }
  shard::Homes homes() const { return {graph, plan}; }
};

std::vector<StepKind> kindsOf(const std::vector<Move> &moves) {
  std::vector<StepKind> out;
  for (const Move &move : moves)
    out.push_back(move.kind);
  return out;
}

using Kinds = std::vector<StepKind>;
using Sizes = std::vector<std::int64_t>;

} // namespace

TEST_CASE("home: the first of the list that the tensor has") {
  Split t({{"x", 2, {"b", "a"}}, {"y", 2, {"k"}}, {"one", 1, {"a"}}});
  shard::Homes homes = t.homes();
  CHECK(homes.home({t.a, t.b}, AxisId(0)) == t.b);
  CHECK(homes.home({t.a}, AxisId(0)) == t.a);
  CHECK_FALSE(homes.home({t.k}, AxisId(0)).isValid());
  CHECK(homes.layout({t.k, t.a}).cut ==
        std::vector<ops::DimId>{t.a, t.k, ops::DimId()});
}

TEST_CASE("a dimension has one factor an axis, outermost first") {
  Split t({{"x", 2, {"a", "k"}}, {"y", 3, {"a"}}, {"z", 4, {"k", "a"}}});
  shard::Homes homes = t.homes();
  CHECK(homes.parts(t.a, AxisId(0)) == 2);
  CHECK(homes.parts(t.a, AxisId(1)) == 3);
  CHECK(homes.parts(t.a, AxisId(2)) == 4);
  // k has 2: x takes both, z holds four copies of each part.
  CHECK(homes.parts(t.k, AxisId(2)) == 1);
  CHECK(homes.copies(t.k, AxisId(2)) == 4);
  CHECK(homes.localSizes({t.a, t.k}, homes.layout({t.a, t.k})) ==
        Sizes{24 / 2 / 3, 2});
  CHECK(homes.stride(AxisId(0)) == 12);
}

TEST_CASE("a dimension that stands twice is cut where it stands first") {
  Split t({{"x", 2, {"a"}}});
  CHECK(t.homes().localSizes({t.a, t.a}, t.homes().layout({t.a, t.a})) ==
        Sizes{12, 24});
}

TEST_CASE("moves: the smaller tensor first") {
  Split t({{"x", 2, {"a"}}, {"y", 2, {"b"}}, {"z", 2, {"a", "b"}}});
  shard::Homes homes = t.homes();
  Layout from = homes.whole(), to = homes.whole();
  from.partial = {true, true, false};
  to.cut = {t.a, ops::DimId(), t.b};
  std::vector<Move> moves = shard::planMoves(from, to, homes);
  CHECK(kindsOf(moves) ==
        Kinds{StepKind::Slice, StepKind::ReduceScatter, StepKind::AllReduce});
  for (const Move &move : moves)
    from = shard::afterMove(from, move, homes);
  CHECK(from == to);
}

TEST_CASE("moves: equal changes at once, others apart") {
  Split t({{"x", 2, {"a", "b"}}, {"y", 2, {"a", "b"}}, {"z", 2, {"b", "a"}}});
  shard::Homes homes = t.homes();
  Layout from = homes.whole();
  from.cut = {t.a, t.a, t.b};
  std::vector<Move> moves = shard::planMoves(from, homes.whole(), homes);
  REQUIRE(kindsOf(moves) == Kinds{StepKind::AllGather, StepKind::AllGather});
  CHECK(moves[0].axes == std::vector<AxisId>{AxisId(0), AxisId(1)});
  Layout to = homes.whole();
  to.cut = {t.b, t.b, t.b};
  moves = shard::planMoves(from, to, homes);
  REQUIRE(kindsOf(moves) == Kinds{StepKind::AllToAll});
  CHECK(moves[0].from == t.a);
  CHECK(moves[0].to == t.b);
}

TEST_CASE("moves: copies are summed first and gathered once") {
  Split t({{"x", 4, {"k"}}, {"y", 2, {"a"}}});
  shard::Homes homes = t.homes();
  Layout from = homes.whole();
  from.cut[0] = t.k;
  from.partial[0] = true;
  std::vector<Move> moves = shard::planMoves(from, homes.whole(), homes);
  REQUIRE(kindsOf(moves) == Kinds{StepKind::AllReduce, StepKind::AllGather});
  shard::Step sum, gather;
  shard::setGroup(sum, moves[0], homes);
  CHECK(sum.sizes == Sizes{2});
  CHECK(sum.strides == Sizes{2}); // y is inside x
  shard::setGroup(gather, moves[1], homes);
  CHECK(gather.sizes == Sizes{2});
  CHECK(gather.strides == Sizes{4});

  // Partial over the whole axis, home on fewer parts: scattered, then summed.
  Layout partial = homes.whole(), home = homes.whole();
  partial.partial[0] = true;
  home.cut[0] = t.k;
  moves = shard::planMoves(partial, home, homes);
  REQUIRE(kindsOf(moves) ==
          Kinds{StepKind::ReduceScatter, StepKind::AllReduce});
  partial = shard::afterMove(partial, moves[0], homes);
  CHECK(partial.cut[0] == t.k);
  CHECK(partial.partial[0]);
  CHECK(shard::afterMove(partial, moves[1], homes) == home);
}

namespace {

/// Layouts of three contributions, by the axes they are partial over; what is
/// done to add them, as text: `+` for an addition, else the axes of a
/// collective.
std::string settled(const std::vector<std::vector<bool>> &partial) {
  Split t({{"x", 2, {"a"}}, {"y", 2, {"a"}}, {"z", 2, {"a"}}});
  shard::Homes homes = t.homes();
  ops::Body body;
  ops::Value value;
  value.dims = {t.b};
  ops::ValueId source = body.values.add(value);
  shard::ShardedBody out;
  std::vector<shard::Step> steps;
  shard::Emission emission(body, homes, out);
  emission.into(steps);
  shard::Contributions contributions;
  contributions.home = homes.whole();
  for (const std::vector<bool> &axes : partial) {
    Layout layout = homes.whole();
    layout.partial = axes;
    contributions.values.push_back(emission.add(source, layout));
  }
  contributions.add = [&](const std::vector<shard::ShardedValueId> &operands) {
    emission.push({});
    return emission.add(source, emission.layout(operands[0]));
  };
  std::size_t left = shard::settle(contributions, emission, {}).size();
  std::string text;
  for (const shard::Step &step : steps) {
    text += step.kind == StepKind::Compute ? "+" : "";
    for (AxisId axis : step.axes)
      text += t.plan.mesh.axes[axis].name;
    text += " ";
  }
  return text + std::to_string(left) + " left";
}

} // namespace

TEST_CASE("contributions: one collective an axis, sums over fewer wait") {
  CHECK(settled({{true, true, false}, {true, true, false}}) == "+ xy 1 left");
  CHECK(settled({{true, true, false}, {true, false, false}}) == "y + x 1 left");
  CHECK(settled({{true, false, false}, {false, false, false}}) == "x 2 left");
  CHECK(settled({{true, false, false},
                 {false, false, false},
                 {true, false, false}}) == "+ x 2 left");
  CHECK(settled(
            {{true, true, true}, {true, true, false}, {true, false, false}}) ==
        "z + y + x 1 left");
  CHECK(settled({{false, false, false}, {false, false, false}}) == "2 left");
}

namespace {

/// A sound graph, broken by `damage`: the rules that complain.
std::string broken(const std::function<void(shard::ShardedGraph &)> &damage) {
  ops::tiny::Sizes sizes;
  sizes.heads = 4;
  graph::OpGraph graph = graph::buildGraph(ops::tiny::llamaLike(sizes), {});
  sema::Plan plan =
      planOf(graph, {{"d", 2, {"batch"}},
                     {"t", 2, {"heads", "kv_heads", "ffn", "vocab", "seq"}}});
  shard::ShardedGraph sharded = shard::shardGraph(graph, plan);
  REQUIRE(shard::verify(sharded).empty());
  damage(sharded);
  std::string rules;
  for (const std::string &line : shard::verify(sharded))
    if (rules.find(line.substr(0, 2)) == std::string::npos)
      rules += line.substr(0, 2) + " ";
  return rules;
}

shard::ShardedBody &layerOf(shard::ShardedGraph &graph) {
  return graph.bodies[ops::BodyId(1)];
}

shard::Step &firstOf(std::vector<shard::Step> &steps, StepKind kind) {
  for (shard::Step &step : steps)
    if (step.kind == kind)
      return step;
  FAIL("no such step");
  return steps[0];
}

} // namespace

TEST_CASE("the verifier names the broken rule") {
  using Graph = shard::ShardedGraph;
  CHECK(broken([](Graph &g) { layerOf(g).saved.clear(); }).find("H1") == 0);
  CHECK(broken([](Graph &g) {
          layerOf(g).values[shard::ShardedValueId(0)].sizes[0] = 3;
        }).find("H2") == 0);
  CHECK(broken([](Graph &g) {
          firstOf(layerOf(g).forward, StepKind::AllGather).kind =
              StepKind::Slice;
        }) == "H3 ");
  CHECK(broken([](Graph &g) {
          // As whole as before, but called cut less.
          layerOf(g).values[shard::ShardedValueId(0)].sizes[0] = 2;
        }).find("H2") == 0);
  CHECK(broken([](Graph &g) {
          firstOf(layerOf(g).forward, StepKind::AllGather).bytes = Bytes(1);
        }) == "H4 ");
  CHECK(broken([](Graph &g) {
          // The gather is forgotten: products read what is cut.
          shard::Step gather = firstOf(layerOf(g).forward, StepKind::AllGather);
          for (shard::Step &step : layerOf(g).forward)
            for (shard::ShardedValueId &id : step.operands)
              if (id == gather.results[0])
                id = gather.operands[0];
        }) == "H5 ");
  CHECK(broken([](Graph &g) {
          layerOf(g).outputs[0].value =
              firstOf(layerOf(g).forward, StepKind::AllGather).results[0];
        }) == "H6 ");
  CHECK(broken([](Graph &g) {
          layerOf(g).saved.push_back(
              firstOf(layerOf(g).forward, StepKind::AllGather).results[0]);
        }) == "H7 ");
  CHECK(broken([](Graph &g) { g.weights[ops::WeightId(1)].partial.clear(); }) ==
        "H8 ");
  CHECK(broken([](Graph &g) {
          firstOf(layerOf(g).forward, StepKind::AllGather).sizes.clear();
        }) == "H9 ");
}

TEST_CASE("text: one step a line, then the weights") {
  ops::tiny::Sizes sizes;
  graph::OpGraph graph = graph::buildGraph(ops::tiny::llamaLike(sizes), {});
  sema::Plan plan =
      planOf(graph, {{"d", 2, {"batch"}},
                     {"t", 2, {"heads", "kv_heads", "ffn", "vocab", "seq"}}});
  plan.optimizerState.axes = {AxisId(0)};
  std::string text = shard::toText(shard::shardGraph(graph, plan));
  auto has = [&](const char *line) {
    INFO(line << "\nin\n" << text);
    CHECK(text.find(line) != std::string::npos);
  };
  has("mesh d=2 t=2\nbody embed\n");
  has(" over t dim seq 64B  # h gather [batch/2, seq, hidden]\n");
  has("  # decoder.o [batch/2, seq, hidden] partial over t\n");
  has("  decoder.norm1 [hidden] optimizer over d grad partial over d, t: "
      "reduce_scatter d 32B, all_reduce t 16B, all_gather d 16B\n");
  has("  decoder.wq [hidden, heads/2, head_size] optimizer over d grad partial "
      "over d: reduce_scatter d 128B, all_gather d 64B\n");
}
