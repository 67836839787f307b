// A random small model and a random legal plan for it, by seed.
#pragma once

#include "tests/unit/ops/TinyModels.h"
#include "tests/unit/shard/OddModel.h"
#include "tests/unit/shard/Plans.h"

#include <algorithm>
#include <random>

namespace planc::oracle {

struct RandomCase {
  graph::OpGraph graph;
  sema::Plan plan;
  std::string text;
};

class CaseMaker {
public:
  explicit CaseMaker(std::uint32_t seed) : random_(seed) {}

  RandomCase make() {
    RandomCase out;
    out.graph = graph::buildGraph(model(), options());
    do
      axes_ = randomAxes();
    while (!isLegal(out.graph));
    out.plan = planOf(out.graph, axes_);
    shardState(out.plan);
    chooseContext(out);
    for (const AxisSpec &axis : axes_) {
      out.text += axis.name + "=" + std::to_string(axis.size) + ":";
      for (const std::string &word : axis.list)
        out.text += " " + word;
      sema::AxisId id = axisOf(out.plan, axis.name);
      constexpr const char *kMethods[] = {"", " ring", " ulysses"};
      out.text += kMethods[static_cast<int>(out.plan.context[id].method)];
      out.text += "; ";
    }
    return out;
  }

private:
  std::uint32_t below(std::uint32_t n) {
    return static_cast<std::uint32_t>(random_()) % n;
  }
  bool chance(std::uint32_t percent) { return below(100) < percent; }
  template <class T> T oneOf(std::vector<T> values) {
    return values[below(static_cast<std::uint32_t>(values.size()))];
  }

  ops::Model model() {
    ops::tiny::Sizes sizes;
    sizes.layers = oneOf<std::int64_t>({1, 1, 2});
    sizes.batch = oneOf<std::int64_t>({2, 4});
    sizes.seq = oneOf<std::int64_t>({4, 8});
    sizes.hidden = oneOf<std::int64_t>({4, 8});
    sizes.heads = 4;
    sizes.headSize = 2;
    sizes.ffn = oneOf<std::int64_t>({4, 8});
    sizes.vocab = 8;
    if (chance(30))
      sizes.window = 3;
    std::uint32_t which = below(6);
    sizes.keyHeads = which == 0 ? 4 : oneOf<std::int64_t>({1, 2, 2, 4});
    if (which > 3) {
      ops::tiny::ExpertSizes experts;
      experts.experts = oneOf<std::int64_t>({4, 8});
      experts.topK = oneOf<std::int64_t>({1, 2, 2, 3});
      experts.expertFfn = oneOf<std::int64_t>({4, 8});
      experts.shared = chance(50);
      experts.early = chance(50);
      hasExperts_ = true;
      return ops::tiny::expertsLike(sizes, experts);
    }
    if (which == 1) {
      sizes.sink = chance(40);
      sizes.softCap = chance(40) ? 2.5 : 0;
      return ops::tiny::llamaLike(sizes);
    }
    if (which == 2)
      return OddModel(sizes).build();
    if (which == 3)
      return ops::tiny::latentLike(sizes);
    sizes.tied = chance(50);
    sizes.dropout = chance(50) ? 0.25 : 0;
    return ops::tiny::gptLike(sizes);
  }

  graph::GraphOptions options() {
    using Fusion = graph::GraphOptions::Fusion;
    graph::GraphOptions out;
    if (chance(25))
      out.attention = graph::GraphOptions::AttentionKernel::Unfused;
    if (chance(25))
      out.elementwise = out.norm = Fusion::Unfused;
    using Loss = graph::GraphOptions::Loss;
    out.loss = oneOf<Loss>({Loss::Fused, Loss::Eager, Loss::Linear});
    if (chance(20))
      out.document = 3;
    return out;
  }

  /// Often the lists people write, often any at all.
  std::vector<std::string> randomList() {
    if (hasExperts_ && chance(50))
      return oneOf<std::vector<std::string>>(
          {{"experts", "batch"},
           {"experts", "batch"},
           {"experts"},
           {"batch", "experts"},
           {"experts", "seq"},
           {"heads", "kv_heads", "ffn", "vocab", "experts"},
           {"heads", "kv_heads", "ffn", "vocab", "experts", "seq"},
           {"heads", "kv_heads", "ffn", "expert_ffn", "vocab", "seq"},
           {"heads", "kv_heads", "ffn", "expert_ffn", "vocab"},
           {"expert_ffn", "experts", "batch"}});
    if (chance(50))
      return oneOf<std::vector<std::string>>(
          {{"batch"},
           {"seq"},
           {"heads", "kv_heads", "ffn", "vocab"},
           {"heads", "kv_heads", "ffn", "vocab", "seq"},
           {"vocab"},
           {"batch", "seq"},
           {"heads", "kv_heads"},
           {"hidden", "heads", "kv_heads", "ffn"},
           {}});
    std::vector<std::string> all = {"batch",  "seq",   "heads",    "ffn",
                                    "hidden", "vocab", "head_size"};
    if (chance(30))
      all.insert(all.end(),
                 {"kv_lora", "rope_size", "qk_size", "v_size", "wide", "nope"});
    if (hasExperts_) {
      all.push_back("experts");
      all.push_back("expert_ffn");
    }
    std::shuffle(all.begin(), all.end(), random_);
    all.resize(1 + below(5));
    auto heads = std::find(all.begin(), all.end(), "heads");
    if (heads != all.end()) {
      auto after = static_cast<std::uint32_t>(all.end() - heads);
      all.insert(heads + 1 + below(after), "kv_heads");
    }
    return all;
  }

  std::vector<AxisSpec> randomAxes() {
    std::vector<AxisSpec> axes;
    std::uint32_t count = 1 + below(3);
    std::int64_t devices = 1;
    for (std::uint32_t i = 0; i < count; ++i) {
      std::int64_t size = oneOf<std::int64_t>({1, 2, 2, 2, 2, 4});
      if (devices * size > 8)
        size = 1;
      devices *= size;
      axes.push_back(
          {std::string(1, static_cast<char>('a' + i)), size, randomList()});
    }
    return axes;
  }

  /// What sema refuses: a dimension that its axes do not divide, but for
  /// `kv_heads`, which may also divide its axis.
  bool isLegal(const graph::OpGraph &graph) const {
    for (const ops::Dim &dim : graph.model.dims) {
      std::int64_t left = dim.size;
      for (const AxisSpec &axis : axes_) {
        if (std::find(axis.list.begin(), axis.list.end(), dim.name) ==
            axis.list.end())
          continue;
        bool divides = left % axis.size == 0;
        bool divided = dim.name == "kv_heads" && axis.size % left == 0;
        if (!divides && !divided)
          return false;
        left = divides ? left / axis.size : 1;
      }
    }
    return true;
  }

  /// How attention works over the axes that cut its sequence; ulysses where
  /// there are heads to borrow.
  void chooseContext(RandomCase &out) {
    out.plan.context.resize(out.plan.mesh.axes.size());
    out.plan.overlap.context = chance(50);
    std::vector<std::int64_t> left;
    for (const char *name : {"heads", "kv_heads"})
      left.push_back(leftOf(out.graph, name));
    for (const AxisSpec &axis : axes_) {
      if (!cutsSequence(axis) || chance(30))
        continue;
      sema::ContextAxis &context =
          out.plan.context[axisOf(out.plan, axis.name)];
      context.method = sema::ContextMethod::Ring;
      bool keysFit = left[1] % axis.size == 0 || axis.size % left[1] == 0;
      if (left[0] % axis.size != 0 || !keysFit || chance(40))
        continue;
      context.method = sema::ContextMethod::Ulysses;
      left[0] /= axis.size;
      left[1] = left[1] % axis.size == 0 ? left[1] / axis.size : 1;
    }
  }

  /// The first of the list that queries have.
  static bool cutsSequence(const AxisSpec &axis) {
    for (const std::string &word : axis.list)
      for (const char *of : {"batch", "seq", "heads", "head_size", "qk_size"})
        if (word == of)
          return word == "seq";
    return false;
  }

  /// What the axes leave of a dimension; of `kv_heads`, if there is none, what
  /// they leave of `heads`.
  std::int64_t leftOf(const graph::OpGraph &graph, std::string name) const {
    auto has = [&](const ops::Dim &dim) { return dim.name == name; };
    const auto &dims = graph.model.dims;
    if (std::none_of(dims.begin(), dims.end(), has))
      name = "heads";
    std::int64_t left = std::find_if(dims.begin(), dims.end(), has)->size;
    for (const AxisSpec &axis : axes_)
      if (std::count(axis.list.begin(), axis.list.end(), name))
        left = left % axis.size == 0 ? left / axis.size : 1;
    return left;
  }

  void shardState(sema::Plan &plan) {
    for (sema::AxisId axis : plan.mesh.axes.ids()) {
      if (chance(30))
        plan.optimizerState.axes.push_back(axis);
      if (chance(20))
        plan.gradients.axes.push_back(axis);
      if (chance(20))
        plan.parameters.axes.push_back(axis);
    }
  }

  std::mt19937 random_;
  std::vector<AxisSpec> axes_;
  bool hasExperts_ = false;
};

} // namespace planc::oracle
