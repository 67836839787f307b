// The table of docs/sharding.md: what must follow from the rule alone.
#include "tests/unit/Catch.h"
#include "tests/unit/ops/TinyModels.h"
#include "tests/unit/shard/OddModel.h"
#include "tests/unit/shard/Plans.h"

#include "compiler/shard/ShardedGraph.h"

#include <algorithm>

using namespace planc;
using namespace planc::oracle;
using program::CommunicationKind;
using shard::Step;
using shard::StepKind;

namespace {

const std::vector<std::string> kTensor = {"heads", "kv_heads", "ffn", "vocab"};
const std::vector<std::string> kSequence = {"heads", "kv_heads", "ffn", "vocab",
                                            "seq"};

ops::tiny::Sizes sizes() {
  ops::tiny::Sizes out;
  out.batch = 4;
  out.seq = 8;
  out.hidden = 16;
  out.heads = 8;
  out.keyHeads = 4;
  out.headSize = 2;
  out.ffn = 32;
  out.vocab = 64;
  return out;
}
/// batch · seq · hidden in bf16.
constexpr std::int64_t kActivation = 4 * 8 * 16 * 2;

/// A model sharded by a plan, with questions to ask.
class Case {
public:
  Case(ops::Model model, const std::vector<AxisSpec> &axes)
      : graph(graph::buildGraph(model, {})), plan(planOf(graph, axes)) {}

  void run() {
    sharded = shard::shardGraph(graph, plan);
    CHECK(shard::verify(sharded) == std::vector<std::string>());
  }

  const shard::ShardedBody &body(const std::string &name) const {
    for (ops::BodyId id : graph.bodies.ids())
      if (graph.bodies[id].forward.name == name)
        return sharded.bodies[id];
    FAIL("no body " << name);
    return sharded.bodies[ops::BodyId(0)];
  }
  const shard::WeightState &weight(const std::string &name) const {
    for (ops::WeightId id : graph.model.weights.ids())
      if (graph.model.weights[id].name == name)
        return sharded.weights[id];
    FAIL("no weight " << name);
    return sharded.weights[ops::WeightId(0)];
  }
  std::vector<sema::AxisId> axes(std::vector<std::string> names) const {
    std::vector<sema::AxisId> out;
    for (const std::string &name : names)
      out.push_back(axisOf(plan, name));
    return out;
  }

  graph::OpGraph graph;
  sema::Plan plan;
  shard::ShardedGraph sharded;
};

std::vector<Step> collectives(const std::vector<Step> &steps, StepKind kind) {
  std::vector<Step> out;
  std::copy_if(steps.begin(), steps.end(), std::back_inserter(out),
               [&](const Step &step) { return step.kind == kind; });
  return out;
}

/// `3 all_gather, 1 reduce_scatter` as numbers: reduce, gather, scatter,
/// exchange.
std::vector<std::size_t> counts(const std::vector<Step> &steps) {
  std::vector<std::size_t> out;
  for (StepKind kind : {StepKind::AllReduce, StepKind::AllGather,
                        StepKind::ReduceScatter, StepKind::AllToAll})
    out.push_back(collectives(steps, kind).size());
  return out;
}

std::vector<std::int64_t> bytesOf(const std::vector<Step> &steps) {
  std::vector<std::int64_t> out;
  for (const Step &step : steps)
    if (step.kind != StepKind::Compute && step.kind != StepKind::Slice)
      out.push_back(step.bytes.value);
  return out;
}

using Counts = std::vector<std::size_t>;
using Sizes = std::vector<std::int64_t>;

} // namespace

TEST_CASE("tensor parallelism: two all-reduces each way") {
  Case c(ops::tiny::llamaLike(sizes()), {{"t", 2, kTensor}});
  c.run();
  const shard::ShardedBody &layer = c.body("decoder");
  CHECK(counts(layer.forward) == Counts{2, 0, 0, 0});
  CHECK(counts(layer.backward) == Counts{2, 0, 0, 0});
  CHECK(bytesOf(layer.forward) == Sizes{kActivation, kActivation});
  CHECK(bytesOf(layer.backward) == Sizes{kActivation, kActivation});
  for (const Step &step : collectives(layer.forward, StepKind::AllReduce))
    CHECK(step.communication == CommunicationKind::Tensor);
  CHECK(counts(c.body("embed").forward) == Counts{1, 0, 0, 0});
  CHECK(counts(c.body("embed").backward) == Counts{0, 0, 0, 0});
  for (const shard::WeightState &weight : c.sharded.weights)
    CHECK(weight.reduces.empty());
}

TEST_CASE("sequence parallelism: 2 + 2 forward, 4 + 2 backward") {
  Case c(ops::tiny::llamaLike(sizes()), {{"t", 2, kSequence}});
  c.run();
  const shard::ShardedBody &layer = c.body("decoder");
  CHECK(counts(layer.forward) == Counts{0, 2, 2, 0});
  CHECK(counts(layer.backward) == Counts{0, 4, 2, 0});
  CHECK(bytesOf(layer.forward) == Sizes(4, kActivation));
  CHECK(bytesOf(layer.backward) == Sizes(6, kActivation));
  CHECK(counts(c.body("embed").forward) == Counts{0, 0, 1, 0});
  CHECK(counts(c.body("embed").backward) == Counts{0, 1, 0, 0});
  // Gains are read by ranks with different positions.
  CHECK(c.weight("decoder.norm1").partial == c.axes({"t"}));
  CHECK(c.weight("norm").reduces.size() == 1);
  CHECK(c.weight("norm").reduces[0].kind == StepKind::AllReduce);
  CHECK(c.weight("norm").reduces[0].bytes == Bytes(16 * 4));
  CHECK(c.weight("decoder.wq").partial.empty());
  CHECK(c.weight("table").partial.empty());
}

TEST_CASE("sequence parallelism: output biases over the axis once a step") {
  ops::tiny::Sizes s = sizes();
  s.keyHeads = s.heads;
  Case c(ops::tiny::gptLike(s), {{"t", 2, kSequence}});
  c.run();
  CHECK(counts(c.body("decoder").forward) == Counts{0, 2, 2, 0});
  CHECK(counts(c.body("decoder").backward) == Counts{0, 4, 2, 0});
  CHECK(c.weight("decoder.bo").partial == c.axes({"t"}));
  CHECK(c.weight("decoder.bdown").partial == c.axes({"t"}));
  CHECK(c.weight("decoder.bq").partial.empty());
  CHECK(c.weight("decoder.bup").partial.empty());
}

TEST_CASE("saved inputs are kept before their all-gather") {
  Case c(ops::tiny::llamaLike(sizes()), {{"t", 2, kSequence}});
  c.run();
  const shard::ShardedBody &layer = c.body("decoder");
  for (shard::ShardedValueId id : layer.saved)
    for (const Step &step : collectives(layer.forward, StepKind::AllGather))
      CHECK(std::count(step.results.begin(), step.results.end(), id) == 0);
}

TEST_CASE("head and loss over the vocabulary: three small all-reduces") {
  for (const std::vector<std::string> &list :
       {kTensor, kSequence, std::vector<std::string>{"vocab"}}) {
    Case c(ops::tiny::llamaLike(sizes()), {{"t", 2, list}});
    c.run();
    const shard::ShardedBody &head = c.body("head");
    bool sequence = list == kSequence;
    CHECK(counts(head.forward) == Counts{3, sequence ? 1u : 0u, 0, 0});
    for (const Step &step : collectives(head.forward, StepKind::AllReduce))
      CHECK(step.bytes == Bytes(4 * 8 * 4));
    // What comes of the statistics is whole and stays so.
    CHECK(collectives(head.forward, StepKind::Slice).empty());
    CHECK(counts(head.backward) ==
          (sequence ? Counts{0, 1, 1, 0} : Counts{1, 0, 0, 0}));
  }
}

namespace {

void setContext(sema::Plan &plan, const std::string &axis,
                sema::ContextMethod method) {
  plan.context.resize(plan.mesh.axes.size());
  plan.context[axisOf(plan, axis)].method = method;
}

} // namespace

TEST_CASE("ulysses: four all-to-alls each way") {
  Case c(ops::tiny::llamaLike(sizes()), {{"c", 4, {"seq"}}});
  setContext(c.plan, "c", sema::ContextMethod::Ulysses);
  c.run();
  const shard::ShardedBody &layer = c.body("decoder");
  CHECK(counts(layer.forward) == Counts{0, 0, 0, 4});
  CHECK(counts(layer.backward) == Counts{0, 0, 0, 4});
  // What one rank holds of q [4, 2, 8, 2] and of k and v, half of that.
  CHECK(bytesOf(layer.forward) == Sizes{256, 128, 128, 256});
  CHECK(bytesOf(layer.backward) == Sizes{256, 256, 128, 128});
  for (const std::vector<Step> *pass : {&layer.forward, &layer.backward})
    for (const Step &step : collectives(*pass, StepKind::AllToAll))
      CHECK(step.communication == CommunicationKind::Context);
  // Weights lie whole on the axis: no list has their heads.
  CHECK(c.weight("decoder.wq").sizes == Sizes{16, 8, 2});
  CHECK(c.weight("decoder.wq").partial == c.axes({"c"}));
}

TEST_CASE("ulysses borrows what tensor parallelism leaves of the heads") {
  Case c(ops::tiny::llamaLike(sizes()), {{"c", 2, {"seq"}}, {"t", 4, kTensor}});
  setContext(c.plan, "c", sema::ContextMethod::Ulysses);
  c.run();
  const shard::ShardedBody &layer = c.body("decoder");
  // One key head is left a rank of t: two ranks of c hold it both. Keys and
  // values are made whole along the sequence instead, and cut at once.
  CHECK(counts(layer.forward) == Counts{2, 2, 0, 2});
  for (const Step &step : layer.forward)
    if (step.kind == StepKind::Compute &&
        c.graph.bodies[ops::BodyId(1)].forward.forward[step.op].kind ==
            ops::OpKind::Attention)
      CHECK(layer.values[step.operands[0]].sizes == Sizes{4, 8, 1, 2});
}

TEST_CASE("a ring moves the bytes of the gather, in steps") {
  Case gather(ops::tiny::llamaLike(sizes()), {{"c", 2, {"seq"}}});
  gather.run();
  Case ring(ops::tiny::llamaLike(sizes()), {{"c", 2, {"seq"}}});
  setContext(ring.plan, "c", sema::ContextMethod::Ring);
  ring.run();
  for (bool forward : {true, false}) {
    auto passOf = [&](const Case &c) {
      const shard::ShardedBody &layer = c.body("decoder");
      return forward ? layer.forward : layer.backward;
    };
    CHECK(counts(passOf(ring)) == counts(passOf(gather)));
    CHECK(bytesOf(passOf(ring)) == bytesOf(passOf(gather)));
    for (const Step &step : passOf(ring))
      CHECK((step.ring == shard::RingSteps::Serial) ==
            (step.communication == CommunicationKind::Context));
  }
  ring.plan.overlap.context = true;
  ring.run();
  CHECK(
      collectives(ring.body("decoder").forward, StepKind::AllGather)[0].ring ==
      shard::RingSteps::Overlapped);
}

TEST_CASE("data parallel with the sequence over another axis") {
  Case c(ops::tiny::llamaLike(sizes()),
         {{"d", 2, {"batch"}}, {"c", 2, {"seq"}}});
  c.run();
  const shard::ShardedBody &layer = c.body("decoder");
  CHECK(counts(layer.forward) == Counts{0, 2, 0, 0});
  CHECK(counts(layer.backward) == Counts{0, 2, 2, 0});
  // Keys and values of half the batch: [2, 8, 4, 2] in bf16.
  CHECK(bytesOf(layer.forward) == Sizes(2, 256));
  CHECK(bytesOf(layer.backward) == Sizes(4, 256));
  for (const std::vector<Step> *pass : {&layer.forward, &layer.backward})
    for (const Step &step : *pass)
      if (step.kind != StepKind::Compute) {
        CHECK(step.communication == CommunicationKind::Context);
        CHECK(step.axes == c.axes({"c"}));
      }
  for (const shard::WeightState &weight : c.sharded.weights) {
    CHECK(weight.partial == c.axes({"d", "c"}));
    REQUIRE(weight.reduces.size() == 1);
    CHECK(weight.reduces[0].axes == c.axes({"d", "c"}));
    CHECK(weight.reduces[0].sizes == Sizes{2, 2});
    CHECK(weight.reduces[0].strides == Sizes{2, 1});
  }
  CHECK(counts(c.body("head").forward) == Counts{0, 0, 0, 0});
}

TEST_CASE("optimizer states cut: scatter gradients, gather parameters") {
  Case c(ops::tiny::llamaLike(sizes()),
         {{"d", 4, {"batch"}}, {"t", 2, kTensor}});
  c.plan.optimizerState.axes = c.axes({"d", "t"});
  c.run();
  const shard::WeightState &wq = c.weight("decoder.wq");
  CHECK(wq.optimizerState == c.axes({"d"})); // t cuts it already
  REQUIRE(wq.reduces.size() == 1);
  CHECK(wq.reduces[0].kind == StepKind::ReduceScatter);
  CHECK(wq.reduces[0].bytes == Bytes(16 * 4 * 2 * 4));
  CHECK(wq.reduces[0].communication == CommunicationKind::Gradients);
  REQUIRE(wq.gathers.size() == 1);
  CHECK(wq.gathers[0].kind == StepKind::AllGather);
  CHECK(wq.gathers[0].bytes == Bytes(16 * 4 * 2 * 2));
  CHECK(wq.gathers[0].communication == CommunicationKind::Parameters);
  // Whole on t: its states are cut over both.
  CHECK(c.weight("norm").optimizerState == c.axes({"d", "t"}));
  CHECK(c.weight("norm").gathers[0].axes == c.axes({"d", "t"}));
}

TEST_CASE("parameters cut: one gather a body and pass, one scatter") {
  Case c(ops::tiny::llamaLike(sizes()), {{"f", 4, {"batch"}}});
  c.plan.optimizerState.axes = c.plan.gradients.axes = c.plan.parameters.axes =
      c.axes({"f"});
  c.run();
  // wq and wo 256 each, wk and wv 128 each, three of 512, two gains of 16.
  constexpr std::int64_t layer = 2 * 256 + 2 * 128 + 3 * 512 + 2 * 16;
  const shard::ShardedBody &body = c.body("decoder");
  CHECK(counts(body.forward) == Counts{0, 1, 0, 0});
  CHECK(counts(body.backward) == Counts{0, 1, 1, 0});
  CHECK(bytesOf(body.forward) == Sizes{layer * 2});
  CHECK(bytesOf(body.backward) == Sizes{layer * 2, layer * 4});
  CHECK(body.forward[0].communication == CommunicationKind::Parameters);
  CHECK(body.forward[0].results.size() == 9);
  CHECK(body.backward.back().communication == CommunicationKind::Gradients);
  CHECK(body.backward.back().operands.size() == 9);
  for (const auto &gradient : body.weightGradients)
    CHECK(gradient.step + 1 == body.backward.size());
  // Nothing reads the table in the backward.
  CHECK(counts(c.body("embed").backward) == Counts{0, 0, 1, 0});
  for (const shard::WeightState &weight : c.sharded.weights) {
    CHECK(weight.reduces.empty());
    CHECK(weight.gathers.empty());
  }
}

TEST_CASE("hybrid: scatter over the shards, reduce the piece over replicas") {
  Case c(ops::tiny::llamaLike(sizes()),
         {{"replica", 2, {"batch"}}, {"f", 2, {"batch"}}});
  c.plan.optimizerState.axes = c.plan.gradients.axes = c.plan.parameters.axes =
      c.axes({"f"});
  c.run();
  for (const Step &step : c.body("decoder").backward)
    if (step.kind != StepKind::Compute)
      CHECK(step.axes == c.axes({"f"}));
  const shard::WeightState &wq = c.weight("decoder.wq");
  CHECK(wq.partial == c.axes({"replica", "f"}));
  REQUIRE(wq.reduces.size() == 1);
  CHECK(wq.reduces[0].kind == StepKind::AllReduce);
  CHECK(wq.reduces[0].axes == c.axes({"replica"}));
  CHECK(wq.reduces[0].bytes == Bytes(256 / 2 * 4));

  c.plan.gradients.axes.clear();
  c.plan.parameters.axes.clear();
  c.run();
  const shard::WeightState &once = c.weight("decoder.wq");
  REQUIRE(once.reduces.size() == 2);
  CHECK(once.reduces[0].kind == StepKind::ReduceScatter);
  CHECK(once.reduces[0].axes == c.axes({"f"}));
  CHECK(once.reduces[0].bytes == Bytes(256 * 4));
  CHECK(once.reduces[1].kind == StepKind::AllReduce);
  CHECK(once.reduces[1].bytes == Bytes(256 / 2 * 4));
}

TEST_CASE("norms inside heads: their gains over the axis once a step") {
  Case c(OddModel(sizes()).build(), {{"t", 2, kTensor}});
  c.run();
  for (const char *gain : {"mixer.q_gain", "mixer.k_gain"}) {
    CHECK(c.weight(gain).partial == c.axes({"t"}));
    REQUIRE(c.weight(gain).reduces.size() == 1);
    CHECK(c.weight(gain).reduces[0].bytes == Bytes(2 * 4));
  }
  CHECK(c.weight("mixer.norm").partial.empty());
}

TEST_CASE("an axis larger than kv_heads: gradients summed over the copies") {
  Case c(ops::tiny::llamaLike(sizes()),
         {{"d", 2, {"batch"}}, {"t", 8, kTensor}});
  c.run();
  const shard::WeightState &wk = c.weight("decoder.wk");
  CHECK(wk.localElements == 16 * 1 * 2); // 4 heads in 4 parts, two copies
  CHECK(wk.partial == c.axes({"d", "t"}));
  REQUIRE(wk.reduces.size() == 2);
  CHECK(wk.reduces[0].axes == c.axes({"t"}));
  CHECK(wk.reduces[0].sizes == Sizes{2});
  CHECK(wk.reduces[0].strides == Sizes{1});
  CHECK(wk.reduces[1].axes == c.axes({"d"}));
  CHECK(c.weight("decoder.wq").partial == c.axes({"d"}));
  // The sum stays one through the contraction: still two all-reduces.
  CHECK(counts(c.body("decoder").backward) == Counts{2, 0, 0, 0});
  for (const Step &step :
       collectives(c.body("decoder").backward, StepKind::AllReduce))
    CHECK(step.sizes == Sizes{8});
}

TEST_CASE("rule 1: gathered whole before it is cut for the result") {
  Case c(ops::tiny::llamaLike(sizes()),
         {{"t", 2, {"heads", "seq", "kv_heads"}}});
  c.run();
  // k and v lie along seq, which attention gathers, then take their heads.
  const shard::ShardedBody &layer = c.body("decoder");
  std::vector<Step> slices = collectives(layer.forward, StepKind::Slice);
  REQUIRE(slices.size() == 2);
  for (const Step &slice : slices)
    for (const Step &step : layer.forward)
      if (!step.results.empty() && step.results[0] == slice.operands[0]) {
        CHECK(step.kind == StepKind::AllGather);
        CHECK(step.communication == CommunicationKind::Context);
      }
  CHECK(collectives(layer.forward, StepKind::AllToAll).empty());
}

TEST_CASE("a weight that its operator needs whole is stored whole") {
  Case c(ops::tiny::llamaLike(sizes()), {{"h", 2, {"hidden"}}});
  c.run();
  CHECK(c.weight("decoder.norm1").localElements == 16);
  CHECK(c.weight("decoder.wq").localElements == 16 / 2 * 8 * 2);
  // The norm computes whole and is cut; products then work in place.
  for (const Step &step :
       collectives(c.body("decoder").forward, StepKind::AllGather))
    CHECK(step.name.find("norm") == std::string::npos);
  CHECK(collectives(c.body("decoder").forward, StepKind::Slice).size() == 2);
}

TEST_CASE("tied weights have one home and one reduction") {
  ops::tiny::Sizes s = sizes();
  s.keyHeads = s.heads;
  s.tied = true;
  Case c(ops::tiny::gptLike(s), {{"d", 2, {"batch"}}, {"t", 2, kSequence}});
  c.run();
  const shard::WeightState &table = c.weight("table");
  CHECK(table.partial == c.axes({"d"}));
  CHECK(table.reduces.size() == 1);
  std::size_t gradients = 0;
  for (const char *name : {"embed", "head"})
    for (const auto &gradient : c.body(name).weightGradients)
      if (c.graph.model.weights[gradient.weight].name == "table") {
        CHECK(c.body(name).values[gradient.value].layout == table.gradient);
        ++gradients;
      }
  CHECK(gradients == 2);
}

TEST_CASE("a gradient that is a sum in one body only is brought home there") {
  // Read over heads in `embed`, without heads in `head`.
  Case c(OddModel(sizes()).build(), {{"t", 2, kTensor}});
  c.run();
  CHECK(c.weight("size_gain").partial.empty());
  CHECK(c.weight("size_gain").reduces.empty());
  std::vector<Step> reduces =
      collectives(c.body("embed").backward, StepKind::AllReduce);
  REQUIRE_FALSE(reduces.empty());
  CHECK(reduces.back().communication == CommunicationKind::Gradients);
  CHECK(reduces.back().bytes == Bytes(2 * 4));
  for (const Step &step :
       collectives(c.body("head").backward, StepKind::AllReduce))
    CHECK(step.communication == CommunicationKind::Tensor);
}

TEST_CASE("equal lists on two axes: one collective over their product") {
  Case c(ops::tiny::llamaLike(sizes()),
         {{"t", 2, kSequence}, {"u", 2, kSequence}});
  c.run();
  const shard::ShardedBody &layer = c.body("decoder");
  CHECK(counts(layer.forward) == Counts{0, 2, 2, 0});
  CHECK(counts(layer.backward) == Counts{0, 4, 2, 0});
  for (const Step &step : collectives(layer.backward, StepKind::AllGather))
    CHECK(step.axes == c.axes({"t", "u"}));
}

TEST_CASE("an axis of size one changes nothing") {
  Case one(ops::tiny::llamaLike(sizes()),
           {{"d", 1, {"batch"}}, {"t", 2, kSequence}});
  one.plan.optimizerState.axes = one.axes({"d"});
  one.run();
  CHECK(counts(one.body("decoder").backward) == Counts{0, 4, 2, 0});
  for (const shard::WeightState &weight : one.sharded.weights) {
    CHECK(weight.optimizerState.empty());
    CHECK(weight.gathers.empty());
  }
}

TEST_CASE("a sum of several and of one: added while partial, brought once") {
  // h is read by products that contract what is cut and elementwise.
  Case c(OddModel(sizes()).build(), {{"t", 2, kTensor}});
  c.run();
  std::size_t reduces = 0;
  for (const Step &step :
       collectives(c.body("mixer").backward, StepKind::AllReduce))
    reduces += step.name == "grad h reduce";
  CHECK(reduces == 1);
}

TEST_CASE("a gradient that only weights' gradients read stays a sum") {
  // Positions have no batch: their gradient sums over it before the table's.
  ops::tiny::Sizes s = sizes();
  s.keyHeads = s.heads;
  Case c(ops::tiny::gptLike(s), {{"d", 2, {"batch"}}, {"t", 2, kSequence}});
  c.run();
  for (const Step &step : c.body("embed").backward)
    if (step.kind != StepKind::Compute)
      CHECK(step.axes == c.axes({"t"}));
  CHECK(c.weight("places").partial == c.axes({"d", "t"}));
}
