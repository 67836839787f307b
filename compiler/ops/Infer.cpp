#include "compiler/ops/Infer.h"

#include "compiler/ops/Roles.h"

#include <fmt/format.h>

namespace planc::ops {
namespace {

using ErrorKind = ShapeError::Kind;

class Inference {
public:
  Inference(const InferRequest &request, DimTable &dims)
      : request_(request), dims_(dims) {}

  Inferred run();

private:
  const Dims &dimsOf(std::size_t operand) const {
    return request_.operands[operand].dims;
  }
  std::string nameOf(DimId dim) const { return fullName(dims_[dim]); }
  std::string list(const Dims &dims) const;

  Inferred fail(ErrorKind kind, std::size_t operand, std::string text) const;
  Inferred give(ResultRule rule) const;
  std::optional<Inferred> expectCount(std::size_t low, std::size_t high) const;

  Inferred matMul() const;
  Dims sharedToContract() const;
  std::optional<Inferred> checkProduct(const Dims &over) const;
  OperandUse factorUse(std::size_t operand, const Dims &over) const;
  Inferred embed() const;
  Inferred attention();
  std::optional<Inferred> checkAttention() const;
  ResultRule attentionRule(const Dims &result) const;
  DimId keysOf(DimId seq);
  Inferred norm(std::size_t parameters) const;
  Inferred rows() const;
  Inferred unary() const;
  Inferred dropout() const;
  Inferred broadcast() const;
  Inferred crossEntropy() const;
  Inferred user() const;

  const InferRequest &request_;
  DimTable &dims_;
};

std::string Inference::list(const Dims &dims) const {
  std::string text = "[";
  for (DimId dim : dims)
    text += (text.size() > 1 ? ", " : "") + nameOf(dim);
  return text + "]";
}

Inferred Inference::fail(ErrorKind kind, std::size_t operand,
                         std::string text) const {
  Inferred out;
  out.error = ShapeError{kind, operand, std::move(text)};
  return out;
}

Inferred Inference::give(ResultRule rule) const {
  Inferred out;
  out.results.push_back(
      {"", ValueKind::Activation, Precision::Bf16, false, std::move(rule)});
  return out;
}

std::optional<Inferred> Inference::expectCount(std::size_t low,
                                               std::size_t high) const {
  std::size_t count = request_.operands.size();
  if (count >= low && count <= high)
    return std::nullopt;
  std::string_view name = toString(request_.kind);
  std::string wanted = low == high ? fmt::format("{}", low)
                       : high > 64 ? fmt::format("at least {}", low)
                                   : fmt::format("{} to {}", low, high);
  return fail(ErrorKind::Count, std::min(count, low),
              fmt::format("found {} operand{} where `{}` takes {}", count,
                          count == 1 ? "" : "s", name, wanted));
}

// --- matmul ------------------------------------------------------------------

Dims Inference::sharedToContract() const {
  const OperandShape &a = request_.operands[0], &b = request_.operands[1];
  if (!request_.over.empty() || (!a.isWeight && !b.isWeight))
    return request_.over;
  auto beforeBar = [](const OperandShape &shape, DimId dim) {
    auto bar = shape.dims.begin() + shape.batchDims;
    return std::find(shape.dims.begin(), bar, dim) != bar;
  };
  Dims shared;
  for (DimId dim : b.dims)
    if (contains(a.dims, dim) && !contains(shared, dim) && !beforeBar(b, dim) &&
        !beforeBar(a, dim))
      shared.push_back(dim);
  return shared;
}

std::optional<Inferred> Inference::checkProduct(const Dims &over) const {
  const OperandShape &a = request_.operands[0], &b = request_.operands[1];
  for (DimId dim : over)
    for (std::size_t i = 0; i < 2; ++i)
      if (!contains(dimsOf(i), dim))
        return fail(ErrorKind::Missing, i,
                    fmt::format("{} has no `{}` to contract", list(dimsOf(i)),
                                nameOf(dim)));
  for (std::int64_t i = 0; i < b.batchDims; ++i)
    if (!contains(a.dims, b.dims[static_cast<std::size_t>(i)]))
      return fail(
          ErrorKind::Missing, 0,
          fmt::format("{} has no `{}`, which stands before the bar of {}",
                      list(a.dims), nameOf(b.dims[static_cast<std::size_t>(i)]),
                      list(b.dims)));
  if (!over.empty())
    return std::nullopt;
  if (!a.isWeight && !b.isWeight)
    return fail(ErrorKind::NothingShared, 1,
                "a product of two activations needs `over =` to say what is "
                "contracted");
  return fail(ErrorKind::NothingShared, 1,
              fmt::format("{} and {} share no dimension to contract",
                          list(a.dims), list(b.dims)));
}

OperandUse Inference::factorUse(std::size_t operand, const Dims &over) const {
  OperandUse use;
  Dims done;
  for (DimId dim : dimsOf(operand)) {
    bool first = !contains(done, dim);
    bool sums = contains(over, dim) && first;
    use.dims.push_back(sums ? contracted(dim) : mapped(dim));
    done.push_back(dim);
  }
  return use;
}

Inferred Inference::matMul() const {
  if (auto error = expectCount(2, 2))
    return *error;
  Dims over = sharedToContract();
  if (auto error = checkProduct(over))
    return *error;
  ResultRule rule;
  for (std::size_t i = 0; i < 2; ++i)
    rule.operands.push_back(factorUse(i, over));
  Dims fromFirst;
  for (const DimUse &use : rule.operands[0].dims)
    if (use.role == Role::Map)
      fromFirst.push_back(use.as);
  rule.dims = fromFirst;
  for (const DimUse &use : rule.operands[1].dims)
    if (use.role == Role::Map && !contains(fromFirst, use.as))
      rule.dims.push_back(use.as);
  Dims sorted = rule.dims;
  std::sort(sorted.begin(), sorted.end());
  auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end())
    return fail(ErrorKind::Repeated, 1,
                fmt::format("the result {} would hold `{}` twice",
                            list(rule.dims), nameOf(*twice)));
  return give(std::move(rule));
}

// --- embed -------------------------------------------------------------------

Inferred Inference::embed() const {
  if (auto error = expectCount(2, 2))
    return *error;
  const Dims &tokens = dimsOf(0), &table = dimsOf(1);
  if (table.size() < 2)
    return fail(ErrorKind::Missing, 1,
                fmt::format("found {} where a table has two dimensions: what "
                            "is looked up, and what it gives",
                            list(table)));
  ResultRule rule;
  rule.dims = tokens;
  rule.operands = {oneHot(tokens, contracted(table[0])), {}};
  rule.operands[1].dims.push_back(contracted(table[0]));
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (contains(rule.dims, table[i]))
      return fail(ErrorKind::Repeated, 1,
                  fmt::format("`{}` stands both in {} and in {}",
                              nameOf(table[i]), list(tokens), list(table)));
    if (i == 0)
      continue;
    rule.dims.push_back(table[i]);
    rule.operands[1].dims.push_back(mapped(table[i]));
  }
  return give(std::move(rule));
}

// --- attention ---------------------------------------------------------------

std::optional<Inferred> Inference::checkAttention() const {
  for (std::size_t i = 0; i < 3; ++i)
    if (dimsOf(i).size() != 4)
      return fail(ErrorKind::Mismatch, i,
                  fmt::format("found {} where attention wants four dimensions: "
                              "batch, sequence, heads, head size",
                              list(dimsOf(i))));
  const Dims &q = dimsOf(0), &k = dimsOf(1), &v = dimsOf(2);
  auto differ = [&](std::size_t operand, DimId found, DimId wanted) {
    return fail(ErrorKind::Mismatch, operand,
                fmt::format("found `{}` where `{}` is expected: {} of "
                            "attention is {}",
                            nameOf(found), nameOf(wanted),
                            operand == 1 ? "the key" : "the value",
                            list(dimsOf(operand))));
  };
  if (k[0] != q[0])
    return differ(1, k[0], q[0]);
  if (k[3] != q[3])
    return differ(1, k[3], q[3]);
  for (std::size_t i = 0; i < 3; ++i)
    if (v[i] != k[i])
      return differ(2, v[i], k[i]);
  std::int64_t heads = dims_[q[2]].size, keyHeads = dims_[k[2]].size;
  if (keyHeads <= 0 || heads % keyHeads != 0)
    return fail(ErrorKind::Mismatch, 1,
                fmt::format("{} query heads (`{}`) cannot share {} key heads "
                            "(`{}`) evenly",
                            heads, nameOf(q[2]), keyHeads, nameOf(k[2])));
  return std::nullopt;
}

/// Query positions and heads are mapped; keys and values are needed whole along
/// the sequence, and so is the head size inside the scores.
ResultRule Inference::attentionRule(const Dims &result) const {
  const Dims &q = dimsOf(0), &k = dimsOf(1), &v = dimsOf(2);
  ResultRule rule;
  rule.dims = result;
  OperandUse query{{mapped(q[0]), mapped(q[1]), mapped(q[2]), gathered(q[3])}};
  OperandUse key{
      {mapped(k[0]), gathered(k[1]), mappedAs(k[2], q[2]), gathered(k[3])}};
  OperandUse value = key;
  bool keepsSize = contains(result, v[3]);
  value.dims[3] = keepsSize ? mapped(v[3]) : gathered(v[3]);
  rule.operands = {query, key, value};
  return rule;
}

/// Key positions as a dimension of their own, where scores are held in memory.
DimId Inference::keysOf(DimId seq) {
  Dim keys{"keys", "attention", dims_[seq].size, dims_[seq].origin};
  for (DimId dim : dims_.ids())
    if (dims_[dim].name == keys.name && dims_[dim].scope == keys.scope &&
        dims_[dim].size == keys.size)
      return dim;
  return dims_.add(keys);
}

Inferred Inference::attention() {
  if (auto error = expectCount(3, 3))
    return *error;
  if (auto error = checkAttention())
    return *error;
  const Dims q = dimsOf(0), k = dimsOf(1), v = dimsOf(2);
  Inferred out = give(attentionRule({q[0], q[1], q[2], v[3]}));
  auto keep = [&](std::string suffix, Precision precision, bool fixed,
                  const Dims &dims) {
    out.results.push_back({std::move(suffix), ValueKind::Statistic, precision,
                           fixed, attentionRule(dims)});
  };
  const Attributes *attributes = request_.attributes;
  if (!attributes || !attributes->unfused) {
    keep("lse", Precision::Fp32, true, {q[0], q[2], q[1]});
    return out;
  }
  Dims square = {q[0], q[2], q[1], keysOf(k[1])};
  keep("probabilities", Precision::Bf16, false, square);
  if (attributes->dropout > 0) {
    keep("mask", Precision::Int8, true, square);
    keep("dropped", Precision::Bf16, false, square);
  }
  return out;
}

// --- one tensor in, one of the same shape out --------------------------------

Inferred Inference::norm(std::size_t parameters) const {
  std::size_t count = request_.operands.size();
  if (count != 1)
    if (auto error = expectCount(1 + parameters, 1 + parameters))
      return *error;
  const Dims &x = dimsOf(0);
  if (x.empty())
    return fail(ErrorKind::Missing, 0, "found no dimension to normalise over");
  ResultRule rule;
  rule.dims = x;
  rule.operands.push_back(mapRows(x));
  for (std::size_t i = 1; i < count; ++i) {
    if (dimsOf(i) != Dims{x.back()})
      return fail(ErrorKind::Mismatch, i,
                  fmt::format("found {} where the norm of {} wants [{}]",
                              list(dimsOf(i)), list(x), nameOf(x.back())));
    rule.operands.push_back(gatherAll(dimsOf(i)));
  }
  return give(std::move(rule));
}

/// Operators that need their last dimension whole: softmax, rope.
Inferred Inference::rows() const {
  if (auto error = expectCount(1, 1))
    return *error;
  if (dimsOf(0).empty())
    return fail(ErrorKind::Missing, 0,
                fmt::format("`{}` needs a dimension to work along",
                            toString(request_.kind)));
  return give({dimsOf(0), {mapRows(dimsOf(0))}});
}

Inferred Inference::unary() const {
  if (auto error = expectCount(1, 1))
    return *error;
  return give({dimsOf(0), {mapAll(dimsOf(0))}});
}

Inferred Inference::dropout() const {
  Inferred out = unary();
  if (out.error || !request_.attributes || request_.attributes->dropout <= 0)
    return out;
  out.results.push_back({"mask", ValueKind::Statistic, Precision::Int8, true,
                         out.results[0].rule});
  return out;
}

// --- several tensors ---------------------------------------------------------

Inferred Inference::broadcast() const {
  std::size_t most = request_.kind == OpKind::Mul ? 2 : 1'000'000;
  if (auto error = expectCount(2, most))
    return *error;
  std::size_t widest = 0;
  for (std::size_t i = 1; i < request_.operands.size(); ++i)
    if (dimsOf(i).size() > dimsOf(widest).size())
      widest = i;
  ResultRule rule;
  rule.dims = dimsOf(widest);
  for (const OperandShape &operand : request_.operands) {
    for (DimId dim : operand.dims)
      if (!contains(rule.dims, dim))
        rule.dims.push_back(dim);
    rule.operands.push_back(mapAll(operand.dims));
  }
  return give(std::move(rule));
}

Inferred Inference::crossEntropy() const {
  if (auto error = expectCount(2, 2))
    return *error;
  const Dims &logits = dimsOf(0), &targets = dimsOf(1);
  if (logits.empty())
    return fail(ErrorKind::Missing, 0, "found no dimension of classes");
  Dims kept(logits.begin(), logits.end() - 1);
  bool same = kept.size() == targets.size();
  for (DimId dim : targets)
    same = same && contains(kept, dim);
  if (!same)
    return fail(ErrorKind::Mismatch, 1,
                fmt::format("found targets {} where logits {} want {}",
                            list(targets), list(logits), list(kept)));
  ResultRule rule;
  rule.dims = kept;
  rule.operands = {mapInto(logits, kept),
                   oneHot(targets, contracted(logits.back()))};
  rule.statistics = 3;
  Inferred out;
  out.results = {{"", ValueKind::Activation, Precision::Fp32, true, rule},
                 {"max", ValueKind::Statistic, Precision::Fp32, true, rule},
                 {"sum", ValueKind::Statistic, Precision::Fp32, true, rule}};
  return out;
}

Inferred Inference::user() const {
  const UserOp *op = request_.userOp;
  if (!op)
    return fail(ErrorKind::Count, 0, "the operator is not declared");
  ResultRule rule;
  rule.dims = op->result;
  for (std::size_t i = 0; i < request_.operands.size(); ++i) {
    OperandUse use;
    for (DimId dim : dimsOf(i)) {
      bool whole = contains(op->inOrder, dim);
      for (const UserOp::Gathered &gather : op->gathers)
        whole = whole || (gather.operand == i && gather.dim == dim);
      if (!whole && contains(op->contracts, dim))
        use.dims.push_back(contracted(dim));
      else if (!whole && contains(op->result, dim))
        use.dims.push_back(mapped(dim));
      else
        use.dims.push_back(gathered(dim));
    }
    rule.operands.push_back(std::move(use));
  }
  return give(std::move(rule));
}

Inferred Inference::run() {
  switch (request_.kind) {
  case OpKind::MatMul:
    return matMul();
  case OpKind::Embed:
    return embed();
  case OpKind::Attention:
    return attention();
  case OpKind::RmsNorm:
    return norm(1);
  case OpKind::LayerNorm:
    return norm(2);
  case OpKind::Rope:
  case OpKind::Softmax:
    return rows();
  case OpKind::Silu:
  case OpKind::Gelu:
  case OpKind::Relu:
  case OpKind::SquaredRelu:
    return unary();
  case OpKind::Dropout:
    return dropout();
  case OpKind::Add:
  case OpKind::Mul:
    return broadcast();
  case OpKind::CrossEntropy:
    return crossEntropy();
  case OpKind::User:
    return user();
  case OpKind::EmbedGrad:
  case OpKind::AttentionGrad:
  case OpKind::RopeGrad:
  case OpKind::RmsNormGrad:
  case OpKind::RmsNormWeightGrad:
  case OpKind::LayerNormGrad:
  case OpKind::LayerNormWeightGrad:
  case OpKind::SoftmaxGrad:
  case OpKind::SiluGrad:
  case OpKind::GeluGrad:
  case OpKind::ReluGrad:
  case OpKind::SquaredReluGrad:
  case OpKind::DropoutGrad:
  case OpKind::ReduceSum:
  case OpKind::CrossEntropyGrad:
  case OpKind::UserGrad:
    break;
  }
  return fail(ErrorKind::Count, 0,
              fmt::format("`{}` is not an operator of the forward",
                          toString(request_.kind)));
}

} // namespace

Inferred inferShapes(const InferRequest &request, DimTable &dims) {
  return Inference(request, dims).run();
}

} // namespace planc::ops
