// A model with what the usual ones lack: contributions of one value that lie
// differently, a weight read twice in one body and in several, a weight that
// names a dimension twice, norms inside heads, a softmax, keys read by two
// attentions and contracted besides, a value that skips over bodies.
#pragma once

#include "tests/unit/ops/TinyModels.h"

namespace planc::oracle {

class OddModel {
public:
  explicit OddModel(const ops::tiny::Sizes &sizes) : sizes_(sizes) {
    n_ = ops::tiny::detail::declare(b_, sizes);
  }

  ops::Model build() {
    tokens_ = b_.slot("tokens", {n_.batch, n_.seq}, true);
    targets_ = b_.slot("targets", {n_.batch, n_.seq}, true);
    carried_ = b_.slot("x", {n_.batch, n_.seq, n_.hidden});
    first_ = b_.slot("first", {n_.batch, n_.seq, n_.hidden});
    embed();
    mix();
    head();
    return std::move(b_.model);
  }

private:
  using Kind = ops::OpKind;
  using ValueId = ops::ValueId;

  /// A gain that is summed over heads in one body and not in the other.
  ValueId sized(const std::string &name, ValueId x) {
    return b_.op(Kind::RmsNorm, name,
                 {x, b_.weight("size_gain", {n_.headSize})});
  }

  void embed() {
    b_.body("embed");
    ValueId x =
        b_.op(Kind::Embed, "x",
              {b_.input(tokens_), b_.weight("table", {n_.vocab, n_.hidden})});
    ValueId y =
        b_.op(Kind::Mul, "scaled", {x, b_.weight("scale", {n_.hidden})});
    ValueId wide =
        b_.matmul("wide", y, "wwide", {n_.hidden, n_.heads, n_.headSize});
    ValueId narrow = b_.matmul("narrowed", sized("wide_normed", wide),
                               "wnarrow", {n_.heads, n_.headSize, n_.hidden});
    b_.output(carried_, narrow);
    b_.output(first_, x);
  }

  ValueId heads(const std::string &name, ValueId h, ops::DimId heads) {
    ValueId y = b_.matmul(name, h, "w" + name, {n_.hidden, heads, n_.headSize});
    return b_.op(Kind::RmsNorm, name + "_normed",
                 {y, b_.weight(name + "_gain", {n_.headSize})});
  }

  void mix() {
    b_.body("mixer", sizes_.layers);
    ValueId x = b_.input(carried_), first = b_.input(first_);
    ValueId h = b_.op(Kind::RmsNorm, "h", {x, b_.weight("norm", {n_.hidden})});
    ValueId q = heads("q", h, n_.heads);
    ValueId k = heads("k", h, n_.keyHeads);
    ValueId v = b_.matmul("v", h, "wv", {n_.hidden, n_.keyHeads, n_.headSize});
    ops::Attributes causal, full;
    causal.causal = true;
    ValueId a = b_.op(Kind::Attention, "a", {q, k, v}, causal);
    ValueId c = b_.op(Kind::Attention, "c", {q, k, v}, full);
    ValueId both = b_.op(Kind::Add, "both", {a, c});
    ValueId o = b_.matmul("o", both, "wo", {n_.heads, n_.headSize, n_.hidden});
    ValueId up = b_.matmul("up", h, "up", {n_.hidden, n_.ffn});
    ValueId again = b_.matmul("again", first, "up", {n_.hidden, n_.ffn});
    ValueId u = b_.op(Kind::Mul, "u",
                      {b_.op(Kind::Softmax, "soft", {up}),
                       b_.op(Kind::SquaredRelu, "relu", {again})});
    ValueId down = b_.matmul("down", u, "down", {n_.ffn, n_.hidden});
    ValueId joined = b_.matmul("joined", h, "join", {n_.hidden, n_.hidden});
    ValueId gated =
        b_.op(Kind::Mul, "gated", {h, b_.op(Kind::Silu, "silu", {joined})});
    ValueId values = b_.matmul("values", v, "wvalues",
                               {n_.keyHeads, n_.headSize, n_.hidden});
    b_.output(carried_, b_.op(Kind::Add, "out", {x, o, down, gated, values}));
  }

  void head() {
    b_.body("head");
    ValueId x = b_.input(carried_), first = b_.input(first_);
    ValueId wanted = b_.input(targets_);
    ValueId y = b_.op(
        Kind::Mul, "scaled",
        {b_.op(Kind::Add, "sum", {x, first}), b_.weight("scale", {n_.hidden})});
    ValueId slim = b_.matmul("slim", y, "wslim", {n_.hidden, n_.headSize});
    y = b_.matmul("fat", sized("slim_normed", slim), "wfat",
                  {n_.headSize, n_.hidden});
    ValueId logits = b_.matmul("logits", y, "table", {n_.vocab, n_.hidden});
    b_.model.loss = b_.op(Kind::CrossEntropy, "loss", {logits, wanted});
  }

  ops::tiny::Sizes sizes_;
  ops::tiny::Builder b_;
  ops::tiny::detail::Names n_;
  ops::SlotId tokens_, targets_, carried_, first_;
};

} // namespace planc::oracle
