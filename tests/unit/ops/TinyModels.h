// Small whole models, built by hand as sema builds them from text: an
// embedding, a repeat of decoder layers, a head with its loss.
#pragma once

#include "compiler/ops/Infer.h"
#include "compiler/ops/Op.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace planc::ops::tiny {

/// Adds dimensions, weights and operators to a model, one body at a time.
class Builder {
public:
  Model model;

  DimId dim(std::string name, std::int64_t size) {
    return model.dims.add({std::move(name), "", size, {}});
  }
  SlotId slot(std::string name, Dims dims, bool given = false) {
    return model.slots.add({std::move(name), std::move(dims), given});
  }

  /// Operators added from here on stand in this body.
  BodyId body(std::string name, std::int64_t iterations = 1) {
    body_ = model.bodies.add({});
    model.bodies[body_].name = name;
    iterations_ = iterations;
    Segment segment;
    segment.isRepeat = iterations != 1;
    segment.name = segment.isRepeat ? name : "";
    segment.iterations.assign(static_cast<std::size_t>(iterations), body_);
    model.segments.push_back(std::move(segment));
    return body_;
  }
  Body &here() { return model.bodies[body_]; }

  ValueId input(SlotId slot) {
    const Slot &of = model.slots[slot];
    ValueId value = add(of.name, of.dims,
                        of.given ? ValueKind::Given : ValueKind::Activation);
    here().inputs.push_back({slot, value});
    return value;
  }
  void output(SlotId slot, ValueId value) {
    here().outputs.push_back({slot, value});
  }

  /// A weight of the body's scope; the same name again is the same weight.
  ValueId weight(const std::string &name, const Dims &dims,
                 std::int64_t batchDims = 0) {
    std::string full = iterations_ == 1 ? name : here().name + "." + name;
    WeightId id;
    for (WeightId old : model.weights.ids())
      if (model.weights[old].name == full)
        id = old;
    if (!id.isValid())
      id =
          model.weights.add({full, dims, batchDims, iterations_, 0, false, {}});
    for (ValueId old : here().values.ids())
      if (here().values[old].weight == id)
        return old;
    ++model.weights[id].fanout;
    ValueId value = add(full, dims, ValueKind::Weight);
    here().values[value].weight = id;
    return value;
  }

  /// All results of an operator, named after `name`.
  std::vector<ValueId> results(OpKind kind, const std::string &name,
                               const std::vector<ValueId> &operands,
                               const Attributes &attributes = {},
                               const Dims &over = {}, DimId along = {}) {
    InferRequest request;
    request.kind = kind;
    request.attributes = &attributes;
    request.over = request.parts = over;
    request.along = along;
    if (kind == OpKind::User)
      request.userOp = &model.userOps[attributes.userOp];
    for (ValueId operand : operands) {
      const Value &value = here().values[operand];
      bool isWeight = value.kind == ValueKind::Weight;
      request.operands.push_back(
          {value.dims, isWeight,
           isWeight ? model.weights[value.weight].batchDims : 0, value.route});
    }
    Inferred inferred = inferShapes(request, model.dims);
    if (inferred.error) {
      std::fprintf(stderr, "%s: %s\n", name.c_str(),
                   inferred.error->text.c_str());
      std::abort();
    }
    Op op;
    op.kind = kind;
    op.attributes = attributes;
    op.attributes.offsets = inferred.offsets;
    op.name = iterations_ == 1 ? name : here().name + "." + name;
    op.operands = operands;
    for (const InferredResult &result : inferred.results) {
      op.results.push_back(
          add(result.suffix.empty() ? name : name + "." + result.suffix,
              result.rule.dims, result.kind));
      here().values[op.results.back()].route = result.route;
      op.rules.push_back(result.rule);
    }
    here().forward.push_back(op);
    return op.results;
  }
  ValueId op(OpKind kind, const std::string &name,
             const std::vector<ValueId> &operands,
             const Attributes &attributes = {}, const Dims &over = {}) {
    return results(kind, name, operands, attributes, over).front();
  }
  std::vector<ValueId> split(const std::string &name, ValueId x, DimId along,
                             const Dims &parts) {
    return results(OpKind::Split, name, {x}, {}, parts, along);
  }
  ValueId concat(const std::string &name, const std::vector<ValueId> &parts,
                 DimId along) {
    return results(OpKind::Concat, name, parts, {}, {}, along).front();
  }
  ValueId matmul(const std::string &name, ValueId x, const std::string &w,
                 const Dims &dims) {
    return op(OpKind::MatMul, name, {x, weight(w, dims)});
  }

  /// Tokens and their weights, as sema builds `dispatch` (a router, its bias,
  /// the choice); `combine` reads both.
  struct Dispatched {
    ValueId tokens, weights;
    Attributes attributes;
  };
  Dispatched dispatch(const std::string &name, ValueId x, DimId experts,
                      std::int64_t topK) {
    Dims router = {here().values[x].dims.back(), experts};
    ValueId scores = op(OpKind::RouterBias, name + "_scores",
                        {op(OpKind::Router, name + "_router",
                            {x, weight(name + "_router", router)}),
                         weight(name + "_bias", {experts})});
    Dispatched out;
    Route &route = out.attributes.route;
    route.experts = experts;
    route.choices = here().values[scores].dims.back();
    route.count = model.dims[experts].size;
    route.topK = topK;
    out.weights = op(OpKind::TopK, name + "_weights", {scores}, out.attributes);
    out.tokens = op(OpKind::Dispatch, name, {x, out.weights}, out.attributes);
    return out;
  }
  ValueId combine(const std::string &name, ValueId y, const Dispatched &from,
                  OpKind kind = OpKind::Combine) {
    return op(kind, name, {y, from.weights}, from.attributes);
  }
  ValueId expertsProduct(const std::string &name, ValueId x, const Dims &dims) {
    return op(OpKind::MatMul, name, {x, weight("w" + name, dims, 1)});
  }

private:
  ValueId add(const std::string &name, Dims dims, ValueKind kind) {
    Value value;
    value.name = name;
    for (int copy = 2; taken(value.name); ++copy)
      value.name = name + "_" + std::to_string(copy);
    value.dims = std::move(dims);
    value.kind = kind;
    return here().values.add(std::move(value));
  }
  bool taken(const std::string &name) const {
    const auto &values = model.bodies[body_].values;
    return std::any_of(values.begin(), values.end(),
                       [&](const Value &value) { return value.name == name; });
  }

  BodyId body_;
  std::int64_t iterations_ = 1;
};

struct Sizes {
  std::int64_t layers = 2, batch = 2, seq = 4, hidden = 8, heads = 4,
               keyHeads = 2, headSize = 2, ffn = 12, vocab = 16;
  double dropout = 0; ///< gpt: attention, residual and embedding
  std::optional<std::int64_t> window;
  bool sink = false;  ///< llama: a logit a head that attention may leave its
                      ///< weight to
  double softCap = 0; ///< llama: of attention's scores and of the logits
  bool tied = false;  ///< gpt: the head is the embedding's table
};

namespace detail {

struct Names {
  DimId batch, seq, hidden, heads, keyHeads, headSize, ffn, vocab;
};

inline Names declare(Builder &b, const Sizes &sizes) {
  Names n;
  n.batch = b.model.batch = b.dim("batch", sizes.batch);
  n.seq = b.model.seq = b.dim("seq", sizes.seq);
  n.hidden = b.dim("hidden", sizes.hidden);
  n.heads = b.dim("heads", sizes.heads);
  n.keyHeads = sizes.keyHeads == sizes.heads
                   ? n.heads
                   : b.dim("kv_heads", sizes.keyHeads);
  n.headSize = b.dim("head_size", sizes.headSize);
  n.ffn = b.dim("ffn", sizes.ffn);
  n.vocab = b.dim("vocab", sizes.vocab);
  return n;
}

} // namespace detail

/// The `llama` of the language: rms_norm, rope, grouped queries, SwiGLU.
inline Model llamaLike(const Sizes &sizes = {}) {
  Builder b;
  b.model.name = "llama";
  detail::Names n = detail::declare(b, sizes);
  SlotId tokens = b.slot("tokens", {n.batch, n.seq}, true);
  SlotId targets = b.slot("targets", {n.batch, n.seq}, true);
  SlotId carried = b.slot("x", {n.batch, n.seq, n.hidden});

  b.body("embed");
  ValueId looked = b.input(tokens);
  b.output(carried, b.op(OpKind::Embed, "x",
                         {looked, b.weight("table", {n.vocab, n.hidden})}));

  b.body("decoder", sizes.layers);
  Attributes causal;
  causal.causal = true;
  causal.window = sizes.window;
  ValueId x = b.input(carried);
  ValueId h = b.op(OpKind::RmsNorm, "h", {x, b.weight("norm1", {n.hidden})});
  ValueId q = b.op(OpKind::Rope, "q",
                   {b.matmul("wq", h, "wq", {n.hidden, n.heads, n.headSize})});
  ValueId k =
      b.op(OpKind::Rope, "k",
           {b.matmul("wk", h, "wk", {n.hidden, n.keyHeads, n.headSize})});
  ValueId v = b.matmul("v", h, "wv", {n.hidden, n.keyHeads, n.headSize});
  std::vector<ValueId> operands = {q, k, v};
  if (sizes.sink)
    operands.push_back(b.weight("sink", {n.heads}));
  causal.softCap = sizes.softCap;
  ValueId a = b.op(OpKind::Attention, "attention", operands, causal);
  ValueId o = b.matmul("o", a, "wo", {n.heads, n.headSize, n.hidden});
  ValueId y = b.op(OpKind::Add, "y", {x, o});
  ValueId g = b.op(OpKind::RmsNorm, "g", {y, b.weight("norm2", {n.hidden})});
  ValueId gate = b.matmul("gate", g, "gate", {n.hidden, n.ffn});
  ValueId act = b.op(OpKind::Silu, "silu", {gate});
  ValueId up = b.matmul("up", g, "up", {n.hidden, n.ffn});
  ValueId u = b.op(OpKind::Mul, "u", {act, up});
  ValueId down = b.matmul("down", u, "down", {n.ffn, n.hidden});
  b.output(carried, b.op(OpKind::Add, "x_out", {y, down}));

  b.body("head");
  ValueId last = b.input(carried);
  ValueId wanted = b.input(targets);
  ValueId f = b.op(OpKind::RmsNorm, "f", {last, b.weight("norm", {n.hidden})});
  ValueId logits = b.matmul("logits", f, "output", {n.hidden, n.vocab});
  Attributes cap;
  cap.softCap = sizes.softCap;
  if (sizes.softCap > 0)
    logits = b.op(OpKind::SoftCap, "capped", {logits}, cap);
  b.model.loss = b.op(OpKind::CrossEntropy, "loss", {logits, wanted});
  return std::move(b.model);
}

/// Mixture of experts: `ffn` of a dense layer, then `expertFfn` of `experts`,
/// `topK` a token, beside a shared expert.
struct ExpertSizes {
  std::int64_t experts = 4, topK = 2, expertFfn = 4;
  bool shared = true;
  bool early = false; ///< weights multiplied in before the last product
};

inline Model expertsLike(const Sizes &sizes, const ExpertSizes &of = {}) {
  Builder b;
  b.model.name = "experts";
  detail::Names n = detail::declare(b, sizes);
  DimId experts = b.dim("experts", of.experts);
  DimId expertFfn = b.dim("expert_ffn", of.expertFfn);
  SlotId tokens = b.slot("tokens", {n.batch, n.seq}, true);
  SlotId targets = b.slot("targets", {n.batch, n.seq}, true);
  SlotId carried = b.slot("x", {n.batch, n.seq, n.hidden});

  b.body("embed");
  b.output(carried,
           b.op(OpKind::Embed, "x",
                {b.input(tokens), b.weight("table", {n.vocab, n.hidden})}));

  b.body("decoder", sizes.layers);
  ValueId x = b.input(carried);
  ValueId h = b.op(OpKind::RmsNorm, "h", {x, b.weight("norm", {n.hidden})});
  Attributes causal;
  causal.causal = true;
  ValueId q = b.matmul("q", h, "wq", {n.hidden, n.heads, n.headSize});
  ValueId k = b.matmul("k", h, "wk", {n.hidden, n.keyHeads, n.headSize});
  ValueId v = b.matmul("v", h, "wv", {n.hidden, n.keyHeads, n.headSize});
  ValueId a = b.op(OpKind::Attention, "attention", {q, k, v}, causal);
  ValueId y =
      b.op(OpKind::Add, "y",
           {x, b.matmul("o", a, "wo", {n.heads, n.headSize, n.hidden})});
  ValueId g = b.op(OpKind::RmsNorm, "g", {y, b.weight("norm2", {n.hidden})});
  Builder::Dispatched sent = b.dispatch("dispatch", g, experts, of.topK);
  ValueId act = b.op(
      OpKind::Silu, "act",
      {b.expertsProduct("gate", sent.tokens, {experts, n.hidden, expertFfn})});
  ValueId up =
      b.expertsProduct("up", sent.tokens, {experts, n.hidden, expertFfn});
  ValueId both = b.op(OpKind::Mul, "both", {act, up});
  if (of.early)
    both = b.op(OpKind::Mul, "weighed",
                {both, b.op(OpKind::RouteWeights, "weights_sent",
                            {sent.weights}, sent.attributes)});
  ValueId down = b.expertsProduct("down", both, {experts, expertFfn, n.hidden});
  ValueId biased =
      of.early ? down
               : b.op(OpKind::Add, "biased",
                      {down, b.weight("bdown", {experts, n.hidden}, 1)});
  ValueId out = b.combine("combine", of.early ? down : biased, sent,
                          of.early ? OpKind::CombineSum : OpKind::Combine);
  if (of.shared) {
    ValueId s = b.op(OpKind::Silu, "s",
                     {b.matmul("shared", g, "wshared", {n.hidden, n.ffn})});
    out = b.op(OpKind::Add, "joined",
               {out, b.matmul("back", s, "wback", {n.ffn, n.hidden})});
  }
  b.output(carried, b.op(OpKind::Add, "x_out", {y, out}));

  b.body("head");
  ValueId last = b.input(carried);
  ValueId wanted = b.input(targets);
  ValueId logits = b.matmul("logits", last, "output", {n.hidden, n.vocab});
  b.model.loss = b.op(OpKind::CrossEntropy, "loss", {logits, wanted});
  return std::move(b.model);
}

/// GPT as Megatron trains it: learned positions, layer_norm, biases, gelu,
/// dropout. `keyHeads` should equal `heads`.
inline Model gptLike(const Sizes &sizes = {}) {
  Builder b;
  b.model.name = "gpt";
  detail::Names n = detail::declare(b, sizes);
  DimId places = b.dim("positions", sizes.seq);
  SlotId tokens = b.slot("tokens", {n.batch, n.seq}, true);
  SlotId positions = b.slot("positions", {n.seq}, true);
  SlotId targets = b.slot("targets", {n.batch, n.seq}, true);
  SlotId carried = b.slot("x", {n.batch, n.seq, n.hidden});
  Attributes drop;
  drop.dropout = sizes.dropout;
  auto norm = [&](const std::string &name, ValueId x) {
    return b.op(OpKind::LayerNorm, name,
                {x, b.weight(name + "_gain", {n.hidden}),
                 b.weight(name + "_bias", {n.hidden})});
  };
  auto linear = [&](const std::string &name, ValueId x, const Dims &dims,
                    const Dims &bias) {
    ValueId y = b.matmul(name, x, "w" + name, dims);
    return b.op(OpKind::Add, name + "_biased", {y, b.weight("b" + name, bias)});
  };

  b.body("embed");
  ValueId word =
      b.op(OpKind::Embed, "word",
           {b.input(tokens), b.weight("table", {n.vocab, n.hidden})});
  ValueId place =
      b.op(OpKind::Embed, "place",
           {b.input(positions), b.weight("places", {places, n.hidden})});
  ValueId sum = b.op(OpKind::Add, "sum", {word, place});
  b.output(carried, b.op(OpKind::Dropout, "x", {sum}, drop));

  b.body("decoder", sizes.layers);
  Attributes causal = drop;
  causal.causal = true;
  causal.window = sizes.window;
  ValueId x = b.input(carried);
  ValueId h = norm("h", x);
  ValueId q =
      linear("q", h, {n.hidden, n.heads, n.headSize}, {n.heads, n.headSize});
  ValueId k = linear("k", h, {n.hidden, n.keyHeads, n.headSize},
                     {n.keyHeads, n.headSize});
  ValueId v = linear("v", h, {n.hidden, n.keyHeads, n.headSize},
                     {n.keyHeads, n.headSize});
  ValueId a = b.op(OpKind::Attention, "attention", {q, k, v}, causal);
  ValueId o = linear("o", a, {n.heads, n.headSize, n.hidden}, {n.hidden});
  ValueId y = b.op(OpKind::Add, "y",
                   {x, b.op(OpKind::Dropout, "o_dropped", {o}, drop)});
  ValueId g = norm("g", y);
  ValueId u =
      b.op(OpKind::Gelu, "u", {linear("up", g, {n.hidden, n.ffn}, {n.ffn})});
  ValueId d = linear("down", u, {n.ffn, n.hidden}, {n.hidden});
  b.output(carried, b.op(OpKind::Add, "x_out",
                         {y, b.op(OpKind::Dropout, "d_dropped", {d}, drop)}));

  b.body("head");
  ValueId last = b.input(carried);
  ValueId wanted = b.input(targets);
  ValueId f = norm("f", last);
  ValueId logits = sizes.tied
                       ? b.matmul("logits", f, "table", {n.vocab, n.hidden})
                       : b.matmul("logits", f, "output", {n.hidden, n.vocab});
  b.model.loss = b.op(OpKind::CrossEntropy, "loss", {logits, wanted});
  return std::move(b.model);
}

/// The attention of DeepSeek: q through a low rank, k and v through a latent
/// that all heads share, and a part of k with positions that they share too.
/// Its feed-forward makes gate and up at once and splits them.
inline Model latentLike(const Sizes &sizes = {}) {
  Builder b;
  b.model.name = "latent";
  detail::Names n = detail::declare(b, sizes);
  auto sized = [&](const char *name, std::int64_t size) {
    return b.dim(name, size);
  };
  DimId lora = sized("q_lora", 4), latent = sized("kv_lora", 2),
        nope = sized("nope", 2), rope = sized("rope_size", 2),
        qk = sized("qk_size", 4), value = sized("v_size", 4),
        down = sized("kv_down", 4), up = sized("kv_up", 6),
        wide = sized("wide", 2 * sizes.ffn);
  SlotId tokens = b.slot("tokens", {n.batch, n.seq}, true);
  SlotId targets = b.slot("targets", {n.batch, n.seq}, true);
  SlotId carried = b.slot("x", {n.batch, n.seq, n.hidden});

  b.body("embed");
  ValueId looked = b.input(tokens);
  b.output(carried, b.op(OpKind::Embed, "x",
                         {looked, b.weight("table", {n.vocab, n.hidden})}));

  b.body("decoder", sizes.layers);
  Attributes causal;
  causal.causal = true;
  causal.window = sizes.window;
  ValueId x = b.input(carried);
  ValueId h = b.op(OpKind::RmsNorm, "h", {x, b.weight("norm1", {n.hidden})});
  ValueId low = b.op(OpKind::RmsNorm, "low",
                     {b.matmul("q_down", h, "wq_down", {n.hidden, lora}),
                      b.weight("q_norm", {lora})});
  auto q =
      b.split("q_parts", b.matmul("q_all", low, "wq_up", {lora, n.heads, qk}),
              qk, {nope, rope});
  ValueId query =
      b.concat("q", {q[0], b.op(OpKind::Rope, "q_rope", {q[1]})}, qk);
  auto kv =
      b.split("kv_parts", b.matmul("kv_down", h, "wkv_down", {n.hidden, down}),
              down, {latent, rope});
  ValueId c =
      b.op(OpKind::RmsNorm, "c", {kv[0], b.weight("kv_norm", {latent})});
  auto parts =
      b.split("k_parts", b.matmul("kv_up", c, "wkv_up", {latent, n.heads, up}),
              up, {nope, value});
  ValueId key =
      b.concat("k", {parts[0], b.op(OpKind::Rope, "k_rope", {kv[1]})}, qk);
  ValueId a =
      b.op(OpKind::Attention, "attention", {query, key, parts[1]}, causal);
  ValueId y = b.op(OpKind::Add, "y",
                   {x, b.matmul("o", a, "wo", {n.heads, value, n.hidden})});
  ValueId g = b.op(OpKind::RmsNorm, "g", {y, b.weight("norm2", {n.hidden})});
  auto two = b.split("two", b.matmul("gate_up", g, "gate_up", {n.hidden, wide}),
                     wide, {n.ffn, n.ffn});
  ValueId u =
      b.op(OpKind::Mul, "u", {b.op(OpKind::Silu, "silu", {two[0]}), two[1]});
  b.output(carried, b.op(OpKind::Add, "x_out",
                         {y, b.matmul("down", u, "down", {n.ffn, n.hidden})}));

  b.body("head");
  ValueId last = b.input(carried);
  ValueId wanted = b.input(targets);
  // A part that nobody reads: its gradient is zero.
  auto used = b.split(
      "used", b.op(OpKind::RmsNorm, "f", {last, b.weight("norm", {n.hidden})}),
      n.hidden,
      {sized("kept", sizes.hidden / 2), sized("unread", sizes.hidden / 2)});
  ValueId logits = b.matmul("logits", used[0], "output",
                            {b.here().values[used[0]].dims.back(), n.vocab});
  b.model.loss = b.op(OpKind::CrossEntropy, "loss", {logits, wanted});
  return std::move(b.model);
}

} // namespace planc::ops::tiny
