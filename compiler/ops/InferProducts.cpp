#include "compiler/ops/Inference.h"

#include <fmt/format.h>

#include <algorithm>

namespace planc::ops {

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
  if (request_.operands.size() > 3 && dimsOf(3) != Dims{q[2]})
    return fail(ErrorKind::Mismatch, 3,
                fmt::format("found {} where a sink has one logit a head, [{}]",
                            list(dimsOf(3)), nameOf(q[2])));
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
  if (request_.operands.size() > 3)
    rule.operands.push_back(mapAll(dimsOf(3)));
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

/// q, k, v; a fourth operand is a sink: a logit a head that takes part in the
/// softmax and has no value.
Inferred Inference::attention() {
  if (auto error = expectCount(3, 4))
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

} // namespace planc::ops
