// Shapes of split and concat: one dimension cut into several, several joined.
#include "compiler/ops/Inference.h"

#include <fmt/format.h>

#include <algorithm>

namespace planc::ops {
namespace {

/// The dimension `along` of the operand is read whole, all others are mapped.
OperandUse mapBut(const Dims &dims, DimId along) {
  OperandUse use = mapAll(dims);
  for (DimUse &each : use.dims)
    if (each.dim == along)
      each = gathered(along);
  return use;
}

} // namespace

Inferred Inference::split() const {
  if (auto error = expectCount(1, 1))
    return *error;
  const Dims &x = dimsOf(0);
  const DimId along = request_.along;
  if (!contains(x, along))
    return fail(ErrorKind::Missing, 0,
                fmt::format("{} has no `{}` to split", list(x), nameOf(along)));
  if (request_.parts.size() < 2)
    return fail(ErrorKind::Count, 0, "a split has two parts or more");
  std::int64_t sum = 0;
  Inferred out;
  for (std::size_t i = 0; i < request_.parts.size(); ++i) {
    const DimId part = request_.parts[i];
    ResultRule rule;
    for (DimId dim : x)
      rule.dims.push_back(dim == along ? part : dim);
    if (part != along && contains(x, part))
      return fail(ErrorKind::Repeated, 0,
                  fmt::format("the result {} would hold `{}` twice",
                              list(rule.dims), nameOf(part)));
    rule.operands = {mapBut(x, along)};
    out.offsets.push_back(sum);
    sum += dims_[part].size;
    out.results.push_back({std::to_string(i + 1), ValueKind::Activation,
                           Precision::Bf16, false, std::move(rule)});
  }
  if (sum != dims_[along].size)
    return fail(ErrorKind::Mismatch, 0,
                fmt::format("parts of {} {} together; `{}` is {}",
                            list(request_.parts), sum, nameOf(along),
                            dims_[along].size));
  return out;
}

/// The last dimension of each operand becomes a part of `along`; of the others
/// the result has all, and an operand that lacks one is broadcast.
Inferred Inference::concat() const {
  if (auto error = expectCount(2, 1'000'000))
    return *error;
  std::size_t widest = 0;
  std::int64_t sum = 0;
  std::vector<std::int64_t> offsets;
  for (std::size_t i = 0; i < request_.operands.size(); ++i) {
    if (dimsOf(i).empty())
      return fail(ErrorKind::Missing, i, "found no dimension to join");
    if (dimsOf(i).size() > dimsOf(widest).size())
      widest = i;
    offsets.push_back(sum);
    sum += dims_[dimsOf(i).back()].size;
  }
  if (sum != dims_[request_.along].size)
    return fail(ErrorKind::Mismatch, 0,
                fmt::format("the last dimensions are {} together; `{}` is {}",
                            sum, nameOf(request_.along),
                            dims_[request_.along].size));
  ResultRule rule;
  rule.dims.assign(dimsOf(widest).begin(), dimsOf(widest).end() - 1);
  for (const OperandShape &operand : request_.operands)
    for (std::size_t d = 0; d + 1 < operand.dims.size(); ++d)
      if (!contains(rule.dims, operand.dims[d]))
        rule.dims.push_back(operand.dims[d]);
  for (std::size_t i = 0; i < request_.operands.size(); ++i)
    if (DimId last = dimsOf(i).back(); contains(rule.dims, last))
      return fail(ErrorKind::Repeated, i,
                  fmt::format("`{}` is joined and stands in {} as well",
                              nameOf(last), list(rule.dims)));
  if (contains(rule.dims, request_.along))
    return fail(ErrorKind::Repeated, 0,
                fmt::format("the result would hold `{}` twice",
                            nameOf(request_.along)));
  rule.dims.push_back(request_.along);
  for (const OperandShape &operand : request_.operands)
    rule.operands.push_back(mapBut(operand.dims, operand.dims.back()));
  Inferred out = give(std::move(rule));
  out.offsets = std::move(offsets);
  return out;
}

} // namespace planc::ops
